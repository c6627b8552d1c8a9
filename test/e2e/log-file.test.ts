import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openLogFile } from '../../src/daemon/process/log-file.ts';
import { runCli } from '../support/run-cli.ts';
import { startDaemon } from '../support/start-daemon.ts';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-logs-'));
});

afterEach(() => rm(home, { recursive: true, force: true }));

const line = (level: number, msg: string, time = new Date().toISOString()) =>
  `${JSON.stringify({ level, time, request_id: 'req_1', msg })}\n`;
const logs = (...args: string[]) => runCli(['logs', ...args], { env: { GATEWAY_HOME: home } });
const messages = (ndjson: string) =>
  ndjson
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => (JSON.parse(text) as { msg: string }).msg);

test('a daemon leaves a log that only its owner reads, and that outlives restarts', async () => {
  const daemon = await startDaemon({ home, config: 'log: { level: info }\n' });
  await daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'unsaid' } });
  await daemon.stop({ keep: true });
  await (await startDaemon({ home })).stop({ keep: true });
  const { stdout } = await logs();
  const reported = messages(stdout);
  expect(reported.filter((msg) => msg === 'daemon started')).toHaveLength(2);
  expect(reported).toContain('call finished');
  expect(reported.at(-1)).toBe('daemon stopped');
  expect((await stat(join(home, 'gateway.log'))).mode & 0o777).toBe(0o600);
  expect(stdout).not.toContain('unsaid');
  expect(stdout).not.toContain(daemon.key);
});

test('files are bounded, and the oldest goes', async () => {
  const log = openLogFile({ folder: home, bytesMax: 1000 });
  for (let count = 0; count < 200; count += 1) log.write(line(30, `line ${count}`));
  log.close();
  const names = (await readdir(home)).sort();
  expect(names).toEqual(['gateway.log', 'gateway.log.1', 'gateway.log.2', 'gateway.log.3']);
  for (const name of names) expect((await stat(join(home, name))).size).toBeLessThanOrEqual(1000);
  const answer = messages((await logs('--lines', '1000')).stdout);
  expect(answer.at(-1)).toBe('line 199');
  const numbers = answer.map((msg) => Number(msg.slice(5)));
  expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
});

test('a read-only folder does not prevent a start', () => {
  expect(() => openLogFile({ folder: '/nonexistent' }).write('lost\n')).not.toThrow();
});

test('levels, times and numbers of lines are chosen', async () => {
  const old = new Date(Date.now() - 7_200_000).toISOString();
  await writeFile(
    join(home, 'gateway.log'),
    [line(50, 'old', old), line(30, 'said'), line(40, 'warned'), line(50, 'failed'), `{"half`].join(''),
  );
  expect(messages((await logs('--level', 'warn')).stdout)).toEqual(['old', 'warned', 'failed']);
  expect(messages((await logs('--since', '1h')).stdout)).toEqual(['said', 'warned', 'failed']);
  expect(messages((await logs('--since', old)).stdout)).toHaveLength(4);
  expect(messages((await logs('--lines', '1')).stdout)).toEqual(['failed']);
  expect(messages((await logs('--json=msg')).stdout)).toEqual(['old', 'said', 'warned', 'failed']);
  expect(await logs('--since', 'whenever')).toMatchObject({ code: 2 });
});

test('a terminal gets lines for people, in which nothing is obeyed', async () => {
  await writeFile(join(home, 'gateway.log'), line(40, 'bell \u001b[31m'));
  const { stdout } = await runCli(['logs', '--no-color'], { env: { GATEWAY_HOME: home }, tty: true });
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d warn {2}bell .* request_id=req_1\n$/);
  expect(stdout).not.toContain('\u001b');
});

test('without a log there is nothing to show', async () => {
  expect(await logs()).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('No matching') });
  expect(await logs('--host', 'example.com')).toMatchObject({ code: 2 });
});

test('following goes on from nothing, over a rotation, and ends with Ctrl-C', async () => {
  const stop = new AbortController();
  let answer = '';
  const waiting: { text: string; resolve: () => void }[] = [];
  const until = (text: string) =>
    new Promise<void>((resolve) => {
      waiting.push({ text, resolve });
      for (const one of waiting) if (answer.includes(one.text)) one.resolve();
    });
  const following = runCli(['logs', '-f'], {
    env: { GATEWAY_HOME: home },
    interrupt: stop.signal,
    onStdout(text) {
      answer += text;
      for (const one of waiting) if (answer.includes(one.text)) one.resolve();
    },
  });
  const log = openLogFile({ folder: home, bytesMax: 300 });
  log.write(line(30, 'first'));
  await until('first');
  for (let count = 0; count < 9; count += 1) {
    log.write(line(30, `next ${count}`));
    await until(`next ${count}`);
  }
  log.close();
  await appendFile(join(home, 'gateway.log'), line(30, 'after a restart'));
  await until('after a restart');
  stop.abort();
  expect((await following).code).toBe(130);
  expect(messages(answer)).toEqual([
    'first',
    ...Array.from({ length: 9 }, (_, at) => `next ${at}`),
    'after a restart',
  ]);
  expect((await readFile(join(home, 'gateway.log.1'), 'utf8')).length).toBeGreaterThan(0);
});
