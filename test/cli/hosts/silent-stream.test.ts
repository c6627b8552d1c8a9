import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { send } from '../../../src/cli/hosts/send.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** An answer of a server that begins, and the texts that came of it so far. */
async function start(type: string) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const asked = once(server, 'request') as Promise<[unknown, ServerResponse]>;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const sent = send({ method: 'GET', url, headers: {} });
  const [, response] = await asked;
  response.writeHead(200, { 'content-type': type });
  response.write('data: 1\n\n');
  const { body } = await sent;
  const texts: string[] = [];
  const read = (async () => {
    for await (const bytes of body) texts.push(Buffer.from(bytes).toString());
    return 'end';
  })().catch((error: Error) => error.message);
  await expect.poll(() => texts.length).toBe(1);
  return { response, texts, read };
}

test('a stream of events that was cut off without notice ends after a minute (cashubtc/cashu.me#136)', async () => {
  const { read } = await start('text/event-stream');
  vi.advanceTimersByTime(75_000);
  expect(await read).toContain('does not respond');
});

test('one that says that it is alive goes on', async () => {
  const { response, texts, read } = await start('text/event-stream; charset=utf-8');
  for (let count = 2; count < 10; count += 1) {
    vi.advanceTimersByTime(45_000);
    response.write(': keep-alive\n\n');
    await expect.poll(() => texts.length).toBe(count);
  }
  response.end();
  expect(await read).toBe('end');
});

test('other answers may take as long as they like', async () => {
  const { response, read } = await start('application/json');
  vi.advanceTimersByTime(600_000);
  response.end();
  expect(await read).toBe('end');
});
