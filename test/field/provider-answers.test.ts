import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callModel, completeCall } from '../support/model-client.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What providers say besides the answer, through a daemon. */

type Json = Record<string, unknown>;
type Answer = (body: Json, reply: ServerResponse) => void;

let daemon: RunningDaemon;
let fake: Server;
let answer: Answer;
const asked: Json[] = [];
let models = 0;

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    const json = JSON.parse(body || '{}') as Json;
    asked.push(json);
    answer(json, reply);
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const upstream = { name: 'up', base_url: url, models: ['*'], wire: 'chat' };
  const priced = { ...upstream, name: 'priced', prices: { input: '1', output: '2' } };
  const unsigned = { ...upstream, name: 'unsigned', wire: 'messages' };
  daemon = await startDaemon({ config: `upstreams: ${JSON.stringify([upstream, priced, unsigned])}\n` });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

beforeEach(() => asked.splice(0));

const model = (upstream = 'up') => `${upstream}/m${++models}`;
const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };

function chunk(delta: Json, finish: string | null = null, more: Json = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices, ...more })}\n\n`;
}

/** Answers whole or streamed. */
const says =
  (message: Json, finish: string, more: Json = {}): Answer =>
  ({ stream }, reply) => {
    reply.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }];
    const calls = (message.tool_calls as Json[] | undefined)?.map((call, index) => ({ index, ...call }));
    const delta = { ...message, ...(calls && { tool_calls: calls }) };
    reply.end(
      stream
        ? `${chunk(delta) + chunk({}, finish, { usage, ...more })}data: [DONE]\n\n`
        : JSON.stringify({ id: 'c', object: 'chat.completion', choices, usage, ...more }),
    );
  };

async function post(path: string, json: Json): Promise<Json> {
  const reply = await daemon.fetch(path, { json });
  expect(reply.status, await reply.clone().text()).toBe(200);
  return (await reply.json()) as Json;
}

const signature = { google: { thought_signature: 'c2lnbmVk' } };
const call = (id: string, more: Json = {}) => ({
  id,
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
  ...more,
});
const schema = { type: 'object', properties: {} };

/** Signatures of the calls in the last request. */
function signaturesSent(): unknown[] {
  const messages = asked.at(-1)?.messages as { tool_calls?: Json[] }[];
  return messages.flatMap(({ tool_calls: calls }) => calls ?? []).map((each) => each.extra_content);
}

// Gitlawb/openclaude#67, AstrBotDevs/AstrBot#9217: Gemini refuses a call without its signature.
describe('the signature of a call over a chat upstream comes back with it', () => {
  const signed = { content: null, tool_calls: [call('a', { extra_content: signature }), call('b')] };
  const calling = says(signed, 'tool_calls');
  const done = says({ content: 'Sunny.' }, 'stop');
  const tool = { name: 'get_weather', description: 'w' };
  const asking = 'How is the weather?';

  test('from a client of the Responses format', async () => {
    const tools = [{ type: 'function', strict: false, ...tool, parameters: schema }];
    const named = { model: model(), tools, store: false };
    answer = calling;
    const include = ['reasoning.encrypted_content'];
    const { output } = await post('/v1/responses', { ...named, input: asking, include });
    const outputs = ['a', 'b'].map((id) => ({ type: 'function_call_output', call_id: id, output: 'sunny' }));
    answer = done;
    const input = [{ role: 'user', content: asking }, ...(output as Json[]), ...outputs];
    await post('/v1/responses', { ...named, input });
    expect(signaturesSent()).toEqual([signature, undefined]);
  });

  test('from a stored response', async () => {
    const tools = [{ type: 'function', strict: false, ...tool, parameters: schema }];
    const named = { model: model(), tools };
    answer = calling;
    const { id } = await post('/v1/responses', { ...named, input: asking });
    answer = done;
    const input = ['a', 'b'].map((call_id) => ({ type: 'function_call_output', call_id, output: 'sunny' }));
    await post('/v1/responses', { ...named, previous_response_id: id, input });
    expect(signaturesSent()).toEqual([signature, undefined]);
  });

  test('from a client of the Messages format', async () => {
    const named = { model: model(), max_tokens: 999, tools: [{ ...tool, input_schema: schema }] };
    const user = { role: 'user', content: asking };
    answer = calling;
    const { content } = await post('/v1/messages', { ...named, messages: [user] });
    const results = (content as Json[])
      .filter(({ type }) => type === 'tool_use')
      .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'sunny' }));
    answer = done;
    const messages = [user, { role: 'assistant', content }, { role: 'user', content: results }];
    await post('/v1/messages', { ...named, messages });
    expect(signaturesSent()).toEqual([signature, undefined]);
  });

  test('from a client of the chat format, in the call itself', async () => {
    const named = {
      model: model(),
      tools: [{ type: 'function', function: { ...tool, parameters: schema } }],
    };
    const user = { role: 'user', content: asking };
    answer = calling;
    const { choices } = await post('/v1/chat/completions', { ...named, messages: [user] });
    const [{ message } = {}] = choices as Json[];
    const results = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'sunny' }));
    answer = done;
    await post('/v1/chat/completions', { ...named, messages: [user, message, ...results] });
    expect(signaturesSent()).toEqual([signature, undefined]);
  });

  test('but another model does not see it', async () => {
    const named = { max_tokens: 999, tools: [{ ...tool, input_schema: schema }] };
    const user = { role: 'user', content: asking };
    answer = calling;
    const { content } = await post('/v1/messages', { ...named, model: model(), messages: [user] });
    const results = ['a', 'b'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'sunny' }));
    answer = done;
    const messages = [user, { role: 'assistant', content }, { role: 'user', content: results }];
    await post('/v1/messages', { ...named, model: model(), messages });
    expect(signaturesSent()).toEqual([undefined, undefined]);
  });
});

// lsdefine/GenericAgent#357, anomalyco/opencode#44713: servers that sign no thoughts refuse calls without them.
describe('thoughts that a Messages upstream does not sign come back to it', () => {
  const thinking = { type: 'thinking', thinking: 'Which town?' };
  const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } };
  const counts = { input_tokens: 12, output_tokens: 7 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm' };
  const thinkingThenCall: Answer = ({ stream }, reply) => {
    reply.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    const whole = { ...message, content: [thinking, toolUse], stop_reason: 'tool_use', usage: counts };
    const block = (index: number, content_block: Json, delta: Json) => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ];
    const events = [
      { type: 'message_start', message: { ...message, content: [], usage: counts } },
      ...block(0, { ...thinking, thinking: '' }, { type: 'thinking_delta', thinking: thinking.thinking }),
      ...block(1, { ...toolUse, input: {} }, { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' }),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: counts },
      { type: 'message_stop' },
    ];
    const sse = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
    reply.end(stream ? sse : JSON.stringify(whole));
  };
  const blocksSent = () => {
    const messages = (asked.at(-1)?.messages ?? []) as { content: Json[] | string }[];
    return messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter(({ type }) => type === 'thinking'),
    );
  };

  test.each([false, true])('from a client of the same format, streamed: %s', async (stream) => {
    const anthropic = new Anthropic({ baseURL: daemon.url, apiKey: daemon.key, maxRetries: 0 });
    const named = {
      model: model('unsigned'),
      max_tokens: 2048,
      thinking: { type: 'enabled' as const, budget_tokens: 1024 },
      tools: [{ name: 'get_weather', description: 'w', input_schema: { type: 'object' as const } }],
    };
    const user = { role: 'user' as const, content: 'Go.' };
    answer = thinkingThenCall;
    const body = { ...named, messages: [user] };
    const { content } = await (stream
      ? anthropic.messages.stream(body).finalMessage()
      : anthropic.messages.create(body));
    const result = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'sunny' };
    const next = [
      user,
      { role: 'assistant' as const, content },
      { role: 'user' as const, content: [result] },
    ];
    await anthropic.messages.create({ ...named, messages: next });
    expect(blocksSent()).toEqual([{ ...thinking, signature: '' }]);
    await anthropic.messages.create({ ...named, model: model('unsigned'), messages: next });
    expect(blocksSent()).toEqual([]);
  });

  test('from a client of the Responses format', async () => {
    const tools = [{ type: 'function', strict: false, name: 'get_weather', parameters: schema }];
    const named = { model: model('unsigned'), tools };
    answer = thinkingThenCall;
    const { id } = await post('/v1/responses', { ...named, input: 'Go.' });
    const input = [{ type: 'function_call_output', call_id: 'toolu_1', output: 'sunny' }];
    await post('/v1/responses', { ...named, previous_response_id: id, input });
    expect(blocksSent()).toEqual([{ ...thinking, signature: '' }]);
  });
});

// anomalyco/opencode#8900, ericc-ch/copilot-api#152: what Copilot encrypts may also come after the call.
describe('thoughts of Copilot come back to it', () => {
  const thoughts = { reasoning_text: 'Which town?', reasoning_opaque: 'b3BhcXVl' };
  const thoughtsSent = () => {
    const messages = asked.at(-1)?.messages as Json[];
    const [turn, ...others] = messages.filter(({ role }) => role === 'assistant');
    expect(others).toEqual([]);
    return { reasoning_text: turn?.reasoning_text, reasoning_opaque: turn?.reasoning_opaque };
  };
  const late: Answer = ({ stream }, reply) => {
    expect(stream).toBe(true);
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    const { reasoning_text, ...opaque } = thoughts;
    reply.write(chunk({ role: 'assistant', reasoning_text }));
    reply.write(chunk({ tool_calls: [{ index: 0, ...call('a') }] }));
    reply.end(`${chunk(opaque) + chunk({}, 'tool_calls', { usage })}data: [DONE]\n\n`);
  };
  const early = says({ content: null, ...thoughts, tool_calls: [call('a')] }, 'tool_calls');

  test.each([
    ['before', early],
    ['around', late],
  ])('from a client of the Messages format, %s its call', async (_where, calling) => {
    const tools = [{ name: 'get_weather', description: 'w', input_schema: schema }];
    const named = {
      model: model(),
      max_tokens: 2048,
      tools,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    };
    const user = { role: 'user', content: 'Go.' };
    answer = calling;
    const { content } = await post('/v1/messages', { ...named, messages: [user] });
    const result = { type: 'tool_result', tool_use_id: 'a', content: 'sunny' };
    answer = says({ content: 'Sunny.' }, 'stop');
    const messages = [user, { role: 'assistant', content }, { role: 'user', content: [result] }];
    await post('/v1/messages', { ...named, messages });
    expect(thoughtsSent()).toEqual(thoughts);
  });

  test('from a stored response', async () => {
    const tools = [{ type: 'function', strict: false, name: 'get_weather', parameters: schema }];
    const named = { model: model(), tools };
    answer = late;
    const { id } = await post('/v1/responses', { ...named, input: 'Go.' });
    answer = says({ content: 'Sunny.' }, 'stop');
    const input = [{ type: 'function_call_output', call_id: 'a', output: 'sunny' }];
    await post('/v1/responses', { ...named, previous_response_id: id, input });
    expect(thoughtsSent()).toEqual(thoughts);
  });
});

// openclaw/openclaw#97773
test('a stream that is labelled as JSON reaches the client as it comes', async () => {
  const rest = Promise.withResolvers<void>();
  answer = async (_body, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.write(chunk({ role: 'assistant', content: 'First, ' }));
    await rest.promise;
    reply.end(`${chunk({ content: 'last.' }) + chunk({}, 'stop', { usage })}data: [DONE]\n\n`);
  };
  const streaming = callModel(daemon, { wire: 'chat', model: model(), stream: true });
  await streaming.receives('First, ');
  rest.resolve();
  expect(await streaming.ended).toBe('end');
  expect(streaming.text).toContain('last.');
});

test('a document for a stream may come in pieces', async () => {
  answer = (_body, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' });
    const choices = [{ index: 0, message: { content: 'Whole.' }, finish_reason: 'stop' }];
    for (const piece of ['\n', ' ', ...JSON.stringify({ choices, usage })]) reply.write(piece);
    reply.end();
  };
  const { text } = await completeCall(daemon, { wire: 'chat', model: model(), stream: true });
  expect(text).toContain('"content":"Whole."');
});

describe('the cost that a provider states', () => {
  async function costOf(name: string, stream: boolean): Promise<unknown> {
    const { headers } = await completeCall(daemon, {
      wire: 'chat',
      model: name,
      stream,
      more: { max_tokens: 100 },
    });
    const reply = await daemon.fetch(`/v1/usage/${headers['x-request-id']}`);
    const { cost, charged_usd } = (await reply.json()) as { cost: Json | null; charged_usd: string };
    return [cost?.provider_usd, charged_usd];
  }

  // pydantic/genai-prices#239
  test.each([false, true])('is its cost, streamed: %s', async (stream) => {
    answer = says({ content: 'Hi' }, 'stop', { usage: { ...usage, cost: 0.00005 } });
    expect(await costOf(model('priced'), stream)).toEqual(['0.00005', '0.00005']);
  });

  test('is known where no price is, and charged to no one', async () => {
    answer = says({ content: 'Hi' }, 'stop', { usage: { ...usage, cost: 0.00005 } });
    expect(await costOf(model(), false)).toEqual(['0.00005', '0']);
  });

  test('is never more than the hold', async () => {
    answer = says({ content: 'Hi' }, 'stop', { usage: { ...usage, cost: 900 } });
    const [provider, charged] = (await costOf(model('priced'), false)) as string[];
    expect(provider).toBe(charged);
    // At most 100 tokens of output, and one of input for each byte.
    expect(Number(charged)).toBeLessThan(0.001);
  });
});

// agentjido/req_llm#935
describe('the provider’s word for the end', () => {
  const traceOf = async (id: unknown) => {
    const headers = { authorization: `Bearer ${daemon.login}` };
    return (await daemon.fetch(`/v1/traces/${id}`, { headers })).json();
  };

  test.each([false, true])('is in the trace and the answer, streamed: %s', async (stream) => {
    answer = says({ content: 'Hi' }, 'unheard_of');
    const { headers, text } = await completeCall(daemon, { wire: 'responses', model: model(), stream });
    expect(text).toContain('"provider_finish_reason":"unheard_of"');
    expect(await traceOf(headers['x-request-id'])).toMatchObject({
      finish_reason: 'stop',
      provider_finish_reason: 'unheard_of',
    });
  });

  // BerriAI/litellm#4076, getsentry/sentry-python#5159, Arize-ai/openinference#3585
  test.each([false, true])('so is the model that it says has answered, streamed: %s', async (stream) => {
    const id = model();
    const served = async (name: unknown) => {
      answer = says({ content: 'Hi' }, 'stop', { model: name });
      const { headers } = await completeCall(daemon, { wire: 'chat', model: id, stream });
      return ((await traceOf(headers['x-request-id'])) as Json).served_model;
    };
    expect(await served('snapshot-2026-11-30')).toBe('snapshot-2026-11-30');
    const asked = id.slice(id.indexOf('/') + 1);
    for (const name of [asked, undefined, 7, 'not a\nname', 'x'.repeat(1_000)])
      expect(await served(name)).toBeNull();
  });

  test('is in the attempt of a call that failed', async () => {
    answer = says({ content: 'Hi' }, 'network_error');
    const { headers, status } = await completeCall(daemon, { wire: 'chat', model: model(), stream: false });
    expect(status).toBe(502);
    const trace = JSON.stringify(await traceOf(headers['x-request-id']));
    expect(trace).toContain('The answer ended with network_error.');
  });
});

test('comments that a proxy passes on as data are none: mnfst/llm-gateway#2053', async () => {
  answer = (_json, reply) => {
    const comment = 'data: : OPENROUTER PROCESSING\n\n';
    const said = comment + chunk({ role: 'assistant', content: 'Hi.' }) + comment + chunk({}, 'stop');
    reply.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.end(`${said}data: [DONE]\n\n`);
  };
  for (const path of ['/v1/chat/completions', '/v1/messages']) {
    const json = { model: model(), max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const text = await (await daemon.fetch(path, { json })).text();
    expect(text).toContain('Hi.');
    expect(text).not.toMatch(/PROCESSING|error/);
  }
});

// BerriAI/litellm#18921: JetBrains sends twelve, and OpenAI takes four
test('more stop sequences than a provider takes end the answer all the same', async () => {
  const stop = ['X', 'Y', 'Z', 'Q', ' and'];
  answer = says({ content: 'It is sunny and warm.' }, 'stop');
  const messages = [{ role: 'user', content: 'How is the weather?' }];
  const whole = await post('/v1/chat/completions', { model: model(), messages, stop });
  expect(whole).toMatchObject({ choices: [{ message: { content: 'It is sunny' } }] });
  expect(asked.at(-1)).not.toHaveProperty('stop');
  const named = { model: model(), max_tokens: 99, messages, stop_sequences: stop };
  expect(await post('/v1/messages', named)).toMatchObject({
    content: [{ text: 'It is sunny' }],
    stop_reason: 'stop_sequence',
    stop_sequence: ' and',
  });
  await post('/v1/chat/completions', { model: model(), messages, stop: stop.slice(1) });
  expect(asked.at(-1)).toHaveProperty('stop', stop.slice(1));
});

describe('a stop sequence is named to callers of the Messages format', () => {
  const ask = (stop: string[], stream: boolean) => ({
    model: model(),
    max_tokens: 99,
    stream,
    messages: [{ role: 'user', content: 'How is the weather?' }],
    stop_sequences: stop,
  });
  const ends = (choice: Json, content = 'It is sunny') => {
    answer = ({ stream }, reply) => {
      reply.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
      const last = { index: 0, finish_reason: 'stop', ...choice };
      const choices = [
        stream ? { ...last, delta: {} } : { ...last, message: { role: 'assistant', content } },
      ];
      const json = { id: 'c', object: stream ? 'chat.completion.chunk' : 'chat.completion', choices, usage };
      reply.end(
        stream
          ? `${chunk({ content })}data: ${JSON.stringify(json)}\n\ndata: [DONE]\n\n`
          : JSON.stringify(json),
      );
    };
  };
  const outcome = async (stop: string[], stream: boolean) => {
    const reply = await daemon.fetch('/v1/messages', { json: ask(stop, stream) });
    const text = await reply.text();
    if (!stream) {
      const { content, stop_reason, stop_sequence } = JSON.parse(text) as {
        content: { text: string }[];
      } & Json;
      return [content[0]?.text, stop_reason, stop_sequence];
    }
    const said = [...text.matchAll(/"text_delta","text":"([^"]*)"/g)].map(([, piece]) => piece).join('');
    const { delta } = JSON.parse(/data: (\{"type":"message_delta".*)/.exec(text)?.[1] ?? '{}') as {
      delta: Json;
    };
    return [said, delta.stop_reason, delta.stop_sequence];
  };

  test.each([
    ['by vLLM: vllm-project/vllm#45807', { stop_reason: 'STOP' }],
    ['by SGLang: sgl-project/sglang#33153', { matched_stop: 'STOP' }],
    ['by agentgateway/agentgateway#3283, of two', { matched_stop: 'STOP', stop_reason: null }],
  ])('%s', async (_who, choice) => {
    ends(choice);
    for (const stream of [false, true])
      expect(await outcome(['END', 'STOP'], stream)).toEqual(['It is sunny', 'stop_sequence', 'STOP']);
  });

  test('if it is the only one, also by who says no more than that there was one', async () => {
    for (const choice of [{ finish_reason: 'stop_sequence' }, { native_finish_reason: 'stop_sequence' }]) {
      ends(choice);
      expect(await outcome(['STOP'], false)).toEqual(['It is sunny', 'stop_sequence', 'STOP']);
      expect(await outcome(['END', 'STOP'], true)).toEqual(['It is sunny', 'end_turn', null]);
    }
  });

  test.each([{ stop_reason: 151645 }, { matched_stop: 151643 }, { stop_reason: 'stop' }, {}])(
    'but not the end of a turn: %j',
    async (choice) => {
      ends(choice);
      for (const stream of [false, true])
        expect(await outcome(['END', 'STOP'], stream)).toEqual(['It is sunny', 'end_turn', null]);
    },
  );

  test.each([
    ['reads over it: raullenchai/Rapid-MLX#469', 'A B STOP D'],
    ['leaves it in the text: vLLM’s include_stop_str_in_output', 'A B STOP'],
  ])('where the server %s', async (_what, content) => {
    ends({}, content);
    for (const stream of [false, true])
      expect(await outcome(['STOP'], stream)).toEqual(['A B ', 'stop_sequence', 'STOP']);
  });
});
