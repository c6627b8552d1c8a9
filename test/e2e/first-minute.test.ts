import { stat } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

/** By which other machines reach this one. */
const otherAddress = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

describe('the first start', () => {
  test('prints its address, its providers and what to type next', () => {
    const { stdout } = daemon.printed();
    expect(stdout).toContain(`Gateway is ready at ${daemon.url}`);
    expect(stdout).toContain(daemon.home);
    expect(stdout).toContain('simulator');
    expect(stdout).toContain('OPENAI_API_KEY');
    expect(stdout).toContain(`curl ${daemon.url}/v1/responses`);
    expect(stdout).toContain(`${daemon.url}/docs`);
  });

  test.each(['daemon.json', 'login-key', 'default-key', 'data-key', 'gateway.db'])(
    'protects %s from other users',
    async (name) => {
      const { mode } = await stat(join(daemon.home, name));
      expect(mode & 0o077).toBe(0);
    },
  );

  test.runIf(otherAddress !== undefined)(
    'listens on this machine only (skipped without another address)',
    async () => {
      const elsewhere = daemon.url.replace('127.0.0.1', otherAddress ?? '');
      await expect(fetch(elsewhere)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    },
  );

  test('rejects a second daemon on the same folder and leaves the first one running', async () => {
    await expect(startDaemon({ home: daemon.home })).rejects.toThrow(/Another daemon is using/);
    const answer = await daemon.fetch('/readyz');
    expect(answer.status).toBe(200);
  });
});

test('a restarted daemon has its keys and its responses', async () => {
  const first = await startDaemon();
  const created = await first.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'remember me' } });
  const { id } = (await created.json()) as { id: string };
  expect(await first.stop({ keep: true })).toBe(0);

  const second = await startDaemon({ home: first.home });
  const kept = await second.fetch(`/v1/responses/${id}`);
  expect(second.key).toBe(first.key);
  expect(await kept.json()).toMatchObject({ id, output: [{ content: [{ text: 'remember me' }] }] });
  await second.stop();
});
