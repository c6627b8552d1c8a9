import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FakeAnthropic, startFakeAnthropic } from '../support/fake-anthropic.ts';
import { type FakeGemini, startFakeGemini } from '../support/fake-gemini.ts';
import { type FakeOpenAi, startFakeOpenAi } from '../support/fake-openai.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

const env = {
  OPENAI_API_KEY: 'sk-openai-canary-0123456789',
  ANTHROPIC_API_KEY: 'sk-ant-canary-0123456789',
  GEMINI_API_KEY: 'AIza-canary-0123456789abcdef',
};

const tools = [
  {
    type: 'function',
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
];
const chatTools = [{ type: 'function', function: { name: 'weather', parameters: tools[0]?.parameters } }];

const models = ['openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5', 'google/gemini-3.5-flash'];
const calls = models.flatMap((model) =>
  [false, true].flatMap((stream) => [
    { path: '/v1/responses', json: { model, input: 'Say good morning. ☀', stream } },
    { path: '/v1/responses', json: { model, input: 'Weather in Oslo?', tools, stream } },
    {
      path: '/v1/chat/completions',
      json: {
        model,
        messages: [{ role: 'user', content: 'Weather in Oslo?' }],
        tools: chatTools,
        stream,
      },
    },
  ]),
);

let fakes: { openai: FakeOpenAi; anthropic: FakeAnthropic; google: FakeGemini };
let folder: string;
let config: string;
let recorded: string[];

/** What may differ between runs: ids, times, durations and sealed values. */
function settled(text: string): string {
  return text
    .replace(/gws1\.[\w-]+/g, 'gws1.#')
    .replace(/\b(resp|req|msg|fc|rs|call|chatcmpl)[-_][A-Za-z0-9]+/g, '$1_#')
    .replace(/"(created|created_at|completed_at|ms)":\d+/g, '"$1":0');
}

async function ask(daemon: RunningDaemon, { path, json }: (typeof calls)[number]): Promise<string> {
  const answer = await daemon.fetch(path, { json });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return settled(text);
}

beforeAll(async () => {
  fakes = {
    openai: await startFakeOpenAi({ keys: [env.OPENAI_API_KEY] }),
    anthropic: await startFakeAnthropic({ keys: [env.ANTHROPIC_API_KEY] }),
    google: await startFakeGemini({ keys: [env.GEMINI_API_KEY] }),
  };
  config = `providers:
  openai: {base_url: "${fakes.openai.baseUrl}"}
  anthropic: {base_url: "${fakes.anthropic.baseUrl}"}
  google: {base_url: "${fakes.google.baseUrl}"}`;
  folder = await mkdtemp(join(tmpdir(), 'gateway-recordings-'));
  const daemon = await startDaemon({ config, env, record: folder });
  recorded = [];
  for (const call of calls) {
    const asksTool = 'tools' in call.json;
    fakes.openai.script(
      asksTool ? { calls: [{ name: 'weather', arguments: '{"city":"Oslo"}' }] } : { text: 'Good morning! ☀' },
    );
    fakes.anthropic.answer({
      blocks: asksTool ? [{ tool: 'weather', input: { city: 'Oslo' } }] : [{ text: 'Good morning! ☀' }],
    });
    fakes.google.answer({
      parts: asksTool ? [{ call: 'weather', args: { city: 'Oslo' } }] : [{ text: 'Good morning! ☀' }],
    });
    recorded.push(await ask(daemon, call));
  }
  await daemon.stop();
  await Promise.all([fakes.openai.close(), fakes.anthropic.close(), fakes.google.close()]);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe('recording', () => {
  test('stores each call in its own file, readable by its owner only and named after the call', async () => {
    const names = await readdir(folder);
    expect(names).toHaveLength(calls.length);
    for (const name of names) {
      expect(name).toMatch(/^\d{8}T\d{6}-\d{3}Z_\d{4}_(openai|anthropic|google)_[\w.-]+_[0-9a-f]{8}\.yaml$/);
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    }
  });

  test('omits every key', async () => {
    for (const name of await readdir(folder)) {
      const text = await readFile(join(folder, name), 'utf8');
      expect(text).not.toContain('canary');
      expect(text).toContain('[removed]');
    }
  });
});

describe('replaying', () => {
  test('gives clients the same answers with no provider, no network and no key', async () => {
    const daemon = await startDaemon({ config, replay: folder });
    try {
      for (const [at, call] of calls.entries()) expect(await ask(daemon, call)).toBe(recorded[at]);
      // The last recording of a request answers it from then on.
      for (const [at, call] of calls.entries()) expect(await ask(daemon, call)).toBe(recorded[at]);
    } finally {
      await daemon.stop();
    }
  });

  test('fails for a call that was not recorded, naming the nearest recording and the difference', async () => {
    const daemon = await startDaemon({ config, replay: folder });
    try {
      const answer = await daemon.fetch('/v1/responses', {
        json: { model: models[1], input: 'Weather in Rome?', tools },
      });
      expect(answer.status).toBe(502);
      const { error } = (await answer.json()) as { error: { message: string } };
      expect(error.message).toMatch(
        /was not recorded.*_anthropic_.*\.yaml; the first difference is messages\[0\]/,
      );
      expect(error.message).toContain('Rome');
      expect(daemon.printed().stderr).toContain('was not recorded');
    } finally {
      await daemon.stop();
    }
  });

  test('replays several recordings of one request in order, then repeats the last', async () => {
    const several = await mkdtemp(join(tmpdir(), 'gateway-recordings-'));
    const [name = ''] = (await readdir(folder)).filter((file) => file.includes('_anthropic_'));
    const text = await readFile(join(folder, name), 'utf8');
    await writeFile(join(several, '1.yaml'), text);
    await writeFile(join(several, '2.yaml'), text.replaceAll('morning', 'evening'));
    const call = calls.find(({ json }) => json.model === models[1]) as (typeof calls)[number];
    const daemon = await startDaemon({ config, replay: several });
    try {
      // The request of the second file is another one now.
      expect(await ask(daemon, call)).toContain('morning');
      await daemon.stop();
      await writeFile(
        join(several, '2.yaml'),
        text.replace(/Good m/g, 'Bad m').replace(/ood morning!/g, 'ad one!'),
      );
      const again = await startDaemon({ config, replay: several });
      const answers = [await ask(again, call), await ask(again, call), await ask(again, call)];
      expect(answers[1]).not.toBe(answers[0]);
      expect(answers[2]).toBe(answers[1]);
      await again.stop();
    } finally {
      await rm(several, { recursive: true, force: true });
    }
  });

  test('breaks off where the recorded answer did', async () => {
    const broken = await mkdtemp(join(tmpdir(), 'gateway-recordings-'));
    const [name = ''] = (await readdir(folder)).filter((file) =>
      /_0004_.*anthropic|_0010_.*anthropic/.test(file),
    );
    const text = await readFile(join(folder, name), 'utf8');
    const cut = text
      .replace('ended: complete', 'ended: broken')
      .replace(/event: message_delta[\s\S]*$/, '\n');
    await writeFile(join(broken, 'a.yaml'), cut);
    const daemon = await startDaemon({ config, replay: broken });
    try {
      const answer = await daemon.fetch('/v1/responses', {
        json: { model: models[1], input: 'Say good morning. ☀', stream: true },
      });
      const events = await answer.text();
      expect(events).toContain('response.output_text.delta');
      expect(events).toContain('response.failed');
    } finally {
      await daemon.stop();
      await rm(broken, { recursive: true, force: true });
    }
  });

  test('alongside recording answers known calls and records new ones', async () => {
    const both = await mkdtemp(join(tmpdir(), 'gateway-recordings-'));
    const openai = await startFakeOpenAi({ keys: [env.OPENAI_API_KEY] });
    const options = {
      config: `providers: {openai: {base_url: "${openai.baseUrl}"}}`,
      env,
      record: both,
      replay: both,
    };
    const json = { model: models[0], input: 'Once?' };
    try {
      for (const answered of [1, 1]) {
        const daemon = await startDaemon(options);
        expect((await daemon.fetch('/v1/responses', { json })).status).toBe(200);
        await daemon.stop();
        expect(openai.requests).toHaveLength(answered);
        expect(await readdir(both)).toHaveLength(1);
      }
    } finally {
      await openai.close();
      await rm(both, { recursive: true, force: true });
    }
  });

  test('reports line and column of a mistake in an edited file', async () => {
    const wrong = await mkdtemp(join(tmpdir(), 'gateway-recordings-'));
    try {
      await writeFile(
        join(wrong, 'a.yaml'),
        'recorded_at: now\nprovider: openai\nrequest: 3\nresponse: {status: 20}\n',
      );
      const started = startDaemon({ config, replay: wrong });
      await expect(started).rejects.toThrow(/a\.yaml:3:10: `request` must be a map/);
    } finally {
      await rm(wrong, { recursive: true, force: true });
    }
  });
});
