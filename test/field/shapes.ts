/**
 * Answers of providers and servers that are not as their format is defined, each from a public report. The texts are ours.
 * Used by the tests of this folder: a client of any format must read the same.
 */
type Json = Record<string, unknown>;

export type ShapeWire = 'chat' | 'responses' | 'messages';

/** What a client must read. */
export interface Read {
  text?: string;
  reasoning?: string;
  /** The arguments of the calls of `get_weather`. */
  calls?: Json[];
  finish: 'stop' | 'tool_calls' | 'length' | 'content_filter';
  input?: number;
  output?: number;
  cached?: number;
  /** In dollars, at the prices of `prices`. */
  cost?: string;
}

export interface Shape {
  kind: string;
  name: string;
  /** owner/repo#number */
  cite: string;
  wire: ShapeWire;
  /** The stream, and the answer to a call that is not streamed. */
  stream: string;
  whole: Json;
  /** The error that a client must get instead. */
  fails?: RegExp;
  status?: number;
  read?: Read;
  /** Where the two differ. */
  readsWhole?: Read;
  /** The content type of the stream. */
  type?: string;
}

/** Dollars per million tokens. */
export const prices = { input: '1', output: '2', cached_input: '0.1' };

export const text = 'It rains, and the wind is strong.';
const thought = 'Which town is it?';
export const args = { city: 'Tórshavn', days: 3 };
const json = JSON.stringify(args);
const half = 9;
const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };
const answer: Read = { text, finish: 'stop', input: 12, output: 7 };
const calling: Read = { calls: [args], finish: 'tool_calls', input: 12, output: 7 };

// ---- the formats ----

function sse(events: readonly (Json | string)[], end: string): string {
  const lines = events.map((event) => {
    if (typeof event === 'string') return event;
    const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  return lines.join('') + end;
}

const done = 'data: [DONE]\n\n';

function pieces(whole: string): string[] {
  return whole.match(/.{1,7}/gsu) ?? [];
}

const chunk = (members: Json): Json => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  ...members,
});
const delta = (each: Json, finish: string | null = null, more: Json = {}): Json =>
  chunk({ choices: [{ index: 0, delta: each, finish_reason: finish, ...more }] });
const words = [
  delta({ role: 'assistant', content: '' }),
  ...pieces(text).map((content) => delta({ content })),
];
const end = (finish: string, more: Json = {}) => delta({}, finish, more);
const used = (counts: Json = usage) => chunk({ choices: [], usage: counts });
const saying = [...words, end('stop'), used()];
const called = (more: Json = {}): Json => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: json },
  ...more,
});
const withArguments = (value: unknown) => called({ function: { name: 'get_weather', arguments: value } });
const callPieces = (...tool_calls: Json[]) => delta({ tool_calls });
const completion = (message: Json, finish: string | null = 'stop', more: Json = {}): Json => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
  usage,
  ...more,
});

function chat(
  kind: string,
  name: string,
  cite: string,
  events: readonly (Json | string)[],
  whole: Json,
  wanted: Partial<Shape>,
): Shape {
  return { kind, name, cite, wire: 'chat', stream: sse(events, done), whole, ...wanted };
}

const responseUsage = { input_tokens: 12, output_tokens: 7, total_tokens: 19 };
const response = (output: Json[], more: Json = {}): Json => ({
  id: 'r',
  object: 'response',
  created_at: 1,
  status: 'completed',
  error: null,
  incomplete_details: null,
  model: 'm',
  output,
  usage: responseUsage,
  ...more,
});
const part = (shown: string) => ({ type: 'output_text', text: shown, annotations: [], logprobs: [] });
const message = (more: Json = {}): Json => ({
  type: 'message',
  id: 'msg_1',
  status: 'completed',
  role: 'assistant',
  content: [part(text)],
  ...more,
});
const functionCall = (more: Json = {}): Json => ({
  type: 'function_call',
  id: 'fc_1',
  status: 'completed',
  call_id: 'call_1',
  name: 'get_weather',
  arguments: json,
  ...more,
});
const created = { type: 'response.created', response: response([], { status: 'in_progress', usage: null }) };
const ofText = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const textEvents: Json[] = [
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: message({ status: 'in_progress', content: [] }),
  },
  { type: 'response.content_part.added', ...ofText, part: part('') },
  ...pieces(text).map((each) => ({
    type: 'response.output_text.delta',
    ...ofText,
    delta: each,
    logprobs: [],
  })),
  { type: 'response.output_text.done', ...ofText, text, logprobs: [] },
  { type: 'response.content_part.done', ...ofText, part: part(text) },
  { type: 'response.output_item.done', output_index: 0, item: message() },
];
const ofCall = { item_id: 'fc_1', output_index: 0 };
function callEvents(started: unknown, deltas: readonly unknown[], ended: unknown, item: unknown): Json[] {
  return [
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: functionCall({ status: 'in_progress', arguments: started }),
    },
    ...deltas.map((each) => ({ type: 'response.function_call_arguments.delta', ...ofCall, delta: each })),
    { type: 'response.function_call_arguments.done', ...ofCall, arguments: ended },
    { type: 'response.output_item.done', output_index: 0, item: functionCall({ arguments: item }) },
  ];
}
const thoughtItem: Json = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [],
  content: [{ type: 'reasoning_text', text: thought }],
};
const over = (output: Json[], more: Json = {}, type = 'response.completed') => ({
  type,
  response: response(output, more),
});

function responses(
  kind: string,
  name: string,
  cite: string,
  events: readonly (Json | string)[],
  whole: Json,
  wanted: Partial<Shape>,
): Shape {
  const numbered = events.map((event, at) =>
    typeof event === 'string' ? event : { sequence_number: at, ...event },
  );
  return { kind, name, cite, wire: 'responses', stream: sse(numbered, done), whole, ...wanted };
}

