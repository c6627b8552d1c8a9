import { describe, expect, test } from 'vitest';
import { chat, type Json, refusing, responses, strictTool } from './refusing-upstream.ts';

/** What models refuse that can be asked for in another way. Sentences are shortened. */

describe('the form of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const asSchema = { type: 'json_schema', json_schema: { name: 'answer', schema } };
  const question = [{ role: 'user', content: 'Hello' }];
  const typeOf = ({ response_format: format, text }: Json) =>
    (format as Json | undefined)?.type ?? ((text as Json | undefined)?.format as Json | undefined)?.type;
  const asked = (format: Json) => chat({ messages: question, response_format: format });
  const lastText = ({ messages }: Json) => String((messages as Json[]).at(-1)?.content);
  const instruction = /^Hello\n\nAnswer with nothing but JSON that conforms .*"required":\["a"\]/s;

  test.each<[cite: string, status: number, error: Json]>([
    ['BerriAI/litellm#42245', 400, { error: { message: 'This response_format type is unavailable now' } }],
    [
      'BerriAI/litellm#31466',
      422,
      {
        error: {
          message: 'Failed to read it: response_format.type `json_schema` is unavailable now at line 1',
        },
      },
    ],
    [
      'dzhng/deep-research#127',
      400,
      {
        error: {
          message: "'response_format.type' : value is not one of the allowed values ['text','json_object']",
        },
      },
    ],
    [
      'ItzCrazyKns/Vane#980',
      400,
      {
        error: {
          message:
            'This model does not support response format `json_schema`. See the list of models at https://acme.example/docs',
        },
      },
    ],
    [
      'openai/openai-dotnet#276',
      400,
      {
        error: {
          message:
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with model version `m`.",
          param: 'response_format',
        },
      },
    ],
  ])('a schema becomes JSON mode and an instruction: %s', async (_cite, status, error) => {
    const { bodies, open, learned } = refusing('chat', (body) =>
      typeOf(body) === 'json_schema' ? { status, error } : undefined,
    );
    await open(asked(asSchema));
    await open(asked(asSchema));
    expect(bodies.map(typeOf)).toEqual(['json_schema', 'json_object', 'json_object']);
    for (const body of bodies.slice(1)) expect(lastText(body)).toMatch(instruction);
    expect(learned()).toEqual([{ member: 'response_format: json_schema', becomes: 'json_object' }]);
  });

  test('also from a caller of the Responses format, and to a server of it', async () => {
    const text = { format: { type: 'json_schema', name: 'answer', schema } };
    const error = {
      error: { message: 'text.format: json_schema is not supported', param: 'text.format.type' },
    };
    for (const wire of ['chat', 'responses'] as const) {
      const { bodies, open } = refusing(wire, (body) =>
        typeOf(body) === 'json_schema' ? { error } : undefined,
      );
      await open(responses({ text }));
      expect(bodies.map(typeOf)).toEqual(['json_schema', 'json_object']);
      expect(JSON.stringify(bodies[1])).toContain('conforms to this JSON Schema');
    }
  });

  test('an older model of Anthropic gets the instruction: review of laurent22/joplin#15801', async () => {
    const message = 'output_config.format: Extra inputs are not permitted';
    const { bodies, open } = refusing('messages', ({ output_config: config }) =>
      config === undefined
        ? undefined
        : { error: { type: 'error', error: { type: 'invalid_request_error', message } } },
    );
    await open(asked(asSchema), 'claude-sonnet-4-5');
    expect(bodies).toHaveLength(2);
    expect(JSON.stringify(bodies[1])).toContain('conforms to this JSON Schema');
  });

  const tools = [strictTool];
  test.each([
    ['agno-agi/agno#1065', '`response_format` json_object cannot be combined with tool/function calling'],
    ['vercel/ai#16540', 'json mode cannot be combined with tool/function calling'],
    [
      'googleapis/python-genai#867',
      "Function calling with a response mime type: 'application/json' is unsupported",
    ],
    ['of Cerebras', '"tools" is incompatible with "response_format"'],
  ])('next to tools there is the instruction: %s', async (_cite, message) => {
    const { bodies, open } = refusing('chat', (body) =>
      body.response_format && body.tools ? { error: { error: { message } } } : undefined,
    );
    const both = chat({ messages: question, response_format: asSchema, tools });
    for (const _time of [1, 2]) await open(both);
    await open(asked(asSchema));
    expect(bodies.map(typeOf)).toEqual(['json_schema', undefined, undefined, 'json_schema']);
    expect(lastText(bodies[2] as Json)).toMatch(instruction);
  });

  // BerriAI/litellm#6610
  test('without JSON mode, there is the instruction alone', async () => {
    const message = 'The response_format parameter is unsupported at the moment. Leave it unset.';
    const { bodies, open, learned } = refusing('chat', (body) =>
      body.response_format === undefined ? undefined : { error: { error: message } },
    );
    await open(asked(asSchema));
    await open(asked({ type: 'json_object' }));
    expect(bodies.map(typeOf)).toEqual(['json_schema', 'json_object', undefined, undefined]);
    expect(lastText(bodies[2] as Json)).toMatch(instruction);
    expect(lastText(bodies[3] as Json)).toMatch(/Answer with nothing but a JSON object,/);
    expect(learned()).toContainEqual({ member: 'response_format', becomes: null });
  });

  test.each([
    ['lmstudio-ai/lmstudio-bug-tracker#189', "'response_format.type' must be 'json_schema'"],
    ['LoadShine/tada#16', "'response_format.type' must be 'json_schema' or 'text'"],
  ])('JSON mode becomes the schema of an object: %s', async (_cite, error) => {
    const { bodies, open } = refusing('chat', (body) =>
      typeOf(body) === 'json_object' ? { error: { error } } : undefined,
    );
    for (const _time of [1, 2]) await open(asked({ type: 'json_object' }));
    await open(responses({ text: { format: { type: 'json_object' } } }));
    expect(bodies.map(typeOf)).toEqual(['json_object', 'json_schema', 'json_schema', 'json_schema']);
    expect(bodies[1]?.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' } },
    });
  });

  test.each([
    [
      'i-am-bee/beeai-framework#1215',
      'invalid schema for response format: response_format/json_schema/next_step: minItems is not supported',
    ],
    ['bhimrazy/receipt-ocr#20', "'response_format.json_schema.schema' must be an object"],
    [
      'of OpenAI',
      "Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is not permitted.",
    ],
    [
      'of JSON mode',
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
    ],
  ])('the fault of a caller stays one: %s', async (_cite, message) => {
    const { bodies, open } = refusing('chat', () => ({
      error: { error: { message, code: 'invalid_request' } },
    }));
    await expect(open(asked(asSchema))).rejects.toThrow();
    expect(bodies).toHaveLength(1);
  });
});

