import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathOf } from '../support/model-client.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** A call costs what its answer's service tier costs, whichever member names it. */

type Json = Record<string, unknown>;

let daemon: RunningDaemon;
let fake: Server;
/** What the next answer says beside its counts. */
let said: Json = {};

const sse = (events: Json[], end = '') =>
  events
    .map((event) => `${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('') + end;

const answers: Record<string, (stream: boolean) => string> = {
  chat(stream) {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 1000,
      total_tokens: 2000,
      ...(said.usage as Json),
    };
    const head = { id: 'c', created: 1, model: 'm', service_tier: said.service_tier };
    const message = { role: 'assistant', content: 'Hi.' };
    if (!stream) {
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return JSON.stringify({ ...head, object: 'chat.completion', choices, usage });
    }
    const chunk = { ...head, object: 'chat.completion.chunk' };
    const choice = { index: 0, delta: message, finish_reason: 'stop' };
    // Not every server repeats the tier with the usage.
    const last = { ...chunk, service_tier: undefined, choices: [], usage };
    return sse([{ ...chunk, choices: [choice] }, last], 'data: [DONE]\n\n');
  },
  messages(stream) {
    const usage = { input_tokens: 1000, ...(said.usage as Json) };
    const message = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
    };
    const content = [{ type: 'text', text: 'Hi.' }];
    if (!stream) {
      const whole = {
        ...message,
        content,
        stop_reason: 'end_turn',
        usage: { ...usage, output_tokens: 1000 },
      };
      return JSON.stringify(whole);
    }
    return sse([
      { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1000 } },
      { type: 'message_stop' },
    ]);
  },
  google() {
    const usageMetadata = { promptTokenCount: 1000, candidatesTokenCount: 1000, ...(said.usage as Json) };
    const candidate = { content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' };
    return sse([{ candidates: [candidate], usageMetadata }]);
  },
};

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    const isGoogle = request.url?.includes('generateContent') || request.url?.includes('streamGenerate');
    const wire = isGoogle ? 'google' : request.url?.includes('messages') ? 'messages' : 'chat';
    const stream = isGoogle || (JSON.parse(body || '{}') as Json).stream === true;
    const type = { 'content-type': stream ? 'text/event-stream' : 'application/json' };
    reply.writeHead(200, { ...type, ...(said.headers as Record<string, string>) });
    reply.end(request.method === 'GET' ? '{"data":[],"models":[]}' : answers[wire]?.(stream));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const keys = { key_env: 'TIER_KEY' };
  const providers = Object.fromEntries(
    ['openai', 'anthropic', 'google'].map((name) => [name, { base_url, ...keys }]),
  );
  const own = { name: 'own', base_url, models: ['*'], prices: { input: '1', output: '2' } };
  daemon = await startDaemon({
    env: { TIER_KEY: 'sk-ant-for-tests-only-0000000000' },
    config: `providers: ${JSON.stringify(providers)}\nupstreams: ${JSON.stringify([own])}\n`,
  });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

async function costOf(model: string, stream: boolean, answer: Json): Promise<number | null> {
  said = answer;
  const wire = model.startsWith('anthropic/') ? 'messages' : 'chat';
  const json = { model, stream, max_tokens: 4000, messages: [{ role: 'user', content: 'Hi' }] };
  const response = await daemon.fetch(pathOf[wire], { json });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi.')]);
  const usage = await daemon.fetch(`/v1/usage/${response.headers.get('x-request-id')}`);
  const { cost } = (await usage.json()) as { cost: { provider_usd: string } | null };
  return cost && Math.round(Number(cost.provider_usd) * 1e9);
}

test.each<[model: string, answer: Json, times: number | null, cite: string]>([
  ['openai/gpt-4.1', { service_tier: 'flex' }, 0.5, 'Portkey-AI/gateway#1511'],
  ['openai/gpt-4.1', { service_tier: 'default' }, 1, 'BerriAI/litellm#13810'],
  ['openai/gpt-4.1', { service_tier: 'scale' }, null, 'BerriAI/litellm#13810'],
  ['anthropic/claude-opus-4-5', { usage: { service_tier: 'standard' } }, 1, 'BerriAI/litellm#38378'],
  ['anthropic/claude-opus-4-5', { usage: { service_tier: 'priority' } }, 1, 'BerriAI/litellm#38378'],
  ['anthropic/claude-opus-4-5', { usage: { service_tier: 'batch' } }, 0.5, 'BerriAI/litellm#38378'],
  ['anthropic/claude-opus-4-5', { usage: { speed: 'standard' } }, 1, 'maximhq/bifrost#4267'],
  // This model has no fast mode of a known price.
  ['anthropic/claude-opus-4-5', { usage: { speed: 'fast' } }, null, 'maximhq/bifrost#4267'],
  ['google/gemini-2.5-flash', { usage: { trafficType: 'ON_DEMAND' } }, 1, 'BerriAI/litellm#37647'],
  ['google/gemini-2.5-flash', { usage: { trafficType: 'ON_DEMAND_FLEX' } }, 0.5, 'BerriAI/litellm#37647'],
  ['google/gemini-2.5-flash', { usage: { serviceTier: 'flex' } }, 0.5, 'vercel/ai#15488'],
  ['google/gemini-2.5-flash', { usage: { trafficType: 'PROVISIONED_THROUGHPUT' } }, null, 'vercel/ai#10167'],
  ['own/any', { service_tier: 'priority' }, 1, 'BerriAI/litellm#13810'],
])('%s that answers %j costs %s times as much (%s)', async (model, answer, times) => {
  for (const stream of [false, true]) {
    const standard = await costOf(model, stream, {});
    expect(standard).toBeGreaterThan(0);
    const cost = await costOf(model, stream, answer);
    expect(cost).toBe(times === null ? null : Math.ceil(Number(standard) * times));
  }
});

// pydantic/genai-prices#239, OpenHands/OpenHands#4196: a LiteLLM proxy knows its own prices, which no list has.
test.each<[stated: Json, nano: number]>([
  [{ headers: { 'x-litellm-response-cost': '7.4e-06' } }, 7_400],
  [{ headers: { 'x-litellm-response-cost': '0.005' }, usage: { cost: 0.0025 } }, 2_500_000],
  [{ headers: { 'x-litellm-response-cost': '0.0' } }, 3_000_000],
  [{ headers: { 'x-litellm-response-cost': 'None' } }, 3_000_000],
])('a whole answer with %j costs what it says, if it says something', async (stated, nano) => {
  expect(await costOf('own/any', false, stated)).toBe(nano);
});
