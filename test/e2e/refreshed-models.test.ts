import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ModelEntry } from '../../src/shared/contract/models.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

/** What each provider's list of models looks like, by the path that it is asked under. */
const lists: Record<string, unknown> = {
  '/openai/models': {
    object: 'list',
    data: [
      { id: 'gpt-9', object: 'model', created: 1_790_000_000, owned_by: 'openai' },
      { id: 'text-embedding-9', object: 'model', created: 1, owned_by: 'openai' },
    ],
  },
  '/anthropic/v1/models?limit=1000': {
    data: [
      {
        type: 'model',
        id: 'claude-opus-9',
        display_name: 'Claude Opus 9',
        created_at: '2026-10-01T00:00:00Z',
      },
    ],
    has_more: true,
    last_id: 'claude-opus-9',
  },
  '/anthropic/v1/models?limit=1000&after_id=claude-opus-9': {
    data: [{ type: 'model', id: 'claude-haiku-9', display_name: 'Claude Haiku 9' }],
    has_more: false,
  },
  '/google/models?pageSize=1000': {
    models: [
      {
        name: 'models/gemini-9-pro',
        displayName: 'Gemini 9 Pro',
        inputTokenLimit: 2_000_000,
        outputTokenLimit: 70_000,
        supportedGenerationMethods: ['generateContent'],
      },
      { name: 'models/gemini-9-embed', supportedGenerationMethods: ['embedContent'] },
    ],
  },
  '/openrouter/models': {
    data: [
      {
        id: 'acme/big',
        name: 'Acme: Big',
        created: 1_780_000_000,
        context_length: 123_456,
        architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
        pricing: { prompt: '0.00000015', completion: '6e-7', input_cache_read: '0.000000075' },
        top_provider: { max_completion_tokens: 9_000 },
        supported_parameters: ['tools'],
      },
      { id: 'acme/painter', architecture: { output_modalities: ['image'] } },
    ],
  },
};

/** The keys that each call came with; a provider that is `down` answers 500. */
const seen: string[] = [];
let down = '';
let server: Server;
let daemon: RunningDaemon;
let config: string;

const env = {
  OPENAI_API_KEY: 'sk-listing',
  ANTHROPIC_API_KEY: 'sk-ant-listing',
  GEMINI_API_KEY: 'AIzalisting',
  OPENROUTER_API_KEY: 'sk-or-listing',
};

