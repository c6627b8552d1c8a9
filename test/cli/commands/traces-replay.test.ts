import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../../support/fake-openai.ts';
import { type RunOptions, runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let fake: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  daemon = await startDaemon({
    config: `
upstreams:
  - { name: paid, base_url: ${fake.baseUrl}, models: [small, large], prices: { input: "1", output: "2" } }
  - { name: priceless, base_url: ${fake.baseUrl}, models: [unknown] }
`,
  });
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
});

beforeEach(() => {
  fake.forget();
  fake.always({ text: 'Some words.', usage: { input: 20, output: 10 } });
});

const run = (line: string[], { env, ...options }: RunOptions = {}) =>
  runCli(line, {
    env: { GATEWAY_HOME: daemon.home, NO_COLOR: '1', PATH: process.env.PATH ?? '', ...env },
    ...options,
  });
const replay = (request: string, line: string[] = [], options: RunOptions = {}) =>
  run(['traces', 'replay', request, ...line], options);

/** Makes a call and returns the id of its request. */
async function call(path: string, body: object, headers: Record<string, string> = {}): Promise<string> {
  const reply = await daemon.fetch(path, { json: { model: 'sim/echo', ...body }, headers });
  await reply.text();
  return reply.headers.get('x-request-id') ?? '';
}

interface Replayed {
  replay_of: string;
  cost_usd_max: string | null;
  calls: { model: string; request_id: string; status: string; answer: string; cost_usd: string }[];
}

async function replayed(request: string, line: string[] = []): Promise<Replayed> {
  const { stdout, stderr } = await replay(request, [...line, '--json', '--quiet']);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

const messages = [{ role: 'user', content: 'Say it.' }];
const formats: [path: string, body: object][] = [
  ['/v1/responses', { input: 'Say it.' }],
  ['/v1/chat/completions', { messages }],
  ['/v1/messages', { messages, max_tokens: 50 }],
];
const both = formats.flatMap(([path, body]) => [
  [path, body],
  [path, { ...body, stream: true }],
]) as [string, object][];

test.each(both)('a call of %s is repeated: %j', async (path, body) => {
  const request = await call(path, body);
  const { calls, ...rest } = await replayed(request);
  expect(rest).toMatchObject({ replay_of: request, cost_usd_max: '0' });
  expect(calls).toMatchObject([{ model: 'sim/echo', status: 'completed', answer: 'Say it.', cost_usd: '0' }]);
  const trace = JSON.parse((await run(['traces', 'show', calls[0]?.request_id ?? '', '--json'])).stdout);
  expect(trace).toMatchObject({ replay_of: request, endpoint: path, cache: null });
  const original = await run(['traces', 'show', request]);
  expect(original.stdout).toContain(`replays\t${calls[0]?.request_id} sim/echo\n`);
});

test('embeddings are repeated', async () => {
  const request = await call('/v1/embeddings', { model: 'sim/embedding', input: ['a', 'b'] });
  expect((await replayed(request)).calls).toMatchObject([{ status: 'completed', answer: '[2 vectors]' }]);
});

test('the answer of one call is printed, with its cost', async () => {
  const request = await call('/v1/responses', { input: 'Say it.' });
  const { code, stdout, stderr } = await replay(request, ['--set', 'input=Say that.']);
  expect([code, stdout]).toEqual([0, 'Say that.\n']);
  expect(stderr).toMatch(/^sim\/echo via simulator · \d+ in, \d+ out · \$0 · \d+ ms · req_\w+\n$/);
});

test('a replay is not stored and not cached', async () => {
  const request = await call('/v1/responses', { input: 'Keep it.', service: { cache: 'read-write' } });
  const { calls } = await replayed(request);
  const trace = JSON.parse((await run(['traces', 'show', calls[0]?.request_id ?? '', '--json'])).stdout);
  expect(trace.cache).toBeNull();
  const response = await daemon.fetch(`/v1/responses/${trace.response_id}`);
  expect(response.status).toBe(404);
  const cached = await replayed(request, ['--cache', 'read-only', '--store']);
  const [second] = cached.calls;
  const stored = JSON.parse((await run(['traces', 'show', second?.request_id ?? '', '--json'])).stdout);
  expect(stored.cache).toBe('hit');
});

test('models are compared in a table, with their answers', async () => {
  const request = await call('/v1/chat/completions', { messages });
  const line = ['-m', 'sim/echo', '-m', 'sim/refuses'];
  const { code, stdout } = await replay(request, line, { tty: true, columns: 100 });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^MODEL +STATUS +COST +FIRST TOKEN +TOTAL +INPUT +OUTPUT +REQUEST\n/);
  expect(stdout).toContain('── sim/echo\nSay it.\n');
  expect(stdout).toContain('── sim/refuses\n');
  const piped = await replay(request, line);
  expect(piped.stdout.split('\n')).toHaveLength(3);
  expect(piped.stdout).toMatch(/^sim\/echo\tcompleted\t0\t\d+\t\d+\t\d+\t\d+\treq_\w+\tSay it\.\n/);
});

test('repeated calls have a spread, and equal answers once', async () => {
  const request = await call('/v1/chat/completions', { messages });
  const { stdout } = await replay(request, ['--repeat', '3'], { tty: true, columns: 100 });
  expect(stdout).toMatch(/^MODEL +CALLS +FAILED +ANSWERS +COST/);
  expect(stdout.match(/Say it\./g)).toHaveLength(1);
  expect(stdout).toContain('── sim/echo (3 of 3)');
});