test('a tool that must be called is the only one: lmstudio-ai/lmstudio-bug-tracker#670, can1357/oh-my-pi#6925', async () => {
  const error = {
    error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
  };
  const { bodies, open } = refusing('chat', ({ tool_choice: choice }) =>
    typeof choice === 'object' ? { error } : undefined,
  );
  const other = { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } };
  const named = { type: 'function', function: { name: 'f' } };
  for (const _time of [1, 2]) await open(chat({ tools: [other, strictTool], tool_choice: named }));
  await open(chat({ tools: [other, strictTool], tool_choice: 'auto' }));
  const names = ({ tools }: Json) => (tools as { function: Json }[]).map((tool) => tool.function.name);
  expect(bodies.map((body) => [names(body), body.tool_choice])).toEqual([
    [['g', 'f'], named],
    [['f'], 'required'],
    [['f'], 'required'],
    [['g', 'f'], 'auto'],
  ]);
});

test.each([
  [
    'moeru-ai/airi#1222',
    'Failed to read the body: messages[19]: invalid type: sequence, expected a string at line 1 column 9837',
  ],
  ['gptme/gptme#896', "'messages.0.content' : value must be a string"],
  ['tbphp/gpt-load#743', 'Upstream request failed: [invalid_request_error] Input should be a valid string'],
])('the texts of a message are one: %s', async (_cite, message) => {
  const texts = (...all: string[]) => all.map((text) => ({ type: 'text', text }));
  const { bodies, open } = refusing('chat', ({ messages }) =>
    (messages as Json[]).some(({ content }) => Array.isArray(content))
      ? { status: 422, error: { error: { message } } }
      : undefined,
  );
  const messages = [
    { role: 'system', content: texts('one', 'two') },
    { role: 'user', content: texts('three', 'four') },
    { role: 'assistant', content: texts('five') },
    { role: 'user', content: 'six' },
  ];
  for (const _time of [1, 2]) await open(chat({ messages }));
  expect(bodies).toHaveLength(3);
  for (const body of bodies.slice(1))
    expect((body.messages as Json[]).map(({ content }) => content)).toEqual([
      'one\n\ntwo',
      'three\n\nfour',
      'five',
      'six',
    ]);
});