beforeAll(async () => {
  server = createServer((request, response) => {
    const { url = '', headers } = request;
    seen.push(
      `${url.split('/')[1]} ${headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key']}`,
    );
    const list = url.startsWith(`/${down || '-'}`) ? undefined : lists[url];
    response.writeHead(list ? 200 : 500, { 'content-type': 'application/json' });
    response.end(JSON.stringify(list ?? { error: { message: 'sk-secret detail' } }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const places = ['openai', 'anthropic', 'google', 'openrouter'].map(
    (name) => `  ${name}: {base_url: "${base}/${name}"}`,
  );
  config = `providers:\n${places.join('\n')}\n`;
  daemon = await startDaemon({ config, env });
});

afterAll(async () => {
  await daemon.stop();
  server.close();
});

async function models(): Promise<Map<string, ModelEntry>> {
  const answer = await daemon.fetch('/v1/models');
  const { data } = (await answer.json()) as { data: ModelEntry[] };
  return new Map(data.map((model) => [model.id, model]));
}

const refresh = () => runCli(['models', 'refresh', '--json'], { env: { GATEWAY_HOME: daemon.home } });

describe('models refresh', () => {
  test('replaces the known models by those that providers list, with their details', async () => {
    expect((await models()).has('openai/gpt-9')).toBe(false);
    const { stdout, code } = await refresh();
    expect(code).toBe(0);
    const rows = JSON.parse(stdout) as { provider: string; models: number; error: string | null }[];
    expect(rows.map(({ provider, models: count, error }) => [provider, count, error])).toEqual([
      ['openai', 1, null],
      ['anthropic', 2, null],
      ['google', 2, null],
      ['openrouter', 1, null],
    ]);
    const all = await models();
    expect(all.get('openai/gpt-9')).toMatchObject({ created: 1_790_000_000 });
    expect(all.has('openai/text-embedding-9')).toBe(false);
    expect(all.get('anthropic/claude-opus-9')?.service.name).toBe('Claude Opus 9');
    expect(all.has('anthropic/claude-haiku-9')).toBe(true);
    expect(all.get('google/gemini-9-embed')?.service.capabilities).toMatchObject({ kind: 'embedding' });
    expect(all.get('google/gemini-9-pro')?.service).toMatchObject({
      context_length: 2_000_000,
      max_output_tokens: 70_000,
    });
    expect(all.get('acme/big')?.service).toMatchObject({
      name: 'Acme: Big',
      context_length: 123_456,
      max_output_tokens: 9_000,
      prices: { input: '0.15', cached_input: '0.075', cache_write: '0.15', output: '0.6' },
      capabilities: { input_modalities: ['text', 'image'], tools: true, structured_output: false },
    });
    expect(all.has('acme/painter')).toBe(false);
    expect(new Set(seen)).toEqual(
      new Set([
        'openai Bearer sk-listing',
        'anthropic sk-ant-listing',
        'google AIzalisting',
        'openrouter Bearer sk-or-listing',
      ]),
    );
  });

  test('keeps the previous list of a provider that is unreachable, and says so', async () => {
    down = 'google';
    const { stdout, code } = await refresh();
    down = '';
    expect(code).toBe(7);
    const google = (JSON.parse(stdout) as { provider: string; models: number; error: string }[]).find(
      ({ provider }) => provider === 'google',
    );
    expect(google).toMatchObject({ models: 2, error: 'google answered with status 500' });
    expect(stdout).not.toContain('secret');
    expect((await models()).has('google/gemini-9-pro')).toBe(true);
  });

  test('distrusts a nearly empty list until the provider sends it again', async () => {
    const all = ['a', 'b', 'c', 'd'].map((name) => ({ id: `gpt-9-${name}`, object: 'model', created: 1 }));
    const few = { object: 'list', data: all.slice(0, 1) };
    const openai = async () => {
      const { stdout, code } = await refresh();
      const rows = JSON.parse(stdout) as { provider: string; models: number; error: string | null }[];
      const { models: count, error } = rows.find(({ provider }) => provider === 'openai') ?? {};
      return { code, count, error };
    };
    const before = lists['/openai/models'];
    lists['/openai/models'] = { object: 'list', data: all };
    expect(await openai()).toEqual({ code: 0, count: 4, error: null });
    for (const data of [[], all.slice(1, 2), all.slice(0, 1)]) {
      lists['/openai/models'] = { object: 'list', data };
      expect(await openai()).toEqual({
        code: 7,
        count: 4,
        error: expect.stringMatching(/^It listed (no|only 1)/),
      });
      expect((await models()).has('openai/gpt-9-d')).toBe(true);
    }
    expect(lists['/openai/models']).toEqual(few);
    expect(await openai()).toEqual({ code: 0, count: 1, error: null });
    lists['/openai/models'] = before;
  });

  test('keeps the time under which a model was first listed', async () => {
    const before = lists['/openai/models'];
    const listed = (created: number) => ({
      object: 'list',
      data: [{ id: 'gpt-9-now', object: 'model', created }],
    });
    for (const created of [1_800_000_000, 1_800_000_060]) {
      lists['/openai/models'] = listed(created);
      await refresh();
      expect((await models()).get('openai/gpt-9-now')?.created).toBe(1_800_000_000);
    }
    lists['/openai/models'] = before;
    await refresh();
  });

  test('survives a restart', async () => {
    const { home } = daemon;
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ config, env, home });
    expect((await models()).get('acme/big')?.service.prices?.input).toBe('0.15');
  });
});
