import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkConfigText } from '../../src/daemon/config/check-config-text.ts';
import { networkFailureOf } from '../../src/daemon/upstream/network-failures.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** Addresses of providers as people write them, and what is said about those that lead nowhere. */

let fake: Server;
let daemon: RunningDaemon;
let asked: string[] = [];
let refusal: string | undefined;

beforeAll(async () => {
  fake = createServer((request, reply) => {
    asked.push(`${request.method} ${request.url}`);
    if (refusal !== undefined) return reply.writeHead(400, { 'content-type': 'text/html' }).end(refusal);
    reply.writeHead(200, { 'content-type': 'application/json' });
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const whole = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage, data: [] };
    reply.end(JSON.stringify(whole));
  });
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  const origin = `http://127.0.0.1:${(fake.address() as AddressInfo).port}`;
  const upstreams = [
    { name: 'query', base_url: `${origin}/openai/v1?api-version=preview` },
    { name: 'slash', base_url: `${origin}/v1/?api-version=1&x=2` },
    { name: 'pasted', base_url: `${origin}/v1/chat/completions?api-version=1#` },
    { name: 'whole', base_url: `${origin}/v1/chat/completions/` },
  ].map((upstream) => ({ ...upstream, models: ['*'] }));
  daemon = await startDaemon({ config: `upstreams: ${JSON.stringify(upstreams)}\n` });
});

afterAll(async () => {
  await daemon.stop();
  fake.closeAllConnections();
  fake.close();
});

async function ask(name: string) {
  const messages = [{ role: 'user', content: 'Hi' }];
  return await daemon.fetch('/v1/chat/completions', { json: { model: `${name}/m`, messages } });
}

test.each([
  ['NousResearch/hermes-agent#8766', 'query', '/openai/v1/chat/completions?api-version=preview'],
  ['Security-Onion-Solutions/securityonion#15841', 'slash', '/v1/chat/completions?api-version=1&x=2'],
  ['anomalyco/opencode#1508', 'pasted', '/v1/chat/completions?api-version=1'],
  ['sigoden/aichat#767', 'whole', '/v1/chat/completions'],
])('%s: calls reach %s at %s', async (_cite, name, path) => {
  asked = [];
  const answer = await ask(name);
  expect([answer.status, asked]).toEqual([200, [`POST ${path}`]]);
});

test('a name and password in an address are refused with the way to send them', () => {
  const text = 'upstreams:\n  - {name: a, base_url: "https://u:p@h.example/v1", models: ["*"]}\n';
  const [fault] = checkConfigText(text, 'config.yaml').faults;
  expect(fault?.message).toContain('send one in `headers`');
  expect(fault?.message).not.toContain('u:p');
  expect(checkConfigText(text.replace('u:p@', ''), 'config.yaml').faults).toEqual([]);
});

test.each([
  ['skx/overseer#49', 'CERT_HAS_EXPIRED', 'has expired'],
  ['getlantern/lantern#2396', 'CERT_NOT_YET_VALID', 'check the clock of this machine'],
  ['ubergeek42/weechat-android#416', 'ERR_TLS_CERT_ALTNAME_INVALID', 'for another name'],
  ['ollama/ollama-python#174', 'ERR_SSL_WRONG_VERSION_NUMBER', 'write http:// in its address'],
  ['ollama/ollama#11587', 'SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
])('%s: %s is not blamed on an unknown authority', (_cite, code, says) => {
  const { reason = '', at } = networkFailureOf(Object.assign(new Error('TLS'), { code }), 'h.example');
  expect(at?.part).toBe('certificate');
  expect(reason).toContain(says);
  expect(reason.includes('NODE_EXTRA_CA_CERTS')).toBe(says === 'NODE_EXTRA_CA_CERTS');
});

test.each([
  ['nginx', '<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>'],
  ['Go', 'Client sent an HTTP request to an HTTPS server.\n'],
])(
  'taketwo/llm-ollama#51: %s that wants https:// does not refuse the request of a caller',
  async (_of, said) => {
    refusal = said;
    const answer = await ask('whole');
    refusal = undefined;
    expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('write https:// in')]);
  },
);