const counts = {
  input_tokens: 12,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 1,
};
const start = (given: Json = counts): Json => ({
  type: 'message_start',
  message: {
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: given,
  },
});
const opens = (content_block: Json, index = 0) => ({ type: 'content_block_start', index, content_block });
const adds = (each: Json, index = 0) => ({ type: 'content_block_delta', index, delta: each });
const closes = (index = 0) => ({ type: 'content_block_stop', index });
const textBlock = [
  opens({ type: 'text', text: '' }),
  ...pieces(text).map((each) => adds({ type: 'text_delta', text: each })),
  closes(),
];
const tool = (input: unknown = {}): Json => ({ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input });
const toolBlock = (deltas: readonly unknown[], input: unknown = {}) => [
  opens(tool(input)),
  ...deltas.map((partial_json) => adds({ type: 'input_json_delta', partial_json })),
  closes(),
];
const stops = (stop_reason: string | null, given: Json = { output_tokens: 7 }) => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: given },
  { type: 'message_stop' },
];
const wholeMessage = (content: Json[], stop_reason: string | null, more: Json = {}): Json => ({
  id: 'msg',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason,
  stop_sequence: null,
  usage: { ...counts, output_tokens: 7 },
  ...more,
});

function messages(
  kind: string,
  name: string,
  cite: string,
  events: readonly (Json | string)[],
  whole: Json,
  wanted: Partial<Shape>,
): Shape {
  return { kind, name, cite, wire: 'messages', stream: sse(events, ''), whole, ...wanted };
}

// ---- the shapes ----

const saidBlock = { type: 'text', text };

/** The same word in all formats, after a text. */
function finishing(word: string, cite: string, wanted: Partial<Shape>): Shape[] {
  return [
    chat(
      'finish reasons',
      word,
      cite,
      [...words, end(word), used()],
      completion({ content: text }, word),
      wanted,
    ),
    messages(
      'finish reasons',
      word,
      cite,
      [start(), ...textBlock, ...stops(word)],
      wholeMessage([saidBlock], word),
      wanted,
    ),
  ];
}

/** The same word without a text. */
function emptyWith(word: string, cite: string, wanted: Partial<Shape>): Shape[] {
  return [
    chat(
      'empty answers',
      word,
      cite,
      [delta({ role: 'assistant' }, word), used()],
      completion({}, word),
      wanted,
    ),
    messages('empty answers', word, cite, [start(), ...stops(word)], wholeMessage([], word), wanted),
  ];
}

const cut: Partial<Shape> = { read: { ...answer, finish: 'length' } };
const filtered: Partial<Shape> = { read: { ...answer, finish: 'content_filter' } };

const finishReasons: Shape[] = [
  ...finishing('MAX_TOKENS', 'QwenLM/qwen-code#9884', cut),
  ...finishing('model_context_window_exceeded', 'mozilla-ai/any-llm#1200', cut),
  ...finishing('max_tokens', 'UKGovernmentBEIS/inspect_ai#5143', cut),
  ...finishing('repetition', 'BerriAI/litellm#27101', cut),
  ...finishing('content_filter: RECITATION', 'open-learning-exchange/planet#10281', filtered),
  ...finishing('sensitive', 'mozilla-ai/any-llm#1204', filtered),
  ...finishing('SAFETY', 'agentjido/req_llm#935', filtered),
  ...finishing('refusal', 'UKGovernmentBEIS/inspect_ai#4209', filtered),
  ...finishing('STOP', 'QwenLM/qwen-code#9882', { read: answer }),
  ...finishing('a_new_word', 'vercel/ai#2665', { read: answer }),
  ...finishing('network_error', 'earendil-works/pi#2313', { fails: /network_error/ }),
  ...finishing('error', 'nodetool-ai/nodetool#5755', { fails: /error/ }),
  ...finishing('abort', 'vllm-project/vllm#57082', { fails: /abort/ }),
  ...finishing('function_call_filter: MALFORMED_FUNCTION_CALL', 'NousResearch/hermes-agent#83886', {
    fails: /MALFORMED_FUNCTION_CALL/,
  }),
  ...emptyWith('MALFORMED_FUNCTION_CALL', 'Wei-Shaw/sub2api#7081', { fails: /MALFORMED_FUNCTION_CALL/ }),
  ...emptyWith('a_new_word', 'agentjido/req_llm#935', { fails: /a_new_word/ }),
  ...emptyWith('tool_use', 'earendil-works/pi#9681', { fails: /tool_use/ }),
  ...emptyWith('stop', 'googleapis/python-genai#1789', { read: { text: '', finish: 'stop' } }),
  chat(
    'finish reasons',
    'of a prompt that was refused',
    'vercel/ai#6738',
    [delta({ role: 'assistant' }, 'content_filter: PROHIBITED_CONTENT'), used()],
    { ...completion({}), choices: [{ index: 0, finish_reason: 'content_filter: PROHIBITED_CONTENT' }] },
    { read: { text: '', finish: 'content_filter' } },
  ),
  chat(
    'finish reasons',
    'null',
    'vllm-project/vllm#27572',
    [...words, used()],
    completion({ content: text }, null),
    { fails: /ended its stream|early/, readsWhole: answer },
  ),
  chat(
    'finish reasons',
    'twice',
    'skye-harris/hass_local_openai_llm#92',
    [...words, end('stop'), { ...end('stop'), usage }],
    completion({ content: text }),
    { read: answer },
  ),
  chat(
    'finish reasons',
    'of calls that are none',
    'earendil-works/pi#2120',
    [...words, end('tool_calls'), used()],
    completion({ content: text }, 'tool_calls'),
    { read: answer },
  ),
  messages(
    'finish reasons',
    'a refusal that is explained, after a text',
    'UKGovernmentBEIS/inspect_ai#4209',
    [
      start(),
      ...textBlock,
      {
        type: 'message_delta',
        delta: {
          stop_reason: 'refusal',
          stop_details: { type: 'refusal', explanation: 'This was declined.' },
        },
        usage: { output_tokens: 7 },
      },
      { type: 'message_stop' },
    ],
    wholeMessage([saidBlock], 'refusal', {
      stop_details: { type: 'refusal', explanation: 'This was declined.' },
    }),
    filtered,
  ),
  messages(
    'finish reasons',
    'end_turn after a call',
    'maximhq/bifrost#3638',
    [start(), ...toolBlock(pieces(json)), ...stops('end_turn')],
    wholeMessage([tool(args)], 'end_turn'),
    { read: calling },
  ),
  messages(
    'finish reasons',
    'null',
    'esengine/DeepSeek-Reasonix#8756',
    [start(), ...textBlock, ...stops(null)],
    wholeMessage([saidBlock], null),
    { read: answer },
  ),
  responses(
    'finish reasons',
    'incomplete, for a reason of its own',
    'Arthur-Ficial/apfel#412',
    [
      created,
      ...textEvents,
      over([message()], { status: 'incomplete', incomplete_details: { reason: 'length' } }),
    ],
    response([message()], { status: 'incomplete', incomplete_details: { reason: 'length' } }),
    cut,
  ),
  responses(
    'finish reasons',
    'no status',
    'can1357/oh-my-pi#4692',
    [created, ...textEvents, over([message()], { status: undefined }, 'response.done')],
    response([message()], { status: undefined }),
    { read: answer },
  ),
];

