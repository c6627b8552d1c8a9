import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathOf } from '../support/model-client.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Usage as servers write it, and the tokens and cost that it means, in whole answers and streams. */

type Json = Record<string, unknown>;
type Wire = 'chat' | 'messages' | 'responses' | 'google';

let daemon: RunningDaemon;
let fake: Server;
/** The usage of the next answer; `early`: that of a stream's start. */
let next: { usage: Json; early?: Json; more?: Json };

const sse = (events: Json[]) =>
  events
    .map((event) => `${event.type ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('');

const text = { type: 'output_text', text: 'Hi.', annotations: [] };
const item = { id: 'i', type: 'message', role: 'assistant', status: 'completed', content: [text] };

const answers: Record<Wire, (stream: boolean) => string> = {
  chat(stream) {
    const head = { id: 'c', created: 1, model: 'm' };
    const message = { role: 'assistant', content: 'Hi.' };
    if (!stream) {
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      return JSON.stringify({ ...head, object: 'chat.completion', choices, usage: next.usage });
    }
    const chunk = { ...head, object: 'chat.completion.chunk' };
    const first = {
      ...chunk,
      choices: [{ index: 0, delta: message, finish_reason: null }],
      usage: next.early,
    };
    const stop = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    return sse([first, stop, { ...chunk, choices: [], usage: next.usage }]);
  },
  messages(stream) {
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] as Json[] };
    const content = [{ type: 'text', text: 'Hi.' }];
    const whole = { ...message, stop_reason: 'end_turn', usage: { ...next.early, ...next.usage } };
    if (!stream) return JSON.stringify({ ...whole, content });
    const usage = next.early ?? next.usage;
    return sse([
      { type: 'message_start', message: { ...message, stop_reason: null, usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hi.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: next.usage },
      { type: 'message_stop' },
    ]);
  },
  responses(stream) {
    const response = { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed' };
    const whole = { ...response, output: [item], usage: next.usage, ...next.more };
    if (!stream) return JSON.stringify(whole);
    const started = { ...response, status: 'in_progress', output: [], usage: null };
    const at = { output_index: 0, content_index: 0, item_id: 'i' };
    return sse([
      { type: 'response.created', response: started },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { type: 'response.content_part.added', ...at, part: { ...text, text: '' } },
      { type: 'response.output_text.delta', ...at, delta: 'Hi.' },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: `response.${whole.status}`, response: whole },
    ]);
  },
  google() {
    const candidates = [{ content: { role: 'model', parts: [{ text: 'Hi.' }] }, finishReason: 'STOP' }];
    return sse([{ candidates, usageMetadata: next.usage }]);
  },
};

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let body = '';
    for await (const piece of request) body += piece;
    const wires = ['messages', 'responses', 'completions'];
    const named = wires.find((wire) => request.url?.includes(wire)) ?? 'google';
    const wire = (named === 'completions' ? 'chat' : named) as Wire;
    const stream = wire === 'google' || (JSON.parse(body || '{}') as Json).stream === true;
    reply.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
    reply.end(request.method === 'GET' ? '{"data":[],"models":[]}' : answers[wire](stream));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const prices = { input: '1', output: '2', cached_input: '0.1', cache_write: '1.25' };
  const upstreams = ['chat', 'messages', 'responses'].map((wire) => {
    return { name: wire, base_url, models: ['*'], wire, prices };
  });
  const providers = { google: { base_url, key_env: 'GOOGLE_KEY' } };
  daemon = await startDaemon({
    env: { GOOGLE_KEY: 'for-tests-only' },
    config: `providers: ${JSON.stringify(providers)}\nupstreams: ${JSON.stringify(upstreams)}\n`,
  });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

interface Counts {
  input: number;
  cached_input?: number;
  cache_write?: number;
  output: number;
  reasoning?: number;
}

async function countsOf(wire: Wire, stream: boolean): Promise<{ tokens: Counts; usd: string | undefined }> {
  const model = wire === 'google' ? 'google/gemini-2.5-flash' : `${wire}/m`;
  const caller = wire === 'google' ? 'chat' : wire;
  const asking = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 4000 };
  const json = { model, stream, ...(wire === 'responses' ? { input: 'Hi' } : asking) };
  const response = await daemon.fetch(pathOf[caller], { json });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi.')]);
  const id = response.headers.get('x-request-id') ?? response.headers.get('request-id');
  const usage = (await (await daemon.fetch(`/v1/usage/${id}`)).json()) as {
    tokens: Counts;
    cost: { provider_usd: string } | null;
  };
  return { tokens: usage.tokens, usd: usage.cost?.provider_usd };
}

type Case = [
  cite: string,
  wire: Wire,
  next: { usage: Json; early?: Json; more?: Json },
  is: Counts,
  usd?: string,
];

const chat = (prompt: number, completion: number, total: number, more: Json = {}) => ({
  usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total, ...more },
});
const responses = (input: number, output: number, total: number, more: Json = {}) => ({
  usage: { input_tokens: input, output_tokens: output, total_tokens: total, ...more },
});
const prompt_tokens_details = (counts: Json) => ({ prompt_tokens_details: counts });
const google = (prompt: number, candidates: number, total: number, more: Json = {}) => ({
  usage: { promptTokenCount: prompt, candidatesTokenCount: candidates, totalTokenCount: total, ...more },
});

const cacheApart: Case[] = [
  [
    'ai-dynamo/dynamo#12473',
    'chat',
    chat(1000, 100, 1600, prompt_tokens_details({ cached_tokens: 500 })),
    { input: 1500, cached_input: 500, output: 100 },
    '0.00125',
  ],
  [
    'ai-dynamo/dynamo#12473',
    'responses',
    responses(10, 100, 610, { input_tokens_details: { cached_tokens: 500 } }),
    { input: 510, cached_input: 500, output: 100 },
    '0.00026',
  ],
  [
    'decolua/9router#2658',
    'chat',
    chat(10, 100, 2610, { cache_read_input_tokens: 500, cache_creation_input_tokens: 2000 }),
    { input: 2510, cached_input: 500, cache_write: 2000, output: 100 },
    '0.00276',
  ],
  [
    'Willxup/cpa-usage-keeper#107',
    'chat',
    chat(1, 393, 394, prompt_tokens_details({ cached_tokens: 153_483 })),
    { input: 153_484, cached_input: 153_483, output: 393 },
  ],
  [
    'QuantumNous/new-api#6190',
    'chat',
    chat(0, 100, 600, { cache_read_input_tokens: 500 }),
    { input: 500, cached_input: 500, output: 100 },
  ],
  // Thoughts may be apart, too.
  [
    'UKGovernmentBEIS/inspect_ai#5528',
    'chat',
    chat(32, 9, 635, {
      cache_read_input_tokens: 500,
      completion_tokens_details: { reasoning_tokens: 94 },
    }),
    { input: 532, cached_input: 500, output: 103, reasoning: 94 },
  ],
];

const names: Case[] = [
  [
    'ithtelab/workbuddy-manager#39',
    'chat',
    chat(1204, 100, 1304, { prompt_cache_hit_tokens: 1024, prompt_cache_write_tokens: 100 }),
    { input: 1204, cached_input: 1024, cache_write: 100, output: 100 },
  ],
  [
    'mindroom-ai/mindroom#2134',
    'responses',
    responses(2600, 100, 2700, { input_tokens_details: { cached_tokens: 2000, cache_write_tokens: 400 } }),
    { input: 2600, cached_input: 2000, cache_write: 400, output: 100 },
  ],
  [
    'infiniflow/ragflow#17629',
    'responses',
    responses(1000, 100, 1100, { cache_read_input_tokens: 500, cache_creation_input_tokens: 300 }),
    { input: 1000, cached_input: 500, cache_write: 300, output: 100 },
  ],
  [
    'infiniflow/ragflow#17629',
    'responses',
    chat(1000, 100, 1100, prompt_tokens_details({ cached_tokens: 500 })),
    { input: 1000, cached_input: 500, output: 100 },
  ],
  // A server with the names of both formats has zeros in the one that it does not use.
  [
    'infiniflow/ragflow#17629',
    'chat',
    { usage: { ...responses(17, 5, 22).usage, prompt_tokens: 0, completion_tokens: 0 } },
    { input: 17, output: 5 },
  ],
  [
    'BerriAI/litellm#39618',
    'chat',
    { usage: { prompt_tokens: null, completion_tokens: '10' } },
    { input: 0, output: 10 },
  ],
  [
    'router-for-me/CLIProxyAPI#2708',
    'chat',
    chat(7, 5, 12, { reasoning_tokens: 5, prompt_tokens_details: null }),
    { input: 7, output: 5, reasoning: 5 },
  ],
];

/** An hour in the cache costs twice the input. */
const keptForLong: Case[] = [
  [
    'langfuse/claude-observability-plugin#34',
    'messages',
    {
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 1000,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 1000 },
      },
    },
    { input: 1000, cache_write: 1000, output: 0 },
    '0.002',
  ],
  // The split of the start is not repeated with the total.
  [
    'BerriAI/litellm#42663',
    'messages',
    {
      early: {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 300 },
      },
      usage: { cache_creation_input_tokens: 1000, output_tokens: 1 },
    },
    { input: 1000, cache_write: 1000, output: 1 },
    '0.002002',
  ],
  [
    'blpsoares/agentistics#565',
    'messages',
    { usage: { input_tokens: 0, output_tokens: 0, cache_creation: { ephemeral_1h_input_tokens: 1000 } } },
    { input: 1000, cache_write: 1000, output: 0 },
    '0.002',
  ],
  [
    'QuantumNous/new-api#2155',
    'messages',
    {
      usage: {
        input_tokens: 0,
        output_tokens: 0,
        cache_creation_input_tokens: 1000,
        claude_cache_creation_5_m_tokens: 600,
        claude_cache_creation_1_h_tokens: 400,
      },
    },
    { input: 1000, cache_write: 1000, output: 0 },
    '0.00155',
  ],
  [
    'ccusage/ccusage#899',
    'chat',
    chat(
      1000,
      0,
      1000,
      prompt_tokens_details({
        cache_creation_tokens: 1000,
        cache_creation_token_details: { ephemeral_1h_input_tokens: 1000 },
      }),
    ),
    { input: 1000, cache_write: 1000, output: 0 },
    '0.002',
  ],
];

const countedOnce: Case[] = [
  [
    'BerriAI/litellm#18599',
    'chat',
    chat(17, 482, 499, { completion_tokens_details: { reasoning_tokens: 448 } }),
    { input: 17, output: 482, reasoning: 448 },
    '0.000981',
  ],
  [
    'BerriAI/litellm#37407',
    'chat',
    chat(
      2461,
      303,
      2764,
      prompt_tokens_details({ cached_tokens: 2432, image_tokens: 1142, text_tokens: 1319 }),
    ),
    { input: 2461, cached_input: 2432, output: 303 },
  ],
  [
    'InsForge/InsForge#2015',
    'chat',
    { ...chat(10, 100, 110), early: chat(10, 50, 60).usage },
    { input: 10, output: 100 },
  ],
  [
    'tensorzero/tensorzero#5481',
    'messages',
    { early: { input_tokens: 25, output_tokens: 1 }, usage: { output_tokens: 15 } },
    { input: 25, output: 15 },
  ],
  [
    'envoyproxy/ai-gateway#2239',
    'messages',
    {
      early: {
        input_tokens: 5,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 1,
      },
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 15,
      },
    },
    { input: 125, cached_input: 100, cache_write: 20, output: 15 },
  ],
  [
    'QuantumNous/new-api#7241',
    'responses',
    {
      ...responses(64, 1500, 1564),
      more: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    },
    { input: 64, output: 1500 },
  ],
  [
    'Arize-ai/openinference#3177',
    'google',
    google(341, 3362, 3703, { thoughtsTokenCount: 3347 }),
    { input: 341, output: 3362, reasoning: 3347 },
  ],
  [
    'mozilla-ai/any-llm#1290',
    'google',
    google(20, 198, 623, { thoughtsTokenCount: 405 }),
    { input: 20, output: 603, reasoning: 405 },
  ],
  [
    'CultivateLabs/raif#470',
    'google',
    google(20, 50, 1000, { thoughtsTokenCount: 30, toolUsePromptTokenCount: 900 }),
    { input: 920, output: 80, reasoning: 30 },
  ],
  [
    'BerriAI/litellm#14849',
    'google',
    google(262_960, 1744, 264_704, { cachedContentTokenCount: 257_955 }),
    { input: 262_960, cached_input: 257_955, output: 1744 },
  ],
];

test.each([...cacheApart, ...names, ...keptForLong, ...countedOnce])(
  '%s: %s usage of %j',
  async (_cite, wire, usage, is, usd) => {
    next = usage;
    for (const stream of wire === 'google' ? [true] : [false, true]) {
      const counts = await countsOf(wire, stream);
      const tokens = { cached_input: 0, cache_write: 0, reasoning: 0, ...is };
      expect(counts).toMatchObject({ tokens, ...(usd && { usd }) });
    }
  },
);