test('calls that fail are reported beside those that do not', async () => {
  const request = await call('/v1/chat/completions', { messages });
  const { code, stdout } = await replay(request, ['-m', 'sim/echo', '-m', 'sim/limited', '--json']);
  expect(code).toBe(exitCodes.partlyDone);
  expect(JSON.parse(stdout).calls).toMatchObject([
    { status: 'completed', error: null },
    { model: 'sim/limited', error: expect.any(String), request_id: expect.stringMatching(/^req_/) },
  ]);
  expect((await replay(request, ['-m', 'sim/limited'])).code).toBe(exitCodes.failed);
});

describe('the highest cost', () => {
  const dear = { model: 'paid/small', max_tokens: 100_000, messages };

  test('is shown, and needs no answer if it is small', async () => {
    const request = await call('/v1/chat/completions', { ...dear, max_tokens: 100 });
    const { code, stderr } = await replay(request, ['-m', 'paid/small', '-m', 'paid/large']);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Costs at most \$0\.000\d+, for 2 calls\.\n/);
  });

  test('is asked about on a terminal', async () => {
    const request = await call('/v1/chat/completions', dear);
    fake.forget();
    const no = await replay(request, [], { tty: true, typed: ['n'] });
    expect([no.code, fake.requests]).toEqual([exitCodes.failed, []]);
    expect(no.stderr).toMatch(/Make the call for at most \$0\.2\d+\? \[y\/N\]/);
    const yes = await replay(request, [], { tty: true, typed: ['y'] });
    expect([yes.code, fake.requests.length]).toEqual([0, 1]);
  });

  test('is bounded by --max-usd, which scripts need', async () => {
    const request = await call('/v1/chat/completions', dear);
    fake.forget();
    const without = await replay(request);
    expect([without.code, without.stderr]).toEqual([exitCodes.usage, expect.stringContaining('--max-usd')]);
    const less = await replay(request, ['--max-usd', '0.1']);
    expect([less.code, less.stderr]).toEqual([exitCodes.refused, expect.stringContaining('more than')]);
    expect(fake.requests).toEqual([]);
    expect((await replay(request, ['--max-usd', '1'])).code).toBe(0);
  });

  test('that is not known needs --yes', async () => {
    const request = await call('/v1/chat/completions', { model: 'priceless/unknown', messages });
    fake.forget();
    const without = await replay(request, ['--max-usd', '1']);
    expect([without.code, without.stderr]).toEqual([exitCodes.usage, expect.stringContaining('--yes')]);
    expect(fake.requests).toEqual([]);
    expect((await replay(request, ['--yes'])).code).toBe(0);
  });
});

describe('a request that is not whole', () => {
  /** An editor that runs a sed script. */
  const editor = (script: string) => {
    const path = join(daemon.home, `editor-${script.length}.sh`);
    writeFileSync(path, `#!/bin/sh\nstat -c %a "$1" >> ${daemon.home}/modes\nsed -i '${script}' "$1"\n`);
    chmodSync(path, 0o700);
    return { VISUAL: path };
  };

  test('is refused, and repeated once it was edited', async () => {
    const secret = 'sk-7Qm2xVb9KpLr4TzWc8NdYe3HfJg6Ua1S';
    const request = await call('/v1/chat/completions', {
      messages: [{ role: 'user', content: `Use ${secret}` }],
    });
    const refused = await replay(request);
    expect(refused.code).toBe(exitCodes.failed);
    expect(refused.stderr).toContain('Credentials in the request were replaced by [removed].');
    expect(refused.stderr).toContain('--edit');
    const unchanged = await replay(request, ['--edit'], { env: editor('s/a/a/') });
    expect([unchanged.code, unchanged.stderr]).toEqual([
      exitCodes.failed,
      expect.stringContaining('Nothing was sent.'),
    ]);
    const edited = await replay(request, ['--edit'], { env: editor('s/.removed./another word/') });
    expect([edited.code, edited.stdout]).toEqual([0, 'Use another word\n']);
    expect(readFileSync(join(daemon.home, 'modes'), 'utf8')).toBe('600\n600\n');
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('gateway-edit-'))).toEqual([]);
  });

  test('cannot be repeated if it is not kept', async () => {
    const request = await call('/v1/chat/completions', { messages }, { 'x-service-capture': 'off' });
    const { code, stderr } = await replay(request);
    expect([code, stderr]).toEqual([exitCodes.failed, expect.stringContaining('is not kept')]);
  });
});

test('a key with the scopes can repeat calls of its workspace', async () => {
  const request = await call('/v1/chat/completions', { messages });
  const scopes = ['responses', 'traces:read', 'content:read'];
  const json = { name: 'replays', scopes };
  const headers = { authorization: `Bearer ${daemon.login}` };
  const issued = await daemon.fetch('/v1/workspaces/me/keys', { json, headers });
  const { secret } = (await issued.json()) as { secret: string };
  const { code, stdout } = await replay(request, [], { env: { GATEWAY_KEY: secret } });
  expect([code, stdout]).toEqual([0, 'Say it.\n']);
  const other = await replay(request, [], { env: { GATEWAY_KEY: daemon.key } });
  expect(other.code).toBe(exitCodes.refused);
});