const choiceError = { code: 502, message: 'The host went away' };

const errors: Shape[] = [
  chat(
    'errors',
    'in a choice',
    'nodetool-ai/nodetool#5755',
    [...words, delta({ content: '' }, 'error', { error: choiceError })],
    {
      ...completion({}),
      choices: [{ index: 0, message: { role: 'assistant', content: '' }, error: choiceError }],
    },
    { fails: /went away/ },
  ),
  chat(
    'errors',
    'base_resp: too many calls',
    'ENTERPILOT/GoModel#1068',
    [{ id: 'x', choices: null, base_resp: { status_code: 1002, status_msg: 'too many calls' } }],
    { id: 'x', choices: null, base_resp: { status_code: 1002, status_msg: 'too many calls' } },
    { fails: /rate limited|too many calls/, status: 429 },
  ),
  ...(
    [
      // Those about the account keep it from being asked again.
      [1004, undefined],
      [1008, undefined],
      [1026, 400],
      [2013, 400],
      [2049, undefined],
      [2056, 429],
    ] as const
  ).map(([code, status]) =>
    chat(
      'errors',
      `base_resp ${code}`,
      'maximhq/bifrost#5963',
      [{ base_resp: { status_code: code, status_msg: 'not now' } }],
      { base_resp: { status_code: code, status_msg: 'not now' } },
      { fails: /./, ...(status !== undefined && { status }) },
    ),
  ),
  chat(
    'errors',
    'with a number as the code',
    'nodetool-ai/nodetool#5755',
    [{ error: { code: 503, message: 'All seats are taken' } }],
    { error: { code: 503, message: 'All seats are taken' } },
    { fails: /All seats are taken/ },
  ),
  messages(
    'errors',
    'in a shape of their own',
    'maximhq/bifrost#5963',
    [{ code: 500, msg: 'Nothing is here', success: false }],
    { code: 500, msg: 'Nothing is here', success: false },
    { fails: /Nothing is here/ },
  ),
];

/** An error in a shape of its vendor's. */
function vendor(name: string, cite: string, error: Json, fails: RegExp): Shape {
  return chat('errors', name, cite, [error], error, { fails });
}

const vendorErrors: Shape[] = [
  vendor(
    'in a list',
    'maximhq/bifrost#5963',
    { success: false, errors: [{ code: 7003, message: 'No such account' }], result: null },
    /No such account|failed/,
  ),
  vendor(
    'with names of their own',
    'maximhq/bifrost#5963',
    { error_code: 336003, error_msg: 'The first message must be from a user' },
    /first message|failed/,
  ),
  vendor(
    'with a type and a message of their own',
    'NousResearch/hermes-agent#65643',
    { choices: null, error_type: 'BadRequestError', error_message: 'A maximum context length of 9 tokens' },
    /maximum context length/,
  ),
  vendor(
    'with the status in another member',
    'langchain4j/langchain4j#2585',
    {
      error: {
        message: 'No tool has this name',
        type: 'invalid_request_error',
        code: 'tool_use_failed',
        status_code: 400,
      },
    },
    /No tool has this name/,
  ),
  vendor(
    'of the server behind a router',
    'cline/cline#12800',
    {
      error: {
        message: 'Stream error occurred',
        code: 502,
        value: { error_message: '{"error":{"message":"All seats are taken"}}' },
      },
    },
    /All seats are taken/,
  ),
  vendor(
    'in OpenRouter’s',
    'zed-industries/zed#64424',
    {
      error: {
        message: 'Provider returned error',
        code: 502,
        metadata: { raw: '{"error":{"message":"All seats are taken"}}' },
      },
      choices: [],
    },
    /All seats are taken/,
  ),
  chat(
    'errors',
    'that are empty',
    'Oaklight/llm-rosetta#454',
    saying.map((event) => ({ ...event, error: {} })),
    completion({ content: text }, 'stop', { error: {} }),
    { read: answer },
  ),
  chat(
    'errors',
    'with a code of success',
    'maximhq/bifrost#5963',
    saying.map((event) => ({ ...event, code: 0, message: 'Success' })),
    completion({ content: text }, 'stop', { code: 0, message: 'Success' }),
    { read: answer },
  ),
  vendor(
    'with a code in words',
    'maximhq/bifrost#5963',
    { code: 'Throttling.RateQuota', message: 'Slower, please', request_id: 'r' },
    /rate limited|Slower/,
  ),
];