describe('an effort that a model does not have becomes the next lower one', () => {
  test.each([
    [
      'router-for-me/CLIProxyAPI#1572',
      "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'xhigh'}",
    ],
    [
      'router-for-me/CLIProxyAPI#1307',
      "Validation error for `reasoning_effort`: expected one of 'low' | 'medium' | 'high', received 'xhigh'",
    ],
    ['nguyenphutrong/quotio#287', 'level "xhigh" not supported, valid levels: low, medium, high'],
    [
      'of OpenAI',
      "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low', 'medium', and 'high'.",
    ],
  ])('%s', async (_cite, message) => {
    const { bodies, open, learned } = refusing('chat', ({ reasoning_effort: effort }) =>
      effort === 'xhigh' ? { error: { error: { message } } } : undefined,
    );
    const answer = await open(chat({ reasoning_effort: 'xhigh' }));
    await open(chat({ reasoning_effort: 'xhigh' }));
    await open(chat({ reasoning_effort: 'low' }));
    await open(responses({ reasoning: { effort: 'xhigh' } }));
    expect(bodies.map((body) => body.reasoning_effort)).toEqual([
      'xhigh',
      'high',
      'high',
      'low',
      'xhigh',
      'high',
    ]);
    expect(answer?.dropped).toEqual([{ param: 'reasoning_effort' }]);
    expect(learned()).toEqual([{ member: 'reasoning_effort', becomes: 'high' }]);
  });

  // mistralai/mistral-vibe#1117
  test('and its lowest where there is none below', async () => {
    const message = "reasoning_effort must be one of ['low', 'high', 'max']";
    const accepted = ['low', 'high', 'max'];
    for (const [asked, sent] of [
      ['medium', 'low'],
      ['minimal', 'low'],
      ['xhigh', 'high'],
    ]) {
      const { bodies, open } = refusing('chat', ({ reasoning_effort: effort }) =>
        accepted.includes(String(effort)) ? undefined : { error: { error: { message } } },
      );
      await open(chat({ reasoning_effort: asked }));
      expect(bodies.at(-1)?.reasoning_effort).toBe(sent);
    }
  });

  test('but not none at all, where that is a way out', async () => {
    const message = "Tools with reasoning_effort are not supported. Set reasoning_effort to 'none'.";
    const { bodies, open } = refusing('chat', ({ reasoning_effort: effort }) =>
      effort === undefined ? undefined : { error: { error: { message } } },
    );
    await open(chat({ reasoning_effort: 'high' }));
    expect(bodies.map((body) => body.reasoning_effort)).toEqual(['high', undefined]);
  });
});

describe('an option with one value only is left out', () => {
  test.each([
    ['countbot-ai/CountBot#61', 'invalid temperature: only 1 is allowed for this model', 'temperature'],
    ['MoonshotAI/Kimi-K2#124', 'invalid temperature: only 0.6 is allowed for this model', 'temperature'],
    ['cecli-dev/cecli#484', 'invalid presence_penalty: only 0 is allowed for this model', 'presence_penalty'],
    ['workglow-dev/libs#746', '`temperature` may only be set to 1 when thinking is enabled', 'temperature'],
    [
      'n8n-io/n8n#14288',
      'The model returned the following errors: top_p must be unset when thinking is enabled',
      'top_p',
    ],
    [
      'QuantumNous/new-api#3124',
      '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.',
      'top_p',
    ],
    [
      'of Claude behind a proxy',
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
      'top_p',
    ],
  ])('%s', async (_cite, message, name) => {
    const { bodies, open } = refusing('chat', (body) =>
      body[name] === undefined ? undefined : { error: { error: { message } } },
    );
    const asked = { temperature: 0.3, top_p: 0.5, presence_penalty: 0.1 };
    for (const _time of [1, 2]) {
      const answer = await open(chat(asked));
      expect(answer?.dropped).toEqual([{ param: name }]);
    }
    expect(bodies).toHaveLength(3);
    const { [name]: _left, ...kept } = asked as Json;
    expect(bodies.at(-1)).toMatchObject(kept);
    expect(bodies.at(-1)?.[name]).toBeUndefined();
  });

  test('but not one whose value is wrong', async () => {
    const message = 'temperature must be between 0 and 1';
    const { bodies, open } = refusing('chat', () => ({ error: { error: { message } } }));
    await expect(open(chat({ temperature: 1.5 }))).rejects.toThrow();
    expect(bodies).toHaveLength(1);
  });
});

