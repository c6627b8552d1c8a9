import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { type RunOptions, runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

const gateway = (args: string[], options: RunOptions = {}) =>
  runCli(args, { ...options, env: { GATEWAY_HOME: daemon.home } });

async function made(...title: string[]): Promise<string> {
  return JSON.parse((await gateway(['threads', 'create', ...title, '--json'])).stdout).id;
}

test('a thread is created, continued, shown, renamed and deleted', async () => {
  const first = await gateway(['respond', '-m', 'sim/echo', '--thread', 'new', 'Hello.']);
  expect(first).toMatchObject({ code: 0, stdout: 'Hello.\n' });
  const id = /th_\w+/.exec(first.stderr)?.[0] ?? '';
  expect(await gateway(['respond', '-m', 'sim/echo', '--thread', id, 'And on.'])).toMatchObject({ code: 0 });
  const shown = await gateway(['threads', 'show', id]);
  expect(
    shown.stdout
      .split('\n')
      .filter((line) => line !== '')
      .slice(-4),
  ).toEqual(['user\tHello.', 'assistant\tHello.', 'user\tAnd on.', 'assistant\tAnd on.']);
  const talk = await gateway(['threads', 'show', id], { tty: true });
  expect(talk.stdout).toContain('And on.');
  const json = JSON.parse((await gateway(['threads', 'show', id, '--json'])).stdout);
  expect(json).toMatchObject({ id, title: 'Hello.', working: false });
  expect(json.messages.length).toBe(4);
  expect((await gateway(['threads', 'rename', id, 'Greetings'])).stdout).toContain('Greetings');
  expect((await gateway(['threads', 'list', '--json', 'id,title'])).stdout).toContain('Greetings');
  expect((await gateway(['chats', 'list'])).stdout).toContain(id);
  const runs = JSON.parse((await gateway(['chats', 'runs', id, '--json'])).stdout);
  expect(runs.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed']);
  expect((await gateway(['threads', 'delete', id])).code).toBe(exitCodes.usage);
  expect((await gateway(['threads', 'delete', id, '--yes'])).code).toBe(0);
  expect((await gateway(['threads', 'show', id])).code).toBe(exitCodes.failed);
});

test('a call running in a thread is watched and stopped', async () => {
  const id = await made('Rain');
  expect((await gateway(['threads', 'stop', id])).stderr).toContain('No call is running');
  const begun = await gateway([
    'respond',
    '--background',
    '-m',
    'sim/slow',
    '--thread',
    id,
    'Write 2000 words.',
  ]);
  expect(begun.code).toBe(0);
  const watching = gateway(['threads', 'watch', id, '--once', '--json']);
  expect((await gateway(['threads', 'stop', id])).stderr).toContain('Stopped');
  const { code, stdout } = await watching;
  const types = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect([code, types[0], types.at(-1)]).toEqual([0, 'run_started', 'run_cancelled']);
});

test('watching continues until Ctrl-C', async () => {
  const id = await made();
  await gateway(['respond', '-m', 'sim/echo', '--thread', id, 'Hello.']);
  const interrupt = new AbortController();
  const watched = await gateway(['threads', 'watch', id], {
    interrupt: interrupt.signal,
    onStdout: (text) => {
      if (text.includes('run_completed')) interrupt.abort();
    },
  });
  expect(watched.code).toBe(exitCodes.interrupted);
  expect(watched.stdout).toMatch(/run_started\trun_\w+\tsim\/echo\n/);
  expect(watched.stdout).toContain('2 messages');
});

test('a missing thread is reported', async () => {
  for (const args of [
    ['threads', 'watch', 'th_none'],
    ['threads', 'stop', 'th_none'],
    ['chats', 'runs', 'th_none'],
  ]) {
    const { code, stderr } = await gateway(args);
    expect([args, code]).toEqual([args, exitCodes.failed]);
    expect(stderr).not.toBe('');
  }
});