const snapshots: Shape[] = [
  chat(
    'snapshots',
    'the whole message at the end',
    'abundantbeing/hermes-browser-extension#11',
    [...words, chunk({ choices: [{ index: 0, finish_reason: 'stop', message: { content: text } }], usage })],
    completion({ content: text }),
    { read: answer },
  ),
  chat(
    'snapshots',
    'the whole message at the end, and more of it',
    'openclaw/openclaw#63894',
    [
      ...words.slice(0, 3),
      chunk({ choices: [{ index: 0, finish_reason: 'stop', message: { content: text } }], usage }),
    ],
    completion({ content: text }),
    { read: answer },
  ),
  chat(
    'snapshots',
    'the whole text in the last delta',
    'go-kratos/blades#189',
    [...words, delta({ content: text }, 'stop'), used()],
    completion({ content: text }),
    { read: answer },
  ),
  chat(
    'snapshots',
    'thoughts and text at the end',
    'ENTERPILOT/GoModel#1068',
    [
      delta({ role: 'assistant', reasoning_content: thought }),
      ...words.slice(1),
      chunk({
        choices: [
          { index: 0, finish_reason: 'stop', message: { content: text, reasoning_content: thought } },
        ],
        usage,
      }),
    ],
    completion({ content: text, reasoning_content: thought }),
    { read: { ...answer, reasoning: thought } },
  ),
  chat(
    'snapshots',
    'the text so far beside each delta',
    'langchain-ai/langchain#38070',
    [
      ...pieces(text).map((content, at, all) =>
        chunk({
          choices: [
            {
              index: 0,
              delta: { content },
              message: { content: all.slice(0, at + 1).join('') },
              finish_reason: null,
            },
          ],
        }),
      ),
      { ...end('stop'), usage },
    ],
    completion({ content: text }),
    { read: answer },
  ),
  chat(
    'snapshots',
    'messages in place of deltas',
    'swuecho/chat#687',
    [
      ...pieces(text).map((_piece, at, all) =>
        chunk({
          choices: [{ index: 0, message: { content: all.slice(0, at + 1).join('') }, finish_reason: null }],
        }),
      ),
      { ...end('stop'), usage },
    ],
    completion({ content: text }),
    { read: answer },
  ),
  chat(
    'snapshots',
    'the text so far in each delta',
    'tashfeenahmed/freellmapi#1007',
    [
      delta({ content: text.slice(0, 20) }),
      delta({ content: text.slice(0, 26) }),
      delta({ content: text }),
      end('stop'),
      used(),
    ],
    completion({ content: text }),
    { read: answer },
  ),
  chat(
    'snapshots',
    'a text that starts with itself is none',
    'posit-dev/chatlas#435',
    [delta({ content: 'No ' }), delta({ content: 'No ' }), delta({ content: 'No ' }), end('stop'), used()],
    completion({ content: 'No No No ' }),
    { read: { ...answer, text: 'No No No ' } },
  ),
  chat(
    'snapshots',
    'the call in the message at the end',
    'ENTERPILOT/GoModel#1068',
    [
      callPieces({ index: 0, ...called() }),
      chunk({
        choices: [
          { index: 0, finish_reason: 'tool_calls', message: { content: null, tool_calls: [called()] } },
        ],
        usage,
      }),
    ],
    completion({ content: null, tool_calls: [called()] }, 'tool_calls'),
    { read: calling },
  ),
  messages(
    'snapshots',
    'text in the start of its block',
    'cline/cline#9215',
    [start(), opens({ type: 'text', text: pieces(text)[0] }), ...textBlock.slice(1), ...stops('end_turn')],
    wholeMessage([saidBlock], 'end_turn'),
    { read: answer },
  ),
  messages(
    'snapshots',
    'the first text only in the start of its block',
    'ollama/ollama#17101',
    [start(), opens({ type: 'text', text: pieces(text)[0] }), ...textBlock.slice(2), ...stops('end_turn')],
    wholeMessage([saidBlock], 'end_turn'),
    { read: answer },
  ),
];

const wholeCalls = completion({ content: null, tool_calls: [called()] }, 'tool_calls');
const first = (text_: unknown, more: Json = {}) => callPieces({ index: 0, ...withArguments(text_), ...more });
const next = (text_: unknown, more: Json = {}) =>
  callPieces({ index: 0, function: { arguments: text_ }, ...more });
const named = (text_: string, id: string) =>
  callPieces({ index: 0, id, type: 'function', function: { name: 'get_weather', arguments: text_ } });

/** The pieces of one call over the chat format. */
function inPieces(
  name: string,
  cite: string,
  events: Json[],
  wanted: Partial<Shape> = { read: calling },
): Shape {
  return chat('calls in pieces', name, cite, [...events, end('tool_calls'), used()], wholeCalls, wanted);
}

