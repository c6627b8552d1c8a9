import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { restore } from '../../src/daemon/main.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

const question = 'Where did the heron build its nest?';
const answer = 'In the old willow.';

let fake: FakeOpenAi;
let daemon: RunningDaemon;

beforeAll(async () => {
  fake = await startFakeOpenAi();
});

afterEach(async () => {
  await daemon.stop();
});

afterAll(async () => {
  await fake.close();
});

const configWith = (content: string) => `upstreams:
  - { name: up, base_url: "${fake.baseUrl}", models: ["*"], key_env: UP_KEY }
capture: { content: ${content} }
`;

async function start(options: { home?: string; content?: string } = {}): Promise<void> {
  const { home, content = 'disk' } = options;
  daemon = await startDaemon({
    config: configWith(content),
    env: { UP_KEY: 'sk-PROVIDERKEY0123456789abcdefghij' },
    ...(home !== undefined && { home }),
  });
}

async function restart(content?: string): Promise<void> {
  await daemon.stop({ keep: true });
  await start({ home: daemon.home, ...(content !== undefined && { content }) });
}

async function call(content = question): Promise<string> {
  fake.script({ text: answer });
  const reply = await daemon.fetch('/v1/chat/completions', {
    json: { model: 'up/any', messages: [{ role: 'user', content }] },
  });
  expect(reply.status).toBe(200);
  await reply.text();
  return reply.headers.get('x-request-id') as string;
}

async function get<T>(path: string, method = 'GET') {
  const reply = await daemon.fetch(path, { method, headers: { authorization: `Bearer ${daemon.login}` } });
  return { status: reply.status, body: (await reply.json()) as T };
}

test.each([true, false])('a backup has what is on disk if it is to: %s', async (isIncluded) => {
  await start();
  const request = await call();
  const places = mkdtempSync(join(tmpdir(), 'gateway-content-'));
  onTestFinished(() => rmSync(places, { recursive: true, force: true }));
  const [backup, home] = [join(places, 'backup.db'), join(places, 'home')];
  const cli = (at: string, ...args: string[]) => runCli(args, { env: { GATEWAY_HOME: at }, restore });
  // What is read was stored before.
  expect((await get(`/v1/traces/${request}/content`)).status).toBe(200);
  const made = await cli(daemon.home, 'backup', backup, '--json', ...(isIncluded ? ['--with-content'] : []));
  expect(JSON.parse(made.stdout)).toMatchObject({ content_bytes: isIncluded ? expect.any(Number) : null });
  expect(readFileSync(backup).includes(question)).toBe(false);
  await daemon.stop();
  expect(await cli(home, 'restore', backup, '--yes')).toMatchObject({ code: 0 });
  if (isIncluded) expect(statSync(join(home, 'gateway.db')).size).toBeLessThan(statSync(backup).size);
  daemon = await startDaemon({ home });
  const { status, body } = await get(`/v1/traces/${request}/content`);
  expect(status).toBe(isIncluded ? 200 : 404);
  if (isIncluded) expect(JSON.stringify(body)).toContain(answer);
});

const file = () => join(daemon.home, 'content.db');

test('content is found after a restart, and nowhere in the folder in clear', async () => {
  await start();
  const request = await call();
  await restart();
  const { body } = await get<{ level: string }>(`/v1/traces/${request}/content`);
  expect(body).toMatchObject({ level: 'disk', is_complete: true });
  for (const text of [question, answer]) expect(JSON.stringify(body)).toContain(text);
  const found = await get<{ matches: object[] }>('/v1/traces/search?text=willow');
  expect(found.body.matches).toMatchObject([{ request_id: request, part: 'answer' }]);
  expect((await get('/v1/capture')).body).toMatchObject({ content: 'disk', requests: 1, disk_days: 7 });
  for (const name of readdirSync(daemon.home)) {
    const path = join(daemon.home, name);
    if (statSync(path).isFile()) expect(readFileSync(path).includes('heron')).toBe(false);
  }
  // A backup is of the ledger alone.
  const headers = { authorization: `Bearer ${daemon.login}` };
  const backup = await daemon.fetch('/v1/admin/backups', { method: 'POST', headers });
  expect(await backup.text()).toContain('.db');
  const [name, ...others] = readdirSync(join(daemon.home, 'backups'));
  expect(others).toEqual([]);
  expect(readFileSync(join(daemon.home, 'backups', String(name))).includes('heron')).toBe(false);
});

test('a credential in a prompt is in no file, no line of the log and no event, nor in what is kept', async () => {
  await start();
  const secret = 'sk-CANARY0123456789abcdefghijklmnopqrstuv';
  const request = await call(`My key is ${secret}, do not tell.`);
  const stopEvents = new AbortController();
  const events = await daemon.fetch('/v1/events?after=0', {
    headers: { authorization: `Bearer ${daemon.login}` },
    signal: stopEvents.signal,
  });
  let seen = '';
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!seen.includes(request)) seen += (await reader?.read())?.value ?? '';
  stopEvents.abort();
  const { body } = await get(`/v1/traces/${request}/content`);
  expect(JSON.stringify(body)).toContain('My key is [removed]');
  const { stdout, stderr } = daemon.printed();
  const found = await get<{ matches: object[] }>(`/v1/traces/search?text=${secret.slice(3, 20)}`);
  expect(found.body.matches).toEqual([]);
  await daemon.stop({ keep: true });
  for (const text of [seen, stdout, stderr, JSON.stringify(body)]) expect(text).not.toContain('CANARY');
  for (const name of readdirSync(daemon.home)) {
    const path = join(daemon.home, name);
    if (statSync(path).isFile()) expect([name, readFileSync(path).includes('CANARY')]).toEqual([name, false]);
  }
  await start({ home: daemon.home });
});

test('the start of the daemon does not touch the file, nor is it written for content in memory', async () => {
  await start({ content: 'memory' });
  await call();
  await get('/v1/capture');
  expect(existsSync(file())).toBe(false);
  await restart('disk');
  expect(existsSync(file())).toBe(false);
  await call();
  await get('/v1/capture');
  expect(existsSync(file())).toBe(true);
});

test('a damaged file costs the content alone', async () => {
  await start();
  const request = await call();
  await daemon.stop({ keep: true });
  writeFileSync(file(), 'This is no database. '.repeat(1_000));
  await start({ home: daemon.home });
  expect((await get(`/v1/traces/${request}/content`)).status).toBe(404);
  expect((await get(`/v1/traces/${request}`)).status).toBe(200);
  const later = await call();
  expect((await get(`/v1/traces/${later}/content`)).status).toBe(200);
});

test('what was on disk can be read and deleted after content was turned off', async () => {
  await start();
  const request = await call();
  await restart('off');
  const unkept = await call();
  expect((await get(`/v1/traces/${unkept}/content`)).status).toBe(404);
  expect((await get(`/v1/traces/${request}/content`)).status).toBe(200);
  expect((await get('/v1/traces/content', 'DELETE')).body).toMatchObject({ deleted: 1 });
  expect((await get(`/v1/traces/${request}/content`)).status).toBe(404);
});

test('a trace says what became of its content, also after a restart', async () => {
  await start({ content: 'memory' });
  const lost = await call();
  await restart('disk');
  const deleted = await call();
  const kept = await call();
  await get(`/v1/traces/${deleted}/content`, 'DELETE');
  await restart('off');
  const states = { [lost]: 'expired', [deleted]: 'deleted', [kept]: 'disk', [await call()]: 'none' };
  for (const [request, state] of Object.entries(states))
    expect((await get(`/v1/traces/${request}`)).body).toMatchObject({ captured: { state } });
});
