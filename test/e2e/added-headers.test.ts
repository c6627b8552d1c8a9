import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

let fake: FakeOpenAi;
let daemon: RunningDaemon;
let recordings: string;

const config = () => `providers:
  openai: { base_url: '${fake.baseUrl}', headers: { OpenAI-Project: proj_1, X-Gate: { env: GATE_SECRET } } }
upstreams:
  - { name: plain, base_url: '${fake.baseUrl}', models: ['*'], headers: { authorization: { env: OTHER_AUTH } } }
  - { name: lacking, base_url: '${fake.baseUrl}', models: ['*'], headers: { x-gate: { env: NOWHERE } } }
`;

beforeAll(async () => {
  fake = await startFakeOpenAi();
  recordings = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  const env = { OPENAI_API_KEY: 'sk-1', GATE_SECRET: ' opensesame ', OTHER_AUTH: 'Basic abc' };
  daemon = await startDaemon({ config: config(), env, record: recordings });
});

afterAll(async () => {
  await daemon.stop();
  await fake.close();
  await rm(recordings, { recursive: true });
});

beforeEach(() => fake.forget());

const ask = (model: string) =>
  daemon.fetch('/v1/responses', { json: { model, input: 'Hello.', store: false } });

test('configured headers are sent with the calls, alongside the key', async () => {
  expect((await ask('openai/gpt-5-mini')).status).toBe(200);
  expect(fake.requests[0]?.headers).toMatchObject({
    authorization: 'Bearer sk-1',
    'openai-project': 'proj_1',
    'x-gate': 'opensesame',
    'content-type': 'application/json',
  });
});

test('a configured header can replace the key', async () => {
  expect((await ask('plain/any')).status).toBe(200);
  expect(fake.requests[0]?.headers).toMatchObject({ authorization: 'Basic abc' });
});

test('a provider whose header variable is unset is not called, and the error names the variable', async () => {
  const answer = await ask('lacking/any');
  expect([answer.status, await answer.text()]).toEqual([
    404,
    expect.stringContaining('lacking is not available: no header: set NOWHERE.'),
  ]);
  expect(fake.requests).toEqual([]);
});

test('recordings contain no configured headers', async () => {
  await ask('openai/gpt-5-mini');
  await daemon.stop({ keep: true });
  const files = await readdir(recordings, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => readFile(join(file.parentPath, file.name), 'utf8'));
  const text = (await Promise.all(texts)).join('\n');
  expect(text).toContain('gpt-5-mini');
  expect(text).not.toMatch(/opensesame|Basic abc|x-gate/i);
});