const callsInPieces: Shape[] = [
  inPieces('the call twice', 'BerriAI/litellm#20480', [
    first(json.slice(0, half)),
    next(json.slice(half)),
    first(json),
  ]),
  inPieces('the arguments twice', 'lidge-jun/opencodex#361', [first(''), next(json), next(json)]),
  inPieces('the arguments twice, in pieces', 'anomalyco/opencode#17339', [
    first(''),
    ...pieces(json).map((each) => next(each)),
    ...pieces(json).map((each) => next(each)),
  ]),
  inPieces('the arguments so far with each piece', 'NousResearch/hermes-agent#35718', [
    first('{"ci'),
    next(json.slice(0, half + 6)),
    next(json),
  ]),
  inPieces('the arguments twice in one piece', 'mudler/cogito#66', [first(''), next(json + json)]),
  inPieces('an empty object first', 'weave-os/router#1075', [
    first('{}'),
    ...pieces(json).map((each) => next(each)),
  ]),
  inPieces(
    'an empty object within a text',
    'mcowger/plexus#759',
    [first('{"city":"a '), next('{}'), next(' b"}')],
    { read: { ...calling, calls: [{ city: 'a {} b' }] } },
  ),
  inPieces('an id that changes', 'mistralai/mistral-vibe#1127', [
    named('', 'chatcmpl-tool-1'),
    ...pieces(json).map((each) => named(each, 'toolcall0')),
  ]),
  inPieces('an id that becomes “null”', 'langchain-ai/langchainjs#11505', [
    first(json.slice(0, half)),
    next(json.slice(half), { id: 'null' }),
  ]),
  inPieces('the name in every piece', 'SillyTavern/SillyTavern#5948', [
    first(''),
    ...pieces(json).map((each) => first(each)),
  ]),
  inPieces('a call that is no list, and flat', 'acon96/home-llm#348', [
    delta({ tool_calls: { index: 0, id: 'call_1', name: 'get_weather', arguments: json } }),
  ]),
  inPieces('an index as text', 'LibreChat-AI/agents#260', [
    first(json.slice(0, half), { index: '0' }),
    next(json.slice(half), { index: '0' }),
  ]),
  inPieces('no index', 'ollama/ollama#7881', [
    first(json.slice(0, half), { index: undefined }),
    next(json.slice(half), { index: undefined }),
  ]),
  inPieces('a piece of nothing at -1', 'BerriAI/litellm#15884', [
    callPieces({ index: -1, type: 'function', function: { arguments: '' } }),
    first(json),
  ]),
  inPieces(
    'two calls at one index',
    'oracle/langchain-oracle#108',
    [named(json, 'call_1'), named('{"city":"Klaksvík"}', 'call_2')],
    { read: { ...calling, calls: [args, { city: 'Klaksvík' }] } },
  ),
  inPieces(
    'two calls of which the other one starts at the index of the first and goes on at its own',
    'agno-agi/agno#8879',
    [
      named(json, 'call_1'),
      named('{"city":"Kla', 'call_2'),
      callPieces({ index: 1, function: { arguments: 'ksv' } }),
      callPieces({ index: 1, function: { arguments: 'ík"}' } }),
    ],
    { read: { ...calling, calls: [args, { city: 'Klaksvík' }] } },
  ),
  inPieces(
    'no name',
    'lmstudio-ai/lmstudio-bug-tracker#830',
    [callPieces({ index: 0, id: '', type: 'function' })],
    { fails: /tool_calls/, readsWhole: calling },
  ),
];
// The documents of these are other cases.
for (const shape of callsInPieces) shape.readsWhole ??= calling;

/** The same arguments over all formats. */
function argumentsAs(name: string, cite: string, value: unknown, wanted: Partial<Shape>): Shape[] {
  const kind = 'arguments';
  return [
    chat(
      kind,
      name,
      cite,
      [first(value), end('tool_calls'), used()],
      completion({ content: null, tool_calls: [withArguments(value)] }, 'tool_calls'),
      wanted,
    ),
    responses(
      kind,
      name,
      cite,
      [
        created,
        ...callEvents('', typeof value === 'string' ? [value] : [], value, value),
        over([functionCall({ arguments: value })]),
      ],
      response([functionCall({ arguments: value })]),
      wanted,
    ),
    messages(
      kind,
      name,
      cite,
      [start(), ...toolBlock([value]), ...stops('tool_use')],
      wholeMessage([tool(value)], 'tool_use'),
      wanted,
    ),
  ];
}

const other = { city: 'Klaksvík' };
const otherJson = JSON.stringify(other);

/** The arguments of one call over the chat format, in these pieces. */
function objectsIn(name: string, cite: string, texts: string[], calls: Json[] | undefined): Shape {
  const [text_ = '', ...others] = texts;
  return chat(
    'arguments',
    name,
    cite,
    [first(text_), ...others.map((each) => next(each)), end('tool_calls'), used()],
    completion({ content: null, tool_calls: [withArguments(texts.join(''))] }, 'tool_calls'),
    calls ? { read: { ...calling, calls } } : { fails: /get_weather/ },
  );
}

const none: Partial<Shape> = { read: { ...calling, calls: [{}] } };

const argumentClothes: Shape[] = [
  ...argumentsAs('an object', 'NousResearch/hermes-agent#1087', args, { read: calling }),
  ...argumentsAs('text', 'openclaw/openclaw#40425', json, { read: calling }),
  ...argumentsAs('text of text', 'tailcallhq/forgecode#2764', JSON.stringify(json), { read: calling }),
  ...argumentsAs('twice in one text', 'NousResearch/hermes-agent#26053', json + json, { read: calling }),
  ...argumentsAs('a brace too many', 'vllm-project/vllm-ascend#16001', `${json}}`, { read: calling }),
  ...argumentsAs('null as text', 'ollama/ollama#12413', 'null', none),
  ...argumentsAs('null', 'quarkiverse/quarkus-langchain4j#2642', null, none),
  ...argumentsAs('blank', 'huggingface/smolagents#1003', ' ', none),
  ...argumentsAs('an empty list', 'prism-php/prism#847', [], none),
  ...argumentsAs('a text that is no JSON', 'hud-evals/hud-python#480', '{"city": Tórshavn', {
    fails: /get_weather/,
  }),
  // Calls whose server lost the index, which only the chat format has.
  ...argumentsAs('two objects', 'NousResearch/hermes-agent#62937', json + otherJson, {
    fails: /get_weather/,
  }).filter(({ wire }) => wire !== 'chat'),
  objectsIn('two objects', 'NousResearch/hermes-agent#62937', [json + otherJson], [args, other]),
  objectsIn(
    'two objects, in pieces',
    'unslothai/unsloth#10059',
    [json.slice(0, half), `${json.slice(half)} \n${otherJson.slice(0, half)}`, otherJson.slice(half)],
    [args, other],
  ),
  objectsIn('two objects, each in a piece', 'huggingface/smolagents#1958', [json, otherJson], [args, other]),
  objectsIn(
    'three objects, of which two are the same',
    'diegosouzapw/OmniRoute#11043',
    [json + otherJson, json],
    [args, other],
  ),
  objectsIn(
    'objects with braces in their texts',
    'NousResearch/hermes-agent#26053',
    ['{"city":"}{\\""}', '{"city":"{}"}'],
    [{ city: '}{"' }, { city: '{}' }],
  ),
  objectsIn('an empty object, then the real one', 'weave-os/router#1075', [`{}${json}`], [args]),
  objectsIn('an object and a half', 'NousResearch/hermes-agent#72489', [json, '{"town":'], undefined),
  objectsIn('an object and something else', 'NousResearch/hermes-agent#72489', [json, '[]'], undefined),
  chat(
    'arguments',
    'two objects instead of their texts',
    'can1357/oh-my-pi#2082',
    [first({ city: 'Tórs' }), next({ city: 'havn' }), end('tool_calls'), used()],
    completion({ content: null, tool_calls: [withArguments('{"city":"Tórs"}[]')] }, 'tool_calls'),
    { fails: /get_weather/ },
  ),
  ...argumentsAs('a text', 'anthropics/claude-code#75945', '"Tórshavn"', { fails: /get_weather/ }),
  chat(
    'arguments',
    'cut at the limit',
    '14790897/MiqroForge-Desktop#1100',
    [first(json.slice(0, half)), end('length'), used()],
    completion({ content: null, tool_calls: [withArguments(json.slice(0, half))] }, 'length'),
    { read: { finish: 'length' } },
  ),
  chat(
    'arguments',
    'in a second choice',
    'HKUDS/nanobot#1481',
    [
      ...words,
      chunk({
        choices: [{ index: 1, delta: { tool_calls: [{ index: 0, ...called() }] }, finish_reason: null }],
      }),
      end('tool_calls'),
      used(),
    ],
    {
      ...completion({}),
      choices: [
        { finish_reason: 'tool_calls', message: { role: 'assistant', content: text } },
        { finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: [called()] } },
      ],
    },
    { read: { ...calling, text } },
  ),
  messages(
    'arguments',
    'whole in the start of the block',
    'ollama/ollama#17101',
    [start(), ...toolBlock([], args), ...stops('tool_use')],
    wholeMessage([tool(args)], 'tool_use'),
    { read: calling },
  ),
  messages(
    'arguments',
    'as text in the start of the block',
    'openclaw/openclaw#40425',
    [start(), ...toolBlock([], json), ...stops('tool_use')],
    wholeMessage([tool(json)], 'tool_use'),
    { read: calling },
  ),
  responses(
    'arguments',
    'an object first, and the real ones at the end',
    'BerriAI/litellm#20712',
    [created, ...callEvents({}, ['{}'], '{}', args), over([functionCall()])],
    response([functionCall({ arguments: args })]),
    { read: calling },
  ),
];

