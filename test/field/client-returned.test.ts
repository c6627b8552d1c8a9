import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openAiAs } from '../support/model-backends.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Whatever an answer contains can be sent back, and nothing of it makes a provider refuse the conversation. */

type Json = Record<string, unknown>;

let daemon: RunningDaemon;
let fake: Server;
let blocks: Json[] = [];
const asked: Json[] = [];
const sse = (events: Json[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** A message, whole or streamed, with each text in pieces. */
function message(content: Json[]): { whole: Json; stream: string } {
  const usage = { input_tokens: 3, output_tokens: 4 };
  const stop_reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const whole = { id: 'm', type: 'message', role: 'assistant', model: 'x', content, stop_reason, usage };
  const inner = content.flatMap((block, index): Json[] => {
    const start = { type: 'content_block_start', index };
    const stop = { type: 'content_block_stop', index };
    if (block.type === 'tool_use') {
      const delta = { type: 'input_json_delta', partial_json: '{}' };
      return [{ ...start, content_block: block }, { type: 'content_block_delta', index, delta }, stop];
    }
    const deltas = [...String(block.text)].map((text) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'text_delta', text },
    }));
    return [{ ...start, content_block: { type: 'text', text: '' } }, ...deltas, stop];
  });
  const events = [
    { type: 'message_start', message: { ...whole, content: [], stop_reason: null } },
    ...inner,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ];
  return { whole, stream: sse(events) };
}

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    const json = JSON.parse(body || '{}') as Json;
    asked.push(json);
    const { whole, stream } = message(blocks);
    reply.writeHead(200, { 'content-type': json.stream ? 'text/event-stream' : 'application/json' });
    reply.end(json.stream ? stream : JSON.stringify(whole));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const upstream = { name: 'up', base_url, models: ['*'], wire: 'messages' };
  const official = { ...upstream, name: 'claude', models: ['claude-haiku-4-5'] };
  daemon = await startDaemon({ config: `upstreams: ${JSON.stringify([upstream, official])}\n` });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

beforeEach(() => asked.splice(0));

const text = (value: string) => ({ type: 'text', text: value });
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
// anthropics/claude-code#88536: an answer that begins with an empty text.
const answers: [string, Json[]][] = [
  ['an empty text before a call', [text(''), use]],
  ['an empty text before a text', [text(''), text('Hello.')]],
  ['white space before a call', [text('\n\n'), use]],
  ['white space after a text', [text('Hello.'), text(' \n')]],
  ['a text that begins with white space', [text('\n\n Hello.')]],
  ['nothing but white space', [text('\n')]],
  ['nothing', []],
];

/** No text that a provider would refuse, and no message without content. */
function checkSent(): void {
  const { messages } = asked.at(-1) as { messages: Json[] };
  for (const { content, role } of messages) {
    expect(content, String(role)).not.toHaveLength(0);
    for (const block of Array.isArray(content) ? content : [text(String(content))])
      if (block.type === 'text') expect(String(block.text)).toMatch(/\S/);
  }
}

const user = { role: 'user' as const, content: 'Go.' };
const schema = { type: 'object' as const, properties: {} };

describe.each(answers)('%s', (_, content) => {
  describe.each([false, true])('streamed: %s', (stream) => {
    test('in the Messages format', async () => {
      blocks = content;
      const client = new Anthropic({ baseURL: daemon.url, apiKey: daemon.key, maxRetries: 0 });
      const body = { model: 'up/m', max_tokens: 99, tools: [{ name: 'f', input_schema: schema }] };
      const call = { ...body, messages: [user] };
      const answer = stream
        ? await client.messages.stream(call).finalMessage()
        : await client.messages.create(call);
      const texts = content.map((block) => block.text).filter((each) => String(each ?? '').trim() !== '');
      expect(answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))).toEqual(texts);
      const isCalled = answer.content.some(({ type }) => type === 'tool_use');
      const result = { type: 'tool_result' as const, tool_use_id: 'toolu_1', content: 'done' };
      const next = { role: 'user' as const, content: isCalled ? [result] : 'Go on.' };
      const messages = [user, { role: 'assistant' as const, content: answer.content }, next];
      await client.messages.create({ ...body, messages });
      checkSent();
    });

    test('in the chat format', async () => {
      blocks = content;
      const client = openAiAs(daemon);
      const tools = [{ type: 'function' as const, function: { name: 'f', parameters: schema } }];
      const call = { model: 'up/m', tools, messages: [user] };
      const answer = stream
        ? await client.chat.completions.stream(call).finalChatCompletion()
        : await client.chat.completions.create(call);
      const said = answer.choices[0]?.message;
      const outputs = (said?.tool_calls ?? []).map(({ id }) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: 'done',
      }));
      const messages = [user, said as never, ...outputs, user];
      await client.chat.completions.create({ ...call, messages });
      checkSent();
    });

    test('in the Responses format', async () => {
      blocks = content;
      const client = openAiAs(daemon);
      const tools = [{ type: 'function' as const, strict: false, name: 'f', parameters: schema }];
      const call = { model: 'up/m', tools, store: false, input: [user] };
      const answer = stream
        ? await client.responses.stream(call).finalResponse()
        : await client.responses.create(call);
      const outputs = answer.output.flatMap((item) =>
        item.type === 'function_call'
          ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'done' }]
          : [],
      );
      await client.responses.create({ ...call, input: [user, ...answer.output, ...outputs, user] as never });
      checkSent();
    });
  });
});

test('blank answers of other gateways are taken in the Messages format, and left out', async () => {
  blocks = [text('Hello.')];
  const client = new Anthropic({ baseURL: daemon.url, apiKey: daemon.key, maxRetries: 0 });
  for (const model of ['up/m', 'claude/claude-haiku-4-5']) {
    for (const content of ['', ' ', [], [text('')], [text(' '), text('a')]]) {
      const messages = [user, { role: 'assistant', content }, user] as never;
      await client.messages.create({ model, max_tokens: 9, messages });
      checkSent();
    }
  }
});