describe('a conversation goes on with a message of the user', () => {
  const prefill =
    'This model does not support assistant message prefill. The conversation must end with a user message.';
  const ended = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  const isPrefilled = ({ messages }: Json) => (messages as Json[]).at(-1)?.role === 'assistant';

  test.each([
    ['by chat: anomalyco/opencode#13768', 'chat', prefill],
    ['by Messages: anthropics/claude-code#52433', 'messages', prefill],
    ['anomalyco/opencode#45359', 'chat', 'Requests ending with a model turn are not supported.'],
    [
      'songquanpeng/one-api#836',
      'chat',
      'Please ensure that multiturn requests ends with a user role or a function response.',
    ],
    [
      'microsoft/semantic-kernel#13288',
      'chat',
      'Please ensure that single turn requests end with a user role or the role field is empty.',
    ],
    [
      'ericc-ch/copilot-api#273',
      'chat',
      'The last message in a Gemini request must not be from the assistant',
    ],
    [
      'huggingface/smolagents#757',
      'chat',
      'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
    ],
    [
      'mistralai/mistral-vibe#114',
      'chat',
      'Cannot set `add_generation_prompt` to True when the last message is from the assistant. Consider using `continue_final_message` instead.',
    ],
  ] as const)('%s', async (_cite, wire, message) => {
    const { bodies, open } = refusing(wire, (body) =>
      isPrefilled(body) ? { error: { error: { type: 'invalid_request_error', message } } } : undefined,
    );
    for (const _time of [1, 2]) await open(chat({ messages: ended }));
    await open(chat({ messages: ended.slice(0, 1) }));
    expect(bodies).toHaveLength(4);
    expect(bodies.map((body) => (body.messages as Json[]).length)).toEqual([2, 3, 3, 1]);
  });

  test.each([
    ['vllm-project/vllm#36432', 400, 'No user query found in messages.'],
    ['holon-run/holon#2829', 500, 'chat prompt error: no user query found in messages'],
    [
      'ollama/ollama#17778',
      500,
      "\n------------\nWhile executing CallExpression at line 100, column 24 in source:\n...lti_step_tool %}↵    {{- raise_exception('No user query found in messages.') }}↵...\n                                           ^\nError: Jinja Exception: No user query found in messages.",
    ],
  ])('where it has none: %s', async (_cite, status, message) => {
    const { bodies, open } = refusing('chat', ({ messages }) =>
      rolesOf(messages).includes('user')
        ? undefined
        : { status, error: { error: { code: status, message } } },
    );
    await open(chat({ messages: [{ role: 'system', content: 'a' }, ...called] }));
    expect(bodies.map(({ messages }) => rolesOf(messages))).toEqual([
      ['system', 'assistant', 'tool'],
      ['system', 'assistant', 'tool', 'user'],
    ]);
  });
});