/** An answer whose usage is another. */
function counted(name: string, cite: string, given: Json, read: Partial<Read>): Shape {
  return chat(
    'usage',
    name,
    cite,
    [...words, end('stop'), used(given)],
    completion({ content: text }, 'stop', { usage: given }),
    { read: { ...answer, ...read } },
  );
}

const usages: Shape[] = [
  counted('thoughts in the total only', 'vercel/ai#6738', { ...usage, total_tokens: 119 }, { output: 107 }),
  counted(
    'cached tokens at the top',
    'AstrBotDevs/AstrBot#6614',
    { ...usage, cached_tokens: 5 },
    { cached: 5 },
  ),
  counted(
    'cached tokens by Anthropic’s name',
    'BerriAI/litellm#36933',
    { ...usage, cache_read_input_tokens: 5, cache_creation_input_tokens: 0 },
    { cached: 5, cost: '0.0000215' },
  ),
  counted(
    'cached tokens by the name of the Responses format',
    'BerriAI/litellm#35127',
    { ...usage, input_tokens_details: { cached_tokens: 5 } },
    { cached: 5 },
  ),
  counted(
    'texts',
    'theopenco/llmgateway#231',
    { prompt_tokens: '12', completion_tokens: '7', total_tokens: '19' },
    {},
  ),
  counted(
    'the names of another format',
    'decolua/9router#2209',
    { input_tokens: 12, output_tokens: 7 },
    { input: 12, output: 7 },
  ),
  counted('a cost', 'pydantic/genai-prices#239', { ...usage, cost: 0.00001 }, { cost: '0.00001' }),
  counted(
    'a cost of nothing, at configured prices',
    'LionSR/TeXRA#8528',
    { ...usage, cost: 0 },
    {
      cost: '0.000026',
    },
  ),
  counted(
    'a cost in ticks',
    'ENTERPILOT/GoModel#297',
    { ...usage, cost_in_usd_ticks: 150_000 },
    { cost: '0.000015' },
  ),
  counted(
    'a cost with its parts',
    'langchain-ai/langchain#39924',
    { ...usage, cost: { request_cost: 0, total_cost: 0.00002 } },
    { cost: '0.00002' },
  ),
  counted(
    'the fee for an own key there',
    'Helicone/helicone#5243',
    { ...usage, cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 0.00001 } },
    { cost: '0.00001' },
  ),
  counted(
    'a cost that is already the whole',
    'AutomatosAI/automatos-ai#745',
    { ...usage, cost: 0.00001, cost_details: { upstream_inference_cost: 0.00001 } },
    { cost: '0.00001' },
  ),
  counted('no cost', 'earendil-works/pi#2873', usage, { cost: '0.000026' }),
  chat(
    'usage',
    'in the choice',
    'kittors/CliRelay#522',
    [...words, end('stop', { usage: { ...usage, cached_tokens: 5 } })],
    completion({ content: text }, 'stop', { usage: { ...usage, cached_tokens: 5 } }),
    { read: { ...answer, cached: 5 } },
  ),
  chat(
    'usage',
    'zero at the end',
    'MiniMax-AI/MiniMax-M2.5#2',
    [...words, { ...end('stop'), usage }, used({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })],
    completion({ content: text }),
    { read: answer },
  ),
  messages(
    'usage',
    'zero at the end',
    'envoyproxy/ai-gateway#1631',
    [start(), ...textBlock, ...stops('end_turn', { input_tokens: 0, output_tokens: 7 })],
    wholeMessage([saidBlock], 'end_turn'),
    { read: answer },
  ),
  messages(
    'usage',
    'of compactions',
    'pydantic/pydantic-ai#5065',
    [
      start(),
      ...textBlock,
      ...stops('end_turn', {
        input_tokens: 12,
        output_tokens: 7,
        iterations: [
          { type: 'compaction', input_tokens: 200, output_tokens: 35 },
          { type: 'message', input_tokens: 12, output_tokens: 7 },
        ],
      }),
    ],
    wholeMessage([saidBlock], 'end_turn', {
      usage: {
        ...counts,
        output_tokens: 7,
        iterations: [
          { type: 'compaction', input_tokens: 200, output_tokens: 35 },
          { type: 'message', input_tokens: 12, output_tokens: 7 },
        ],
      },
    }),
    { read: { ...answer, input: 212, output: 42 } },
  ),
];

