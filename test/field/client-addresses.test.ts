import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Where clients look for the API, and what they get where a provider does not answer as one. */

type Json = Record<string, unknown>;

let fake: Server;
let daemon: RunningDaemon;
let said: { status: number; type: string; text: string };

const wires = ['chat', 'responses', 'messages'] as const;

beforeAll(async () => {
  fake = createServer((request, reply) => {
    request.resume().on('end', () => {
      reply.writeHead(said.status, { 'content-type': said.type }).end(said.text);
    });
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const base_url = `http://127.0.0.1:${(fake.address() as AddressInfo).port}/v1`;
  const upstreams = wires.map((wire) => ({ name: wire, base_url, models: ['*'], wire }));
  daemon = await startDaemon({ config: `upstreams: ${JSON.stringify(upstreams)}\n` });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

const messages = [{ role: 'user', content: 'Hi' }];
const bodies: Record<string, Json> = {
  '/chat/completions': { messages },
  '/responses': { input: 'Hi' },
  '/messages': { messages, max_tokens: 64 },
  '/messages/count_tokens': { messages },
  '/embeddings': { input: 'Hi' },
};
const post = (base: string, path: string, more: Json) =>
  daemon.fetch(base + path, { json: { ...bodies[path], ...more } });

describe.each([
  ['with /v1 twice, OtterMind/Chat2DB#1888, FerroxLabs/wayland#1178', '/v1/v1'],
  ['with /v1 twice and a slash at the end of the address, nbramia/LifeOS#706', '/v1//v1'],
  ['without /v1, fredrikburmester/streamystats#491, EKKOLearnAI/hermes-studio#3032', ''],
  ['without /v1 and with a slash at the end of the address, sashiko-dev/sashiko#221', '/'],
])('the paths of clients %s', (_cites, base) => {
  test.each(Object.keys(bodies))('%s is served', async (path) => {
    const model = path === '/embeddings' ? 'sim/embedding' : 'sim/echo';
    expect((await post(base, path, { model })).status).toBe(200);
  });

  test.each(['/models', '/models?limit=1000', '/models/sim/echo', '/models/sim%2Fecho'])(
    '%s is served',
    async (path) => {
      expect((await daemon.fetch(`${base}${path}`)).status).toBe(200);
      expect((await fetch(`${daemon.url}${base}/messages`, { method: 'OPTIONS' })).status).toBe(204);
    },
  );
});

test('other paths are not, and the key in one is not needed twice', async () => {
  for (const path of ['/keys', '/chat', '/v1/v1', '/messagesx', '/v1/v1/nothing'])
    expect((await daemon.fetch(path)).status).toBe(404);
  const keyed = await fetch(`${daemon.url}/k/${daemon.key}/models/sim/echo`);
  expect(keyed.status).toBe(200);
});

describe.each(wires)('of a provider with the format %s', (wire) => {
  const ask = async (path: string, more: Json = {}) => {
    const answer = await post('/v1', path, { model: `${wire}/m`, ...more });
    const { error } = (await answer.json()) as { error: { type: string; message: string } };
    const headers = { authorization: `Bearer ${daemon.login}` };
    await daemon.fetch(`/v1/admin/providers/${wire}/retry`, { method: 'POST', headers });
    return { status: answer.status, ...error };
  };
  const formats = ['/chat/completions', '/responses', '/messages'];
  const each = formats.flatMap((path) => [false, true].map((stream) => ({ path, stream })));

  test.each(each)(
    'a document that is no answer is an error at $path, streamed: $stream: diegosouzapw/OmniRoute#8210, preloop/preloop#121',
    async ({ path, stream }) => {
      for (const json of [{}, { ok: true }, { message: 'hello' }, { detail: 'Not Found' }, { data: [] }]) {
        said = { status: 200, type: 'application/json', text: JSON.stringify(json) };
        expect(await ask(path, { stream })).toMatchObject({ status: 502 });
      }
    },
  );

  test.each(each)(
    'a web page is named at $path, streamed: $stream: JUNKDOGE-JOE/after-effects-mcp#257',
    async ({ path, stream }) => {
      said = { status: 200, type: 'text/html', text: '<!doctype html><title>Log in</title>' };
      const { status, message } = await ask(path, { stream });
      expect([status, message]).toEqual([502, expect.stringContaining('web page; check its base_url')]);
    },
  );

  test.each(formats)(
    'what a proxy there finds too large is 413 at %s: QwenLM/qwen-code#10380',
    async (path) => {
      said = { status: 413, type: 'text/html', text: '<html>413 Request Entity Too Large</html>' };
      const { status, type } = await ask(path);
      expect([status, type]).toEqual([413, path === '/messages' ? 'request_too_large' : 'limit_exceeded']);
    },
  );

  test.each([
    ['james-6-23/codex2api#539', 'unknown provider for model gpt-5.6-sol'],
    ['pydantic/pydantic-ai-gateway#189', 'The provided model identifier is invalid.'],
    ['QuantumNous/new-api', 'No available channel for model m under group default'],
    ['OpenRouter', 'No endpoints found for m.'],
    ['LiteLLM', 'There are no healthy deployments for this model. Received Model Group=m'],
    ['xAI', 'Unknown model: m'],
  ])('a model that is not there is told from a bad request: %s', async (_cite, message) => {
    said = { status: 400, type: 'application/json', text: JSON.stringify({ error: { message } }) };
    expect(await ask('/chat/completions')).toMatchObject({ status: wire === 'messages' ? 400 : 404 });
  });
});