const called = [
  {
    role: 'assistant',
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c', content: 'r' },
];
const rolesOf = (messages: unknown) => (messages as Json[]).map(({ role }) => role);

test.each([
  [
    'ggml-org/llama.cpp#19851',
    500,
    "\n------------\nWhile executing CallExpression at line 189, column 32 in source:\n...== 0) %}↵            {{- raise_exception('After the optional system message, con...\n                                                                      ^\nError: Jinja Exception: After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.",
  ],
  [
    'idiap/sdialog#122',
    500,
    'Error: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...',
  ],
  ['NousResearch/hermes-agent#20154', 400, "Unexpected role 'user' after role 'tool'"],
])('roles alternate: %s', async (_cite, status, message) => {
  const { bodies, open } = refusing('chat', ({ messages }) =>
    /user,assistant,tool,user|^system,assistant/.test(rolesOf(messages).join())
      ? { status, error: { error: { code: status, message, type: 'server_error' } } }
      : undefined,
  );
  const user = { role: 'user', content: 'a' };
  await open(chat({ messages: [user, ...called, user] }));
  const system = { role: 'system', content: 's' };
  await open(chat({ messages: [system, { role: 'assistant', content: 'b' }, user] }));
  expect(bodies.map(({ messages }) => rolesOf(messages).join(' '))).toEqual([
    'user assistant tool user',
    'user assistant tool assistant user',
    'system user assistant user',
  ]);
});

test.each([
  ['vllm-project/vllm#2964', 'System role not supported'],
  ['sgl-project/sglang#1342', 'jinja2.exceptions.TemplateError: System role not supported'],
  ['of Google', 'Developer instruction is not enabled for models/gemma-3-27b-it'],
])('what the system says is the user’s: %s', async (_cite, message) => {
  const { bodies, open } = refusing('chat', ({ messages }) =>
    (messages as Json[]).some(({ role }) => role === 'system')
      ? { error: { object: 'error', message, code: 400 } }
      : undefined,
  );
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
  ];
  await open(chat({ messages }));
  await open(responses({ instructions: 'Be brief.' }));
  expect(bodies).toHaveLength(3);
  expect(bodies[1]?.messages).toEqual([{ role: 'user', content: 'Be brief.\n\na' }, ...messages.slice(2)]);
  expect(bodies[2]).toHaveProperty('messages[0]', { role: 'user', content: 'Be brief.\n\na' });
});

test('an output that is too short for a server is as long as it must be: earendil-works/pi#6522', async () => {
  const message =
    "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.";
  const { bodies, open } = refusing('chat', ({ max_tokens: tokens }) =>
    Number(tokens) < 16
      ? { error: { error: { message, param: 'max_output_tokens', code: 'integer_below_min_value' } } }
      : undefined,
  );
  await open(chat({ max_tokens: 1 }), 'custom', 1);
  expect(bodies.map((body) => body.max_tokens)).toEqual([1, 16]);
});

describe('schemas of tools have what all servers know', () => {
  const parameters = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    additionalProperties: false,
    properties: {
      name: { type: 'string', minLength: 1, description: 'A name' },
      source: { enum: ['web', 'file'] },
      count: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], description: 'How many' },
      tags: { type: 'array', items: { $ref: '#/$defs/tag' }, minItems: 1 },
      tree: { $ref: '#/$defs/node' },
      any: {},
      only: { const: 'x' },
      size: { type: ['number', 'null'], exclusiveMinimum: 0 },
    },
    required: ['name', 'gone'],
    $defs: {
      tag: { type: 'string', maxLength: 20 },
      node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } },
    },
  };
  const tool = { type: 'function', function: { name: 'f', strict: true, parameters } };

  test.each([
    ['openclaw/openclaw#38883', "Keyword 'minLength' is not supported for type 'string'"],
    [
      'earendil-works/pi#4138',
      "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'properties.source': type is not defined>",
    ],
    [
      'tashfeenahmed/freellmapi#97',
      `Invalid JSON payload received. Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters': Cannot find field.`,
    ],
    [
      'databricks/unity-gateway#491',
      `Invalid JSON payload received. Unknown name "$schema" at 'tools[0].function_declarations[12].parameters.properties[1].value.properties[4].value': Cannot find field.`,
    ],
  ])('%s', async (_cite, message) => {
    const { bodies, open } = refusing('chat', (body) =>
      JSON.stringify(body).includes('minLength') ? { error: { error: { message } } } : undefined,
    );
    const answer = await open(chat({ tools: [tool] }));
    expect(answer?.dropped).toEqual([{ param: 'tools[0].function.strict' }]);
    await open(chat({ tools: [tool] }));
    expect(bodies).toHaveLength(3);
    const { tools } = bodies.at(-1) as { tools: [{ function: { parameters: { properties: Json } } }] };
    const [sent] = tools;
    const { tree, ...properties } = sent.function.parameters.properties;
    expect({ ...sent.function.parameters, properties }).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'A name' },
        source: { type: 'string', enum: ['web', 'file'] },
        count: { type: 'integer', description: 'How many' },
        tags: { type: 'array', items: { type: 'string' } },
        any: { type: 'string' },
        only: { type: 'string', enum: ['x'] },
        size: { type: 'number' },
      },
      required: ['name'],
    });
    expect(tree).toMatchObject({ type: 'object', properties: { next: { type: 'object' } } });
  });

  test.each([
    ['multiply', 40, ['a', 'b', 'c']],
    ['never end', 2_000, ['a']],
    ['are others', 50_000, []],
  ])('definitions that %s are written out a few times', async (_kind, levelCount, names) => {
    const { bodies, open } = refusing('chat', (body) =>
      JSON.stringify(body).includes('minLength')
        ? { error: { error: { message: "Keyword 'minLength' is not supported for type 'string'" } } }
        : undefined,
    );
    const refs = (at: number) => names.map((name) => [name, { $ref: `#/$defs/n${at + 1}` }]);
    const levels = Array.from({ length: levelCount }, (_, at) => [
      `n${at}`,
      names.length > 0
        ? { type: 'object', minLength: 1, properties: Object.fromEntries(refs(at)) }
        : { minLength: 1, $ref: `#/$defs/n${at + 1}` },
    ]);
    const $defs = Object.fromEntries([...levels, [`n${levelCount}`, { $ref: '#/$defs/n0' }]]);
    const many = { type: 'function', function: { name: 'f', parameters: { $ref: '#/$defs/n0', $defs } } };
    await open(chat({ tools: [many] }));
    expect(bodies).toHaveLength(2);
    expect(JSON.stringify(bodies[1]).length).toBeLessThan(20 * JSON.stringify(bodies[0]).length);
  });
});

