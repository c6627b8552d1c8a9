import { type Behaviour, stampDigits, type Wire } from './wires.ts';

/** A stream in HTTP chunks: one event per chunk, as providers send them. */
export interface StreamBytes {
  /** Headers and the events before the first token. */
  start: Buffer;
  /** One token; the digits at `stampAt` may be overwritten. */
  token: Buffer;
  stampAt: number;
  /** The events after the last token and the end of the body. */
  end: Buffer;
}

const jsonHead = (length: number) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_bench\r\ncontent-length: ${length}\r\n\r\n`;
const streamHead =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\n' +
  'x-request-id: req_bench\r\ntransfer-encoding: chunked\r\n\r\n';
const promptTokens = 50;
const noStamp = '0'.repeat(stampDigits);
const tokenText = `@${noStamp}@ a word or so`;

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const dataEvent = (data: object) => chunk(`data: ${JSON.stringify(data)}\n\n`);
const namedEvent = (data: { type: string }) =>
  chunk(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);

export function jsonBytes(wire: Wire, model: string, { tokens }: Behaviour): Buffer {
  const text = tokenText.repeat(tokens);
  const answer = answerOf[wire](model, text, tokens);
  const body = JSON.stringify(answer);
  return Buffer.from(jsonHead(Buffer.byteLength(body)) + body);
}

export function streamBytes(
  wire: Wire,
  model: string,
  { tokens }: Behaviour,
  { includesUsage }: { includesUsage: boolean },
): StreamBytes {
  const parts = streamOf[wire](model, tokens, { includesUsage });
  const token = Buffer.from(parts.token);
  return {
    start: Buffer.from(streamHead + parts.start),
    token,
    stampAt: token.indexOf(noStamp),
    end: Buffer.from(`${parts.end}0\r\n\r\n`),
  };
}

const answerOf = {
  chat: chatAnswer,
  responses: (model: string, text: string, tokens: number) => responseObject(model, { text, tokens }),
  messages: messageAnswer,
};
const streamOf = { chat: chatStream, responses: responseStream, messages: messageStream };

function messageAnswer(model: string, text: string, tokens: number) {
  return {
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model,
    content: text === '' ? [] : [{ type: 'text', text }],
    stop_reason: text === '' ? null : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: promptTokens, output_tokens: tokens },
  };
}

function messageStream(model: string, tokens: number) {
  const start = [
    { type: 'message_start', message: messageAnswer(model, '', 1) },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ];
  const end = [
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: tokens },
    },
    { type: 'message_stop' },
  ];
  const token = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: tokenText } };
  return {
    start: start.map(namedEvent).join(''),
    token: namedEvent(token),
    end: end.map(namedEvent).join(''),
  };
}

const chatUsage = (tokens: number) => ({
  prompt_tokens: promptTokens,
  completion_tokens: tokens,
  total_tokens: promptTokens + tokens,
});

function chatAnswer(model: string, content: string, tokens: number) {
  return {
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: chatUsage(tokens),
    system_fingerprint: 'fp_bench',
  };
}

function chatStream(model: string, tokens: number, { includesUsage }: { includesUsage: boolean }) {
  const common = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_700_000_000, model };
  const piece = (delta: object, finish_reason: string | null) =>
    dataEvent({ ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  const usage = includesUsage ? dataEvent({ ...common, choices: [], usage: chatUsage(tokens) }) : '';
  return {
    start: piece({ role: 'assistant', content: '' }, null),
    token: piece({ content: tokenText }, null),
    end: piece({}, 'stop') + usage + chunk('data: [DONE]\n\n'),
  };
}

function messageItem(text: string | undefined) {
  return {
    id: 'msg_bench',
    type: 'message',
    status: text === undefined ? 'in_progress' : 'completed',
    role: 'assistant',
    content: text === undefined ? [] : [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  };
}

function responseObject(model: string, done: { text: string; tokens: number } | undefined) {
  return {
    id: 'resp_bench',
    object: 'response',
    created_at: 1_700_000_000,
    status: done ? 'completed' : 'in_progress',
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model,
    output: done ? [messageItem(done.text)] : [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    metadata: {},
    usage: done
      ? {
          input_tokens: promptTokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: done.tokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: promptTokens + done.tokens,
        }
      : null,
  };
}

/** The order of events is that of the Responses API; the numbers after the deltas go on from theirs. */
function responseStream(model: string, tokens: number) {
  const place = { item_id: 'msg_bench', output_index: 0, content_index: 0 };
  const text = tokenText.repeat(tokens);
  const part = { type: 'output_text', text: '', annotations: [], logprobs: [] };
  const begun = responseObject(model, undefined);
  const numbered = (first: number, events: { type: string }[]) =>
    events.map(({ type, ...members }, index) =>
      namedEvent({ type, sequence_number: first + index, ...members } as { type: string }),
    );
  const start = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: messageItem(undefined) },
    { type: 'response.content_part.added', ...place, part },
  ];
  const end = [
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: { ...part, text } },
    { type: 'response.output_item.done', output_index: 0, item: messageItem(text) },
    { type: 'response.completed', response: responseObject(model, { text, tokens }) },
  ];
  return {
    start: numbered(0, start).join(''),
    token: numbered(start.length, [
      { type: 'response.output_text.delta', ...place, delta: tokenText, logprobs: [] } as { type: string },
    ]).join(''),
    end: numbered(start.length + tokens, end).join(''),
  };
}
