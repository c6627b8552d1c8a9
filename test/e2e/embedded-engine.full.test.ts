import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decision } from '../../src/shared/contract/decisions.ts';
import type { EngineModelView } from '../../src/shared/contract/engine.ts';
import { engineSkipReason, hasEngineLibrary, linkEngineLibrary } from '../support/engine-library.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { tinyGguf } from '../support/tiny-gguf.ts';

const config =
  'vault: { insecure_plain_file: true, keychain: false }\ndecisions: { models: [sim/assistant] }';

let daemon: RunningDaemon;
let home: string;

/** One call as the owner of the host. */
async function admin(method: string, path: string, body?: object) {
  const response = await daemon.fetch(`/v1/admin/engine/models${path}`, {
    method,
    headers: { authorization: `Bearer ${daemon.login}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the assertions state its shape.
  return { status: response.status, json: (await response.json()) as any };
}

async function listed(name: string): Promise<EngineModelView | undefined> {
  const { json } = await admin('GET', '');
  return json.data.find((model: EngineModelView) => model.name === name);
}

const question = { type: 'choice', instructions: 'Which?', choices: [{ value: 'a' }, { value: 'b' }] };

async function decide(body: object = {}, headers: Record<string, string> = {}) {
  const response = await fetch(`${daemon.url}/v1/decisions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'engine', input: 'x', questions: [question], ...body }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the assertions state its shape.
  return { status: response.status, json: (await response.json()) as any };
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'gateway-engine-'));
  daemon = await startDaemon({ config, home });
});

afterAll(async () => {
  await daemon.stop({ keep: true });
  await rm(home, { recursive: true, force: true });
});

describe('without the library', () => {
  test('an engine names the setting and the command', async () => {
    const { status, json } = await decide();
    expect([status, json.error.code]).toEqual([503, 'unavailable']);
    expect(json.error.message).toContain('decisions.engine.url');
    expect(json.error.message).toContain('gateway engine add');
  });

  test('a model cannot be added, and the error names the command', async () => {
    const path = join(home, 'early.gguf');
    await writeFile(path, tinyGguf());
    const { status, json } = await admin('POST', '', { path });
    expect([status, json.error.code]).toEqual([503, 'unavailable']);
    expect(json.error.message).toContain('gateway engine install');
  });

  test('what is no model is refused by its path', async () => {
    for (const path of ['relative.gguf', join(home, 'missing.gguf'), join(home, 'config.yaml'), home]) {
      const { status, json } = await admin('POST', '', { path });
      expect([path, status, json.error.param]).toEqual([path, 400, 'path']);
    }
  });
});