const streams: Shape[] = [
  chat(
    'streams',
    'labelled as JSON',
    'openclaw/openclaw#97773',
    [...words, end('stop'), used()],
    completion({ content: text }),
    { read: answer, type: 'application/json; charset=utf-8' },
  ),
  messages(
    'streams',
    'of which another answer is a part, after half a call',
    'vercel/ai#18331',
    [
      start(),
      ...toolBlock(pieces(json).slice(0, 2)).slice(0, -1),
      { ...start(), message: { ...(start().message as Json), id: 'another' } },
      ...toolBlock(pieces(json)),
      ...stops('tool_use'),
    ],
    wholeMessage([tool(args)], 'tool_use'),
    { fails: /ended its answer early/, readsWhole: calling },
  ),
  messages(
    'streams',
    'that start twice',
    'BerriAI/litellm#33859',
    [start(), start(), ...textBlock, ...stops('end_turn')],
    wholeMessage([saidBlock], 'end_turn'),
    { read: answer },
  ),
  responses(
    'streams',
    'of which another answer is a part, after half a text',
    'vybestack/llxprt-code#3049',
    [
      created,
      ...textEvents.slice(0, 4),
      { ...created, response: { ...created.response, id: 'another' } },
      ...textEvents,
      over([message()], { id: 'another' }),
    ],
    response([message()]),
    { fails: /ended its answer early/, readsWhole: answer },
  ),
  responses(
    'streams',
    'ended by response.done',
    'decolua/9router#2142',
    [created, ...textEvents, over([message()], {}, 'response.done')],
    response([message()]),
    { read: answer },
  ),
  responses(
    'streams',
    'ended without a response, though all items are done',
    'moeru-ai/airi#2593',
    [created, ...textEvents, { type: 'response.completed' }],
    response([message()]),
    { read: { text, finish: 'stop' } },
  ),
  responses(
    'streams',
    'ended with a status that was forgotten',
    'decolua/9router#1648',
    [created, ...textEvents, over([message()], { status: 'in_progress' })],
    response([message()]),
    { read: answer },
  ),
  responses(
    'streams',
    'with events of its own',
    'openai/openai-java#719',
    [
      created,
      { type: 'codex.rate_limits', rate_limits: {} },
      ...textEvents.slice(0, 3),
      { type: 'response.rate_limits.updated', rate_limits: [] },
      ...textEvents.slice(3),
      over([message()]),
    ],
    response([message()]),
    { read: answer },
  ),
  responses(
    'streams',
    'with no items at the end',
    'BerriAI/litellm#32724',
    [created, ...callEvents('', pieces(json), json, json), over([])],
    response([functionCall()]),
    { read: calling },
  ),
  messages(
    'streams',
    'whose blocks do not start',
    'BerriAI/litellm#30115',
    [
      start(),
      adds({ type: 'thinking_delta', thinking: thought }),
      closes(),
      ...pieces(text).map((each) => adds({ type: 'text_delta', text: each }, 1)),
      closes(1),
      ...stops('end_turn'),
    ],
    wholeMessage([{ type: 'thinking', thinking: thought }, saidBlock], 'end_turn'),
    { read: { ...answer, reasoning: thought } },
  ),
  messages(
    'streams',
    'unsigned thoughts before a call',
    'kekzl/imp#1555',
    [
      start(),
      opens({ type: 'thinking', thinking: '' }),
      adds({ type: 'thinking_delta', thinking: thought }),
      closes(),
      opens(tool(), 1),
      ...pieces(json).map((partial_json) => adds({ type: 'input_json_delta', partial_json }, 1)),
      closes(1),
      ...stops('tool_use'),
    ],
    wholeMessage([{ type: 'thinking', thinking: thought }, tool(args)], 'tool_use'),
    { read: calling },
  ),
];

/** A message of the Responses format as servers write it that convert answers of others: at its end only, or after its deltas. */
function messageAs(name: string, cite: string, more: Json): Shape[] {
  const item = { ...message(), ...more };
  return [
    responses('items', name, cite, [created, over([item])], response([item]), { read: answer }),
    responses(
      'items',
      `${name}, as an item`,
      cite,
      [created, { type: 'response.output_item.done', output_index: 0, item }, over([])],
      response([item]),
      { read: answer },
    ),
  ];
}

const items: Shape[] = [
  ...messageAs('a text for the parts', 'a sibling', { content: text }),
  ...messageAs('parts of the chat format', 'a sibling', { content: [{ type: 'text', text }] }),
  ...messageAs('a part without a text', 'BerriAI/litellm#31698', {
    content: [{ ...part(text), text: null }, part(text)],
  }),
  ...messageAs('no type', 'a sibling', { type: undefined }),
  responses(
    'items',
    'a text next to no items',
    'router-for-me/CLIProxyAPI#3064',
    [created, over([], { output_text: text })],
    response([], { output_text: text }),
    { read: answer },
  ),
];

const lines = (events: readonly Json[], between: string) =>
  events.map((event) => `data: ${JSON.stringify(event)}${between}`).join('');

/** A stream of the chat format in the bytes of its server. */
function sent(name: string, cite: string, stream: string, wanted: Partial<Shape> = { read: answer }): Shape {
  return { ...chat('streams', name, cite, [stream], completion({ content: text }), wanted), stream };
}

