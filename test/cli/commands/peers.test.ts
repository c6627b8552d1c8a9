import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(() => daemon.stop());

const add = (...args: string[]) =>
  runCli(['peer', 'add', ...args], { env: { GATEWAY_HOME: daemon.home, KEY: 'gwk_example' } });

test.each([
  ['a name that no peer can have', ['Attic 1', 'https://attic.example.com'], /like attic\./],
  [
    'a key that is set and forgotten at once',
    ['attic', 'https://attic.example.com', '--from-env', 'KEY', '--no-key'],
    /'--no-key' cannot be used with option '--from-env <name>'/,
  ],
])('%s is a usage error', async (_, args, message) => {
  const { code, stdout, stderr } = await add(...args);
  expect([code, stdout, stderr]).toEqual([exitCodes.usage, '', expect.stringMatching(message)]);
  const list = await runCli(['peer', 'list', '-q'], { env: { GATEWAY_HOME: daemon.home } });
  expect(list.stdout).toBe('');
});

test('the calls to a peer that does not exist are an error', async () => {
  const attempts = await runCli(['peer', 'attempts', 'nosuch'], { env: { GATEWAY_HOME: daemon.home } });
  expect(attempts.code).toBe(exitCodes.failed);
  expect(attempts.stderr).toContain('There is no peer "nosuch".');
  expect(attempts.stderr).toContain('gateway peer list');
});

describe('watching peers', () => {
  const url = 'http://127.0.0.1:9';
  const clear = '\u001b[H\u001b[J';
  const watch = (args: string[], stop: AbortController, onStdout: (text: string) => void, tty = false) =>
    runCli(['peer', 'watch', ...args], {
      env: { GATEWAY_HOME: daemon.home },
      interrupt: stop.signal,
      onStdout,
      tty,
    });

  test('prints each peer as a line of JSON, and again when it changed', async () => {
    await add('attic', url, '--disabled');
    const stop = new AbortController();
    const lines: string[] = [];
    const watching = watch(['--json'], stop, (text) => lines.push(...text.trim().split('\n')));
    await eventually('the first state', () => lines.length === 1);
    await add('attic', url, '--disabled', '--max-in-flight', '2');
    await eventually('the change', () => lines.length === 2);
    stop.abort();
    expect((await watching).code).toBe(exitCodes.interrupted);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { name: 'attic', status: 'disabled', max_in_flight: 4 },
      { name: 'attic', status: 'disabled', max_in_flight: 2 },
    ]);
  });

  test('keeps the table of a terminal up to date', async () => {
    await add('attic', url, '--disabled');
    const stop = new AbortController();
    const written: string[] = [];
    const watching = watch([], stop, (text) => written.push(text), true);
    // Others follow every few milliseconds.
    await eventually('two screens', () => written.filter((text) => text === clear).length >= 2);
    stop.abort();
    await watching;
    expect(written[0]).toBe(clear);
    expect(stripVTControlCharacters(written.join(''))).toMatch(/attic +disabled/);
  });
});
