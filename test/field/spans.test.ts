import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SpanCollector, startSpanCollector } from '../support/span-collector.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What collectors read of a call. */

let daemon: RunningDaemon;
let fake: Server;
let collector: SpanCollector;

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    if (request.method === 'GET') return void reply.end('{"data":[]}');
    const { model, stream } = JSON.parse(body) as { model: string; stream?: boolean };
    if (model === 'gpt-4.1-mini') return void reply.writeHead(500).end('{}');
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
    const message = { role: 'assistant', content: 'Hi.' };
    const head = { id: 'c', created: 1, model };
    const choice = { index: 0, finish_reason: 'stop' };
    const whole = { ...head, object: 'chat.completion', choices: [{ ...choice, message }], usage };
    const chunk = {
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ ...choice, delta: message }],
      usage,
    };
    reply.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    reply.end(stream ? `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n` : JSON.stringify(whole));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  collector = await startSpanCollector();
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const providers = {
    openai: { base_url, key_env: 'SPANS_KEY' },
    openrouter: { base_url, key_env: 'SPANS_KEY' },
  };
  const own = { name: 'own', base_url, models: ['*'], prices: { input: '1', output: '2' } };
  daemon = await startDaemon({
    env: {
      SPANS_KEY: 'for-tests-only',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '10',
    },
    config: `providers: ${JSON.stringify(providers)}\nupstreams: ${JSON.stringify([own])}\n`,
  });
});

afterAll(async () => {
  await daemon.stop();
  await collector.close();
  fake.closeAllConnections();
  fake.close();
});

async function attemptsOf(model: string, more: Record<string, unknown> = {}, count = 2) {
  const messages = [{ role: 'user', content: 'Hi' }];
  const reply = await daemon.fetch('/v1/chat/completions', { json: { model, messages, ...more } });
  expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('Hi.')]);
  const request = reply.headers.get('x-request-id') as string;
  await collector.until(1, request);
  const outer = collector.spans.find(({ attributes }) => attributes['gateway.request.id'] === request);
  await expect
    .poll(() => collector.spans.filter(({ traceId }) => traceId === outer?.traceId).length)
    .toBe(count);
  const spans = collector.spans.filter(({ traceId }) => traceId === outer?.traceId);
  return { outer, attempts: spans.filter(({ kind }) => kind === 3) };
}

// langfuse/langfuse#10958: collectors find no price for a model with a provider in front.
test.each([
  ['openai/gpt-4.1', 'gpt-4.1'],
  ['openrouter/openai/gpt-4.1', 'openai/gpt-4.1'],
  ['own/some/model', 'some/model'],
])('%s is reported as %s, as the provider knows it', async (model, asked) => {
  const { attempts } = await attemptsOf(model);
  expect(attempts).toMatchObject([
    { name: `chat ${asked}`, attributes: { 'gen_ai.request.model': asked, 'gen_ai.response.model': asked } },
  ]);
});

// BerriAI/litellm#29741, langfuse/langfuse#13807: a cost that is not on the span is worked out by other prices.
// langfuse/langfuse#14754, strands-agents/harness-sdk#1267, pydantic/pydantic-ai#3995: on two spans it is counted twice.
test('the cost and the tokens are on the attempt that answered, and only there', async () => {
  // One provider of it fails, another one answers.
  const { outer, attempts } = await attemptsOf('openai/gpt-4.1-mini', {}, 3);
  const counts = attempts.map(({ attributes }) => [
    attributes['gen_ai.usage.input_tokens'],
    attributes['gen_ai.usage.cost'],
  ]);
  expect(counts.filter(([tokens]) => tokens !== undefined)).toEqual([[1000, 0.00056]]);
  expect(Object.keys(outer?.attributes ?? {}).filter((name) => name.startsWith('gen_ai.usage'))).toEqual([]);
});

// agentgateway/agentgateway#2094, BerriAI/litellm#32236, open-telemetry/semantic-conventions-genai#90
test('the time to the first chunk is that of streams', async () => {
  const name = 'gen_ai.response.time_to_first_chunk';
  const [streamed] = (await attemptsOf('own/m', { stream: true })).attempts;
  expect(streamed?.attributes[name]).toEqual(expect.any(Number));
  const [whole] = (await attemptsOf('own/m')).attempts;
  expect(whole?.attributes).not.toHaveProperty(name);
});