const framings: Shape[] = [
  sent('with one line end after each event', 'rexxars/eventsource-parser#31', lines(saying, '\n') + done),
  sent(
    'with the mark in the last event',
    'copilot-extensions/user-feedback#28',
    `${lines([...words, { ...end('stop'), usage }], '\n\n').trimEnd()}\n${done}`,
  ),
  sent(
    'with events of several lines',
    'SamSaffron/term-llm#454',
    [
      ...saying.map((event) => `${JSON.stringify(event, null, 1).replaceAll(/^/gm, 'data: ')}\n\n`),
      done,
    ].join(''),
  ),
  sent(
    'with pings that are no JSON',
    'lanqian528/chat2api#25',
    `event: ping\ndata: 2024-04-27 01:35\n\n${lines(saying, '\n\n')}${done}`,
  ),
  sent(
    'of lines of JSON',
    'sgomez/ollama-ai-provider#7',
    saying.map((event) => `${JSON.stringify(event)}\n`).join(''),
  ),
  sent('that is a whole answer', 'nyroway/nyro#182', JSON.stringify(completion({ content: text }))),
  sent(
    'that ends with an error without a field',
    'vercel/ai#5217',
    `${lines(words, '\n\n')}${JSON.stringify({ error: { code: 503, message: 'All seats are taken' } }, null, 2)}\n`,
    { fails: /All seats are taken/, readsWhole: answer },
  ),
];

/** The same text in other words of the chat format. */
function written(
  name: string,
  cite: string,
  events: readonly Json[],
  message_: Json,
  read: Partial<Read> = {},
): Shape {
  return chat('writings', name, cite, [...events, end('stop'), used()], completion(message_), {
    read: { ...answer, ...read },
  });
}

const reasonOf = (word: string | null) =>
  words.map((each) => ({ ...each, choices: [{ ...(each.choices as Json[])[0], finish_reason: word }] }));
const roleOf = (role: string | null) =>
  words.map((each) => {
    const [choice = {}] = each.choices as Json[];
    return { ...each, choices: [{ ...choice, delta: { ...(choice.delta as Json), role } }] };
  });
const sums = '[1] costs 0.5 or 7';

const writings: Shape[] = [
  written('a finish reason “null” in each chunk', 'PowerShell/AIShell#350', reasonOf('null'), {
    content: text,
  }),
  written('an empty finish reason in each chunk', 'sgl-project/sglang#3912', reasonOf(''), { content: text }),
  written('a role null in each chunk', 'mistralai/mistral-vibe#795', roleOf(null), { content: text }),
  written('another role', 'xpert-ai/xpert#861', roleOf('model'), { role: 'model', content: text }),
  written(
    'numbers in place of texts',
    'cloudflare/ai#651',
    ['[', 1, '] costs ', 0.5, ' or ', 7].map((content) => delta({ content })),
    { content: sums },
    { text: sums },
  ),
  written(
    'a number that is the text',
    'mastra-ai/mastra#18289',
    [delta({ content: 42 })],
    { content: 42 },
    { text: '42' },
  ),
  written(
    'thoughts in numbers',
    'cloudflare/ai#655',
    [delta({ reasoning_content: 7 }), ...words.slice(1)],
    { content: text, reasoning_content: 7 },
    { reasoning: '7' },
  ),
  written(
    'thoughts and text in lists',
    'databricks/appkit#559',
    [
      delta({ content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: thought }] }] }),
      ...pieces(text).map((each) => delta({ content: [{ type: 'text', text: each }] })),
    ],
    {
      content: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: thought }] },
        { type: 'text', text },
      ],
    },
    { reasoning: thought },
  ),
  written(
    'thoughts of Copilot',
    'anomalyco/opencode#8900',
    [
      delta({ reasoning_text: thought }),
      delta({ content: '', reasoning_opaque: 'b3BhcXVl' }),
      ...words.slice(1),
    ],
    { content: text, reasoning_text: thought, reasoning_opaque: 'b3BhcXVl' },
    { reasoning: thought },
  ),
  responses(
    'writings',
    'thoughts whose text is only in their item',
    'earendil-works/pi#4193',
    [
      created,
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'reasoning', id: 'rs_1', summary: [] },
      },
      {
        type: 'response.reasoning_text.done',
        item_id: 'rs_1',
        output_index: 0,
        content_index: 0,
        text: thought,
      },
      { type: 'response.output_item.done', output_index: 0, item: thoughtItem },
      ...textEvents.map((event) => ({ ...event, output_index: 1 })),
      over([thoughtItem, message()]),
    ],
    response([thoughtItem, message()]),
    { read: { ...answer, reasoning: thought } },
  ),
];

const leaked = 'get_weather<|channel|>commentary';

/** A call over all formats whose name has tokens of the model's own format. */
const leakedNames: Shape[] = [
  chat(
    'names',
    'with tokens of the model',
    'vllm-project/vllm#32587',
    [
      callPieces({ index: 0, ...called({ function: { name: leaked, arguments: '' } }) }),
      next(json),
      end('tool_calls'),
      used(),
    ],
    completion(
      { content: null, tool_calls: [called({ function: { name: leaked, arguments: json } })] },
      'tool_calls',
    ),
    { read: calling },
  ),
  responses(
    'names',
    'with tokens of the model',
    'vllm-project/vllm#32587',
    [
      created,
      ...callEvents('', pieces(json), json, json).map((event) =>
        event.item === undefined ? event : { ...event, item: { ...(event.item as Json), name: leaked } },
      ),
      over([functionCall({ name: leaked })]),
    ],
    response([functionCall({ name: leaked })]),
    { read: calling },
  ),
  messages(
    'names',
    'with tokens of the model',
    'ollama/ollama#12132',
    [
      start(),
      opens({ ...tool(), name: leaked }),
      adds({ type: 'input_json_delta', partial_json: json }),
      closes(),
      ...stops('tool_use'),
    ],
    wholeMessage([{ ...tool(args), name: leaked }], 'tool_use'),
    { read: calling },
  ),
];

export const shapes: readonly Shape[] = [
  ...finishReasons,
  ...errors,
  ...vendorErrors,
  ...snapshots,
  ...callsInPieces,
  ...argumentClothes,
  ...usages,
  ...streams,
  ...framings,
  ...writings,
  ...items,
  ...leakedNames,
];