describe('a call that its server could not read is made again', () => {
  const error = {
    error: {
      message:
        "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      type: 'invalid_request_error',
      code: 'tool_use_failed',
      failed_generation: '<function=f{}</function>',
    },
  };

  test('once: anomalyco/opencode#1018', async () => {
    let failures = 1;
    const { bodies, open } = refusing('chat', () => (failures-- > 0 ? error : undefined));
    await open(chat({ tools: [strictTool] }));
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toEqual(bodies[0]);
  });

  test('and not for ever', async () => {
    const { bodies, open } = refusing('chat', () => error);
    await expect(open(chat({ tools: [strictTool] }))).rejects.toMatchObject({ kind: 'caller' });
    expect(bodies).toHaveLength(2);
  });
});

describe('items of the Responses format', () => {
  const input = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'b' }],
    },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}', status: 'completed' },
    { type: 'function_call_output', call_id: 'c1', output: 'd' },
  ];
  const statuses = (body: Json) => (body.input as Json[]).map(({ status }) => status);

  test.each([
    [
      'earendil-works/pi#7263',
      "[ObjectParam] [input[2].status] [unknown_parameter] Unknown parameter: 'input[2].status'.",
    ],
    ['openclaw/openclaw#100657', "Unknown parameter: 'input[48].status'"],
  ])('have no status where it is not known: %s', async (_cite, message) => {
    const { bodies, open } = refusing('responses', (body) =>
      statuses(body).some(Boolean)
        ? { error: { message, param: 'input[2].status', code: 'unknown_parameter' } }
        : undefined,
    );
    for (const _time of [1, 2]) await open(responses({ input }));
    expect(bodies).toHaveLength(3);
  });

  test('have one where it is demanded: diegosouzapw/OmniRoute#8507', async () => {
    const error = { message: 'The parameter `input.status` is required', code: 'MissingParameter' };
    const { bodies, open } = refusing('responses', (body) =>
      statuses(body).every(Boolean) ? undefined : { error },
    );
    await open(responses());
    expect(bodies).toHaveLength(2);
  });
});

test.each([
  ['OpenHands/OpenHands#4838', 'chat'],
  ['getsentry/sentry-mcp#106', 'responses'],
] as const)('descriptions of tools are cut where they are limited: %s', async (_cite, wire) => {
  const description = 'Does this. '.repeat(200);
  const schema = { type: 'object', properties: {} };
  const place = wire === 'chat' ? 'tools[0].function.description' : 'tools[0].description';
  const error = {
    message: `Invalid '${place}': string too long. Expected a string with maximum length 1024, but got a string with length 2200 instead.`,
    param: place,
    code: 'string_above_max_length',
  };
  const { bodies, open } = refusing(wire, (body) =>
    JSON.stringify(body.tools).length > 2_000 ? { error } : undefined,
  );
  const call = () =>
    wire === 'chat'
      ? chat({ tools: [{ type: 'function', function: { name: 'f', description, parameters: schema } }] })
      : responses({ tools: [{ type: 'function', name: 'f', description, parameters: schema }] });
  const answer = await open(call());
  await open(call());
  expect(bodies).toHaveLength(3);
  expect(answer?.dropped).toEqual([{ param: place }]);
});
