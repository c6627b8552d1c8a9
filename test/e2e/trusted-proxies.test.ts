import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** More wrong login codes than one address may try at once. */
const tries = 12;

/** The status of a wrong login code that a proxy sends for an address. */
function guess(to: { port: number } | { socketPath: string }, forwardedFor: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': forwardedFor };
  const asked = request({ host: '127.0.0.1', ...to, path: '/v1/sessions', method: 'POST', headers });
  asked.once('error', reject).once('response', (answer) => {
    answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
  });
  asked.end(JSON.stringify({ code: 'WRONG-CODES' }));
  return promise;
}

async function lastOf(to: Parameters<typeof guess>[0], forwardedFor: string): Promise<number> {
  let last = 0;
  for (let at = 0; at < tries; at += 1) last = await guess(to, forwardedFor);
  return last;
}

describe.each([
  ['its port', '127.0.0.1', (daemon: RunningDaemon) => ({ port: Number(new URL(daemon.url).port) })],
  ['its Unix socket', 'unix', (daemon: RunningDaemon) => ({ socketPath: join(daemon.home, 'gw.sock') })],
])('a proxy in front of %s', (_, proxy, to) => {
  let trusting: RunningDaemon;
  let wary: RunningDaemon;
  const listen = (proxies: string) => `listen: {socket: gw.sock, trusted_proxies: ${proxies}}`;

  beforeAll(async () => {
    [trusting, wary] = await Promise.all([
      startDaemon({ config: listen(`[${proxy}]`) }),
      startDaemon({ config: listen('[10.0.0.0/8]') }),
    ]);
  });
  afterAll(() => Promise.all([trusting.stop(), wary.stop()]));

  test('that is trusted names its clients, who are limited one by one', async () => {
    expect(await lastOf(to(trusting), '203.0.113.1')).toBe(429);
    expect(await guess(to(trusting), '203.0.113.2')).toBe(401);
    // What a client invents comes before what the proxy appends.
    expect(await guess(to(trusting), '203.0.113.3, 203.0.113.1')).toBe(429);
  });

  test('that is not trusted is one client', async () => {
    expect(await lastOf(to(wary), '203.0.113.1')).toBe(429);
    expect(await guess(to(wary), '203.0.113.2')).toBe(429);
  });
});