describe.skipIf(!hasEngineLibrary)(`a model${engineSkipReason}`, () => {
  let path: string;
  let openai: OpenAI;

  beforeAll(async () => {
    // The daemon runs already: it finds a library that is installed later.
    await linkEngineLibrary(home);
    path = join(home, 'Tiny Model.gguf');
    await writeFile(path, tinyGguf());
    const { status, json } = await admin('POST', '', { path });
    expect(json).toMatchObject({ name: 'tiny-model', as: 'engine', architecture: 'llama', available: true });
    expect(status).toBe(200);
    openai = new OpenAI({ baseURL: `${daemon.url}/v1`, apiKey: daemon.key, maxRetries: 0 });
  });

  test('answers decisions with probabilities that add up to 1', async () => {
    const body = {
      questions: [
        question,
        { type: 'predicate', instructions: 'Is it late?' },
        {
          type: 'score',
          instructions: 'How?',
          levels: [{ label: 'low' }, { label: 'mid' }, { label: 'high' }],
        },
      ],
    };
    const first: Decision = (await decide(body)).json;
    expect(first.service).toMatchObject({ answered_by: 'engine', method: 'token_probabilities' });
    expect(first.service.diagnostics.map(({ permutations }) => permutations)).toEqual([2, 2, 3]);
    expect(first.model).toMatch(/^tiny-model@sha256:[0-9a-f]{12}$/);
    for (const answer of first.answers) {
      if (!('probabilities' in answer)) continue;
      const sum = answer.probabilities.reduce((total, { probability }) => total + probability, 0);
      expect(Math.abs(sum - 1)).toBeLessThan(1e-6);
    }
  });

  test('answers the same under its own name as in the role of the engine', async () => {
    const asEngine: Decision = (await decide()).json;
    const byName: Decision = (await decide({ model: 'local/tiny-model' })).json;
    expect(byName.service).toMatchObject({
      requested_model: 'local/tiny-model',
      answered_by: 'local',
      method: 'token_probabilities',
      attempts: [],
    });
    expect(byName.model).toBe(asEngine.model);
    // Single precision: what is read from the cache of the first question is rounded otherwise.
    const confidenceOf = ({ answers: [answer] }: Decision) =>
      answer && 'confidence' in answer ? answer.confidence : Number.NaN;
    expect(confidenceOf(byName)).toBeCloseTo(confidenceOf(asEngine), 5);
  });

  test('refuses an input that is longer than its context, and no other source is asked', async () => {
    const { status, json } = await decide({ model: 'service/decide', input: 'word '.repeat(2000) });
    expect([status, json.error.code, json.error.param]).toEqual([413, 'limit_exceeded', 'input']);
  });

  test('chats as local/NAME, whole and as a stream', async () => {
    const asked = {
      model: 'local/tiny-model',
      messages: [{ role: 'user' as const, content: 'Hello' }],
      max_tokens: 6,
      temperature: 0,
    };
    const whole = await openai.chat.completions.create(asked);
    expect(whole.usage).toMatchObject({ completion_tokens: 6 });
    expect(whole.choices[0]?.finish_reason).toBe('length');
    const stream = await openai.chat.completions.create({ ...asked, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe(whole.choices[0]?.message.content);
  });

  test('answers responses in the form of a schema', async () => {
    const schema = {
      type: 'object',
      properties: { colour: { enum: ['red', 'blue'] }, sure: { type: 'boolean' } },
      required: ['colour', 'sure'],
      additionalProperties: false,
    };
    const response = await openai.responses.create({
      model: 'local/tiny-model',
      input: 'A colour, please.',
      text: { format: { type: 'json_schema', name: 'colour', strict: true, schema } },
    });
    expect(JSON.parse(response.output_text)).toEqual({
      colour: expect.stringMatching(/^(red|blue)$/),
      sure: expect.any(Boolean),
    });
  });

  test('a damaged file is refused with the reason', async () => {
    const cut = join(home, 'cut.gguf');
    await writeFile(cut, tinyGguf().subarray(0, 3000));
    const { status, json } = await admin('POST', '', { path: cut });
    expect([status, json.error.param]).toEqual([400, 'path']);
    expect(json.error.message).toMatch(/^Failed to load/);
  });

  test('calls a required tool with arguments of its schema, and reads the result', async () => {
    const parameters = {
      type: 'object',
      properties: { city: { enum: ['Rome', 'Oslo'] } },
      required: ['city'],
      additionalProperties: false,
    };
    const tools = [
      { type: 'function' as const, name: 'weather', description: 'The weather.', parameters, strict: true },
    ];
    const asked = { model: 'local/tiny-model', tools };
    const called = await openai.responses.create({ ...asked, input: 'Weather?', tool_choice: 'required' });
    const call = called.output.find((item) => item.type === 'function_call');
    if (call?.type !== 'function_call') throw new Error('the model called no tool');
    expect(JSON.parse(call.arguments).city).toMatch(/^(Rome|Oslo)$/);
    const next = await openai.responses.create({
      ...asked,
      previous_response_id: called.id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: 'Sunny' }],
      tool_choice: 'none' as const,
      max_output_tokens: 16,
    });
    expect(next.output[0]?.type).toBe('message');
  });

  test('says which value it does not support', async () => {
    const asked = openai.chat.completions.create({
      model: 'local/tiny-model',
      n: 2,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'n' });
  });

  test('that dies while it is asked is replaced by a backup; without one, the error says why', async () => {
    await decide();
    const { pid } = (await listed('tiny-model')) ?? {};
    if (typeof pid !== 'number') throw new Error('the model is not in memory');
    // It cannot answer, nor be started again: the file is another one.
    process.kill(pid, 'SIGSTOP');
    await appendFile(path, 'more');
    const asked = decide({ model: 'service/decide' });
    process.kill(pid, 'SIGKILL');
    expect((await asked).json.service).toMatchObject({
      answered_by: 'simulator',
      attempts: [{ source: 'engine', outcome: 'server_error' }],
    });
    await eventually('its end', async () => (await listed('tiny-model'))?.pid === null);
    const alone = await decide();
    expect([alone.status, alone.json.error.code]).toEqual([503, 'unavailable']);
    expect(alone.json.error.message).toContain('its file has changed');
    await writeFile(path, tinyGguf());
    await admin('DELETE', '/tiny-model');
    expect((await admin('POST', '', { path })).status).toBe(200);
    expect((await decide()).status).toBe(200);
  });

  test('is checked, and a second one takes its role', async () => {
    const { json } = await admin('POST', '/tiny-model/check');
    expect(json).toMatchObject({ problem: null, decision_ms: expect.any(Number) });
    const other = join(home, 'other.gguf');
    await writeFile(other, tinyGguf({ seed: 7 }));
    const added = await admin('POST', '', { path: other, name: 'other', as: 'engine' });
    expect(added.json).toMatchObject({ model: 'local/other', as: 'engine' });
    expect(await listed('tiny-model')).toMatchObject({ as: null });
    expect((await admin('POST', '', { path: other, name: 'other' })).status).toBe(409);
    expect((await decide()).json.model).toMatch(/^other@sha256:/);
    expect((await admin('DELETE', '/other')).json).toMatchObject({ id: 'other', deleted: true });
    expect((await admin('POST', '/other/check')).status).toBe(404);
  });

  test('that takes more memory than allowed is refused', async () => {
    const small = join(home, 'small.gguf');
    await writeFile(small, Buffer.concat([tinyGguf(), Buffer.alloc(65 * 1024 ** 2)]));
    await writeFile(join(home, 'config.yaml'), `local_servers: false\nengine: { memory_mb: 64 }\n${config}`);
    await daemon.fetch('/v1/admin/reload', {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    const { status, json } = await admin('POST', '', { path: small });
    expect([status, json.error.param]).toEqual([400, 'path']);
    expect(json.error.message).toContain('engine.memory_mb');
  });

  test('is there after a restart', async () => {
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ config, home });
    expect(await listed('tiny-model')).toMatchObject({ model: 'local/tiny-model', pid: null });
    expect((await daemon.fetch('/v1/models/local/tiny-model')).status).toBe(200);
  });
});
