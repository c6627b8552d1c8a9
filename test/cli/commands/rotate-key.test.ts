import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { hintOf } from '../../../src/shared/secrets.ts';
import { eventually } from '../../support/eventually.ts';
import { runCli, temporaryHome } from '../../support/run-cli.ts';
import { fail, fakeDaemon } from '../fake-daemon.ts';

const path = '/v1/workspaces/me/keys/key_1';
const dayMs = 86_400_000;
const start = Date.parse('2026-11-20T08:00:00.000Z');
const secretOf = (number: number) => `gwk_${String(number).padStart(38, 'a')}`;

/** A daemon with one key, which remembers what `keys rotate` relies on. */
async function aDaemon(clock = { now: start }) {
  const state = { secret: secretOf(0), rotated_at: null as string | null, count: 0, isDown: false };
  const daemon = await fakeDaemon({
    [`GET ${path}`]: (_call, response) =>
      state.isDown
        ? fail(response, 503, { code: 'unavailable', message: 'Not now.' })
        : {
            id: 'key_1',
            status: 'active',
            hint: hintOf(state.secret),
            created_at: new Date(start).toISOString(),
            rotated_at: state.rotated_at,
          },
    [`POST ${path}/rotate`]: () => {
      const previous = { hint: hintOf(state.secret), ends_at: new Date(clock.now + 3_600_000).toISOString() };
      state.count += 1;
      state.secret = secretOf(state.count);
      state.rotated_at = new Date(clock.now).toISOString();
      return { key: { id: 'key_1', name: 'app' }, secret: state.secret, previous };
    },
  });
  return { ...daemon, state, clock };
}

test('keys rotate prints the secret for scripts, and asks before it ends the old one at once', async () => {
  const { env, calls } = await aDaemon();
  const graced = await runCli(['keys', 'rotate', 'key_1', '--grace', '7d'], { env });
  expect(graced).toMatchObject({ code: 0, stdout: `key_1\t${secretOf(1)}\n` });
  expect(calls.at(-1)?.body).toEqual({ grace_seconds: 7 * 86_400 });
  const asked = await runCli(['keys', 'rotate', 'key_1'], { env, tty: true, typed: ['no'] });
  expect(asked.code).not.toBe(0);
  expect(asked.stderr).toContain('ends at once');
  expect(calls.filter(({ path: called }) => called.endsWith('/rotate'))).toHaveLength(1);
  const confirmed = await runCli(['keys', 'rotate', 'key_1', '--yes', '--quiet'], { env });
  expect(confirmed.stdout).toBe(`${secretOf(2)}\n`);
  expect(calls.at(-1)?.body).toEqual({ grace_seconds: 0 });
});

test('--to replaces a file that only its owner can read, and prints no secret', async () => {
  const { env } = await aDaemon();
  const folder = await temporaryHome();
  const file = join(folder, 'app.key');
  await writeFile(file, 'old', { mode: 0o644 });
  const ran = await runCli(['keys', 'rotate', 'key_1', '--grace', '1h', '--to', file], {
    env,
    now: () => start,
  });
  expect(ran).toMatchObject({ code: 0, stdout: '' });
  expect(ran.stderr).toContain('Rotated key_1. Its old secret works until');
  expect(ran.stderr).not.toContain(secretOf(1));
  expect(await readFile(file, 'utf8')).toBe(`${secretOf(1)}\n`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['app.key']);
});

test('nothing is rotated if the file cannot be written', async () => {
  const { env, state } = await aDaemon();
  const folder = await temporaryHome();
  const closed = join(folder, 'closed');
  await mkdir(closed);
  await chmod(closed, 0o500);
  const missing = join(folder, 'missing', 'app.key');
  for (const file of process.getuid?.() === 0 ? [missing] : [missing, join(closed, 'app.key')]) {
    const ran = await runCli(['keys', 'rotate', 'key_1', '--grace', '1h', '--to', file], { env });
    expect(ran.code).toBe(exitCodes.failed);
    expect(ran.stderr).toContain(file);
  }
  expect(state.count).toBe(0);
});

test.each([
  [['--every', '30d'], '--every needs --to FILE'],
  [['--every', '30d', '--to', 'f', '--grace', '30d'], '--grace must be shorter than --every'],
  [['--every', '30d', '--to', 'f', '--grace', '0s'], '--grace must be shorter than --every'],
  [['--every', '1s', '--to', 'f'], '--every must be at least 1m'],
  [['--grace', '91d'], '--grace must be at most 90d'],
  [['--grace', 'soon'], 'It must be like 10m, 1h or 30d'],
])('%j is refused', async (flags, message) => {
  const { env, state } = await aDaemon();
  const ran = await runCli(['keys', 'rotate', 'key_1', ...flags], { env });
  expect(ran.code).toBe(exitCodes.usage);
  expect(ran.stderr).toContain(message);
  expect(state.count).toBe(0);
});

test('--every rotates when the secret is old enough, over restarts of the command and the daemon', async () => {
  const { env, state, clock } = await aDaemon();
  const file = join(await temporaryHome(), 'app.key');
  const running = (args: string[] = []) => {
    const stop = new AbortController();
    let said = '';
    const ran = runCli(['keys', 'rotate', 'key_1', '--every', '30d', '--to', file, ...args], {
      env,
      now: () => clock.now,
      interrupt: stop.signal,
      onStderr: (text) => (said += text),
    });
    return {
      said: () => said,
      async stop() {
        stop.abort();
        const { code, stderr } = await ran;
        expect(code).toBe(exitCodes.interrupted);
        expect(stderr).not.toContain('gwk_');
        return stderr;
      },
    };
  };
  const holds = (number: number) =>
    eventually(`the file has secret ${number}`, async () => {
      const text = await readFile(file, 'utf8').catch(() => '');
      return text === `${secretOf(number)}\n` && state.count === number;
    });

  const first = running();
  await holds(1);
  clock.now += 29 * dayMs;
  await first.stop();
  // Not due yet: it goes on where the stopped command was.
  const second = running();
  clock.now += dayMs;
  await holds(2);
  state.isDown = true;
  clock.now += 31 * dayMs;
  await eventually('it has noticed', () => second.said().includes('cannot be reached'));
  state.isDown = false;
  await holds(3);
  await second.stop();
  expect(state.count).toBe(3);

  // It was stopped between the rotation and the file.
  state.secret = secretOf(77);
  const third = running();
  await holds(4);
  await third.stop();
});
