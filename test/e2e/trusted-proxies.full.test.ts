import { type OutgoingHttpHeaders, type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** More wrong login codes than one address may try at once. */
const tries = 12;

type Place = { port: number } | { socketPath: string };

/** The status of a wrong login code that a proxy sends for an address. */
function guess(to: Place, forwardedFor: string): Promise<number> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': forwardedFor };
  return send(to, { path: '/v1/sessions', method: 'POST', headers }, JSON.stringify({ code: 'WRONG-CODES' }));
}

/** The status of a request. */
function send(to: Place, what: RequestOptions, body?: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asked = request({ host: '127.0.0.1', ...to, ...what });
  asked.once('error', reject).once('response', (answer) => {
    answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
  });
  asked.end(body);
  return promise;
}

async function lastOf(to: Place, forwardedFor: string): Promise<number> {
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

  test('that is not trusted cannot be used to invent addresses', async () => {
    await lastOf(to(wary), '203.0.113.1');
    const names = [
      '198.51.100.1',
      '::1',
      '127.0.0.1',
      'unix',
      '10.0.0.1',
      '',
      '[2001:db8::1]:443',
      'nonsense',
    ];
    const all = await Promise.all(names.map((name) => guess(to(wary), name)));
    expect(all).toEqual(names.map(() => 429));
  });

  test.each<[string, OutgoingHttpHeaders]>([
    ['no header', {}],
    ['an empty header', { 'x-forwarded-for': '' }],
    ['an address of this machine', { 'x-forwarded-for': '127.0.0.1' }],
    ['one of version 6', { 'x-forwarded-for': '::1' }],
    ['a mapped one', { 'x-forwarded-for': '::ffff:7f00:1' }],
    ['one of a zone', { 'x-forwarded-for': 'fe80::1%lo' }],
    ['the name of the socket', { 'x-forwarded-for': 'unix' }],
    ['invented ones before its own', { 'x-forwarded-for': ['203.0.113.9', '127.0.0.1'] }],
    ['no address', { 'x-forwarded-for': ',,; for=127.0.0.1' }],
    [
      'other headers',
      { forwarded: 'for=127.0.0.1', 'x-real-ip': '127.0.0.1', 'x-forwarded-host': 'localhost' },
    ],
  ])('that is trusted gets nothing that is reserved for this machine, with %s', async (_headers, headers) => {
    const host = `127.0.0.1:${new URL(trusting.url).port}`;
    expect(await send(to(trusting), { path: '/metrics', headers: { ...headers, host } })).toBe(401);
  });
});
