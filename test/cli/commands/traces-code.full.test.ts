import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

const run = promisify(execFile);

let daemon: RunningDaemon;
let folder: string;

beforeAll(async () => {
  daemon = await startDaemon();
  folder = await mkdtemp(join(tmpdir(), 'gateway-code-'));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
});

afterAll(async () => {
  await daemon.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Makes a call and returns the id of its request. */
async function call(path: string, body: object, headers: Record<string, string> = {}): Promise<string> {
  const reply = await daemon.fetch(path, { json: { model: 'sim/echo', ...body }, headers });
  await reply.text();
  return reply.headers.get('x-request-id') ?? '';
}

const codeOf = async (request: string, form: string) => {
  const { stdout, stderr } = await runCli(['traces', 'show', request, '--as', form], {
    env: { GATEWAY_HOME: daemon.home },
  });
  return stdout || stderr;
};

/** The newest request, as it was received. */
async function received(): Promise<{ endpoint: string; body: Record<string, unknown> }> {
  const headers = { authorization: `Bearer ${daemon.login}` };
  const list = await daemon.fetch('/v1/traces?limit=1', { headers });
  const { data } = (await list.json()) as { data: { request_id: string }[] };
  const content = await daemon.fetch(`/v1/traces/${data[0]?.request_id}/content?part=request`, { headers });
  const { endpoint, request } = (await content.json()) as {
    endpoint: string;
    request: { body: { text: string } };
  };
  return { endpoint, body: JSON.parse(request.body.text) };
}

const text = `It's "quoted": \`\${x}\` $(y) \\ ü 😀\nend`;
const messages = [{ role: 'user', content: text }];
const tools = [{ name: 'ls', input_schema: { type: 'object', properties: {} } }];
const bodies: [path: string, body: Record<string, unknown>][] = [
  ['/v1/responses', { input: text, instructions: 'Be brief.', temperature: 0 }],
  ['/v1/responses', { input: text, stream: true, service: { tags: { team: 'a' } } }],
  ['/v1/chat/completions', { messages, max_tokens: 50, service: { cache: 'off' }, top_k: 3 }],
  ['/v1/chat/completions', { messages, stream: true, stream_options: { include_usage: true } }],
  ['/v1/messages', { messages, max_tokens: 100_000, tools, system: 'Be brief.' }],
  ['/v1/messages', { messages, max_tokens: 50, stream: true, metadata: { user_id: 'ann' } }],
];

describe.each(bodies)('a call of %s: %j', (path, rest) => {
  const body = { model: 'sim/echo', ...rest };
  let request: string;

  beforeAll(async () => {
    request = await call(path, body, { 'anthropic-beta': 'tools' });
  });

  test('is made again by curl', async () => {
    const code = (await codeOf(request, 'curl')).replace('$(gateway keys default)', daemon.key);
    await run('/bin/sh', ['-c', code]);
    expect(await received()).toEqual({ endpoint: path, body });
  });

  test('is made again in JavaScript, by the SDK of its format', async () => {
    const code = await codeOf(request, 'node');
    expect(code).toContain('process.env.GATEWAY_KEY');
    expect(code).toContain(path === '/v1/messages' ? '@anthropic-ai/sdk' : "from 'openai'");
    const program = join(folder, 'call.mjs');
    await writeFile(program, code);
    const env = { ...process.env, GATEWAY_KEY: daemon.key };
    const { stdout } = await run(process.execPath, [program], { env });
    expect(stdout.trimEnd()).toBe(text);
    expect(await received()).toEqual({ endpoint: path, body });
  });

  test('is made again in Python, by the SDK of its format', async () => {
    const code = await codeOf(request, 'python');
    expect(code).toContain('os.environ["GATEWAY_KEY"]');
    const stub = join(folder, 'stub.py');
    await writeFile(stub, sdkStub + code.replace(/^from (openai|anthropic) import .*$/m, ''));
    const env = { ...process.env, GATEWAY_KEY: daemon.key };
    const python = await run('python3', [stub], { env }).catch((error: NodeJS.ErrnoException) => error);
    if ('code' in python && python.code === 'ENOENT') return;
    expect(python).toMatchObject({ stdout: expect.any(String) });
    expect(await received()).toEqual({ endpoint: path, body });
  });
});

/** What Python's SDKs do with the arguments that the code gives them: as keywords, `extra_body` on top. */
const sdkStub = `
import json, urllib.request
class Answer(list):
    def __getattr__(self, name): return Answer()
    def __getitem__(self, at): return Answer()
    def __str__(self): return ""
class Client:
    def __init__(self, base_url, api_key, path=""):
        self.base, self.key, self.path = base_url.removesuffix("/v1"), api_key, path
    def __getattr__(self, name):
        return Client(self.base, self.key, self.path + "/" + name)
    def __call__(self, extra_body={}, extra_headers={}, timeout=None, **body):
        path = "/v1" + self.path.removesuffix("/create")
        headers = {"authorization": "Bearer " + self.key, "content-type": "application/json", **extra_headers}
        data = json.dumps({**body, **extra_body}).encode()
        urllib.request.urlopen(urllib.request.Request(self.base + path, data, headers)).read()
        return Answer()
OpenAI = Anthropic = Client
`;

test('embeddings are made again by the SDK', async () => {
  const body = { model: 'sim/embedding', input: ['a', 'b'], dimensions: 8 };
  const request = await call('/v1/embeddings', body);
  const program = join(folder, 'embed.mjs');
  await writeFile(program, await codeOf(request, 'node'));
  const env = { ...process.env, GATEWAY_KEY: daemon.key };
  expect((await run(process.execPath, [program], { env })).stdout).toBe('8\n');
});

test('a long request is made again by curl', async () => {
  const body = { model: 'sim/echo', messages: [{ role: 'user', content: 'long '.repeat(40_000) }] };
  const request = await call('/v1/chat/completions', body);
  const code = (await codeOf(request, 'curl')).replace('$(gateway keys default)', daemon.key);
  const program = join(folder, 'call.sh');
  await writeFile(program, code);
  await run('/bin/sh', [program], { maxBuffer: 10_000_000 });
  expect((await received()).body).toEqual(body);
});

describe('gateway respond', () => {
  test('asks the same', async () => {
    const request = await call('/v1/chat/completions', {
      messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
      temperature: 0.5,
      max_completion_tokens: 50,
    });
    const code = await codeOf(request, 'respond');
    expect(code).toMatch(
      /^gateway respond --model 'sim\/echo' --instructions 'Be brief\.' --temperature '0\.5'/,
    );
    const { stdout } = await run('/bin/sh', ['-c', `set -- ${code}\nprintf '%s\\0' "$@"`]);
    const [, ...words] = stdout.split('\0').slice(0, -1);
    const asked = await runCli(words, { env: { GATEWAY_HOME: daemon.home } });
    expect(asked.stdout.trimEnd()).toBe(text);
    expect((await received()).body).toMatchObject({
      input: text,
      instructions: 'Be brief.',
      temperature: 0.5,
      max_output_tokens: 50,
    });
  });

  test.each([
    [{ messages, tools: [{ type: 'function', function: { name: 'ls' } }] }, 'it has tools'],
    [
      { messages: [...messages, { role: 'assistant', content: 'Hi' }, ...messages] },
      'it has earlier answers',
    ],
    [{ messages, seed: 7 }, 'no option for `seed`'],
  ])('cannot ask what its options do not cover: %j', async (body, reason) => {
    const request = await call('/v1/chat/completions', body);
    const { code, stderr } = await runCli(['traces', 'show', request, '--as', 'respond'], {
      env: { GATEWAY_HOME: daemon.home },
    });
    expect([code, stderr]).toEqual([exitCodes.failed, expect.stringContaining(reason)]);
  });
});
