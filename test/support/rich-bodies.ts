/** Bodies that use all that the two formats of model calls have; every one of them is answered. */

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const answerSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

const service = {
  pay: 'ours',
  max_price: { input: '100', output: '100.5' },
  fallbacks: ['sim/assistant'],
  route: { order: ['simulator'], ignore: ['nobody'], sort: 'price' },
  events: true,
};

const sampling = { temperature: 0.5, top_p: 1, presence_penalty: 0, frequency_penalty: 0 };

export const richResponses: readonly unknown[] = [
  {
    model: 'sim/echo',
    instructions: 'Be short.',
    input: [
      { type: 'message', role: 'developer', content: 'In English.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: pixel, detail: 'low' },
          { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'Rain.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It rains.' }] },
      { role: 'user', content: 'And now?' },
    ],
    metadata: { trace: 'abc', n: '1' },
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'low', summary: 'auto' },
    max_output_tokens: 200,
    store: false,
    service,
    ...sampling,
  },
  {
    model: 'sim/assistant',
    input: 'What is the weather in Oslo?',
    tools: [{ type: 'function', name: 'weather', description: 'Tells it.', parameters, strict: true }],
    tool_choice: { type: 'function', name: 'weather' },
    parallel_tool_calls: false,
    stream: true,
  },
  {
    model: 'sim/assistant',
    input: [{ role: 'user', content: 'Count.' }],
    tools: [{ type: 'function', name: 'weather', parameters }],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
    text: {
      format: { type: 'json_schema', name: 'answer', schema: answerSchema, strict: true },
      verbosity: 'low',
    },
    top_logprobs: 2,
    truncation: 'disabled',
    service_tier: 'auto',
    safety_identifier: 'person',
    prompt_cache_key: 'key',
  },
];

export const richChats: readonly unknown[] = [
  {
    model: 'sim/echo',
    messages: [
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        name: 'somebody',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: pixel, detail: 'low' } },
          { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        refusal: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain.' },
      { role: 'assistant', content: [{ type: 'text', text: 'It rains.' }], reasoning_content: 'Hm.' },
      { role: 'user', content: 'And now?' },
    ],
    stop: ['END'],
    seed: 7,
    max_completion_tokens: 200,
    n: 1,
    metadata: { trace: 'abc' },
    reasoning_effort: 'low',
    verbosity: 'low',
    store: false,
    service,
    ...sampling,
  },
  {
    model: 'sim/assistant',
    messages: [{ role: 'user', content: 'What is the weather in Oslo?' }],
    tools: [{ type: 'function', function: { name: 'weather', parameters, strict: true } }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    parallel_tool_calls: false,
    stream: true,
    stream_options: { include_usage: true },
  },
  {
    model: 'sim/assistant',
    messages: [
      { role: 'user', content: 'Count.' },
      { role: 'assistant', content: '', function_call: { name: 'weather', arguments: '{}' } },
      { role: 'function', name: 'weather', content: 'Rain.' },
    ],
    functions: [{ name: 'weather', parameters }],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: answerSchema, strict: true },
    },
    logprobs: true,
    top_logprobs: 2,
    max_tokens: 100,
  },
];
