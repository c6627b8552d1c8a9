import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Claude Code's newest members and betas, in front of servers with Anthropic's format that do not know them yet. */

type Json = Record<string, unknown>;
type Refuses = (body: Json, headers: IncomingHttpHeaders) => boolean;

let fake: Server;
let daemon: RunningDaemon;
let refusal: { refuses: Refuses; says: string };
let asked: { body: Json; headers: IncomingHttpHeaders }[] = [];

beforeAll(async () => {
  fake = createServer(async (request, reply) => {
    let text = '';
    for await (const piece of request) text += piece;
    const body = JSON.parse(text) as Json;
    asked.push({ body, headers: request.headers });
    const isRefused = refusal.refuses(body, request.headers);
    const error = { type: 'error', error: { type: 'invalid_request_error', message: refusal.says } };
    const content = [{ type: 'text', text: 'Hi.' }];
    const usage = { input_tokens: 5, output_tokens: 2 };
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content, usage };
    reply.writeHead(isRefused ? 400 : 200, { 'content-type': 'application/json' });
    reply.end(JSON.stringify(isRefused ? error : { ...message, stop_reason: 'end_turn' }));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const upstream = { name: 'vertex', base_url, models: ['*'], wire: 'messages' };
  daemon = await startDaemon({ config: `upstreams: ${JSON.stringify([upstream])}\n` });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

const betas = ['claude-code-20250219', 'prompt-caching-scope-2026-01-05', 'context-management-2025-06-27'];
const tool = {
  name: 'find',
  input_schema: { type: 'object', properties: { scope: { type: 'string' } } },
  input_examples: [{ scope: 'all' }],
};
const system = [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', scope: 'global' } }];
const request = {
  max_tokens: 100,
  system,
  context_management: { edits: [] },
  diagnostics: { previous_message_id: null },
  tools: [tool],
  messages: [{ role: 'user', content: 'Hi' }],
};
const betaOf = (headers: IncomingHttpHeaders) => String(headers['anthropic-beta'] ?? '');

const cases: { cite: string; refuses: Refuses; says: string; dropped: string; asks?: number }[] = [
  {
    cite: 'anthropics/claude-code#21612, decolua/9router#1468, Wei-Shaw/sub2api#1968',
    refuses: (body) => 'context_management' in body,
    says: 'context_management: Extra inputs are not permitted',
    dropped: 'context_management',
  },
  {
    cite: 'experientiallabs/experiential#679',
    refuses: (body) => 'diagnostics' in body,
    says: 'diagnostics: Extra inputs are not permitted',
    dropped: 'diagnostics',
  },
  {
    cite: 'anthropics/claude-code#11678',
    refuses: ({ tools }) => 'input_examples' in ((tools as Json[])[0] ?? {}),
    says: 'tools.0.custom.input_examples: Extra inputs are not permitted',
    dropped: 'tools[].input_examples',
  },
  {
    cite: 'the scope of a mark, as in #21612',
    refuses: ({ system: blocks }) => JSON.stringify(blocks).includes('scope'),
    says: 'system.0.cache_control.ephemeral.scope: Extra inputs are not permitted',
    dropped: 'system[].scope',
  },
  {
    cite: 'anthropics/claude-code#21612: a beta',
    refuses: (_body, headers) => betaOf(headers).includes('prompt-caching-scope'),
    says: 'Unexpected value(s) `prompt-caching-scope-2026-01-05` for the `anthropic-beta` header.',
    dropped: 'anthropic-beta: prompt-caching-scope-2026-01-05',
  },
  {
    cite: 'Bedrock, which does not say which beta',
    refuses: (_body, headers) => betaOf(headers).split(',').length > 1,
    says: 'invalid beta flag',
    dropped: `anthropic-beta: ${betas[2]}, anthropic-beta: ${betas[1]}`,
    asks: 3,
  },
];

test.each(cases)('$dropped is left out, $cite', async ({ refuses, says, dropped, asks = 2, cite }) => {
  refusal = { refuses, says };
  asked = [];
  const headers = { 'anthropic-beta': betas.join(',') };
  const model = `vertex/m${cases.findIndex((each) => each.cite === cite)}`;
  const first = await daemon.fetch('/v1/messages', { json: { ...request, model }, headers });
  expect([first.status, first.headers.get('x-service-dropped')]).toEqual([200, dropped]);
  expect(asked).toHaveLength(asks);

  // The tool's own schema is as it was, and what was learned is used.
  expect(asked.at(-1)?.body.tools).toMatchObject([{ input_schema: tool.input_schema }]);
  const next = await daemon.fetch('/v1/messages', { json: { ...request, model }, headers });
  expect(next.status).toBe(200);
  expect(next.headers.get('x-service-dropped')?.split(', ').sort()).toEqual(dropped.split(', ').sort());
  expect(asked).toHaveLength(asks + 1);
});
