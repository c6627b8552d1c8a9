import { describe, expect, test } from 'vitest';
import {
  catalogHandlers,
  type ProviderDescription,
  SpeedMeter,
} from '../../../../src/daemon/features/catalog/index.ts';
import { getModel, listModels } from '../../../../src/shared/contract/models.ts';
import { listRates } from '../../../../src/shared/contract/rates.ts';
import { callHandler } from '../../../support/call-handler.ts';
import { catalogOf, makers, prices, provider, simulator } from '../../../support/catalog.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

describe('the public pages', () => {
  function pages(
    providers: ProviderDescription[],
    {
      marginPpm = 0,
      ownKeys = [],
      used = [],
    }: { marginPpm?: number; ownKeys?: string[]; used?: string[] } = {},
  ) {
    const world = fakeWorld();
    const speed = new SpeedMeter(world);
    const handlers = catalogHandlers({
      catalog: catalogOf(providers, { world }),
      speed,
      world,
      settings: { marginPpm },
      listings: { refresh: async () => [] },
      ownKeysOf: (workspaceId) => new Set(workspaceId === 'ws_1' ? ownKeys : []),
      hostCreatedAt: () => Date.UTC(2026, 10, 20),
      usedModels: async ({ workspaceId }) => (workspaceId === 'ws_1' ? used : []),
      usableBy:
        (_caller, ownKeys) =>
        ({ offers }) =>
          offers.some(({ available, provider }) => available || ownKeys.has(provider)),
      isStopped: (name) => name === 'ollama',
    });
    return { speed, handlers };
  }
  const anonymous = { caller: { kind: 'anonymous' } } as const;
  const login = {
    kind: 'login',
    loginId: 'key_1',
    userId: 'usr_1',
    revoked: new AbortController().signal,
  } as const;
  const member = { caller: { ...login, workspaceId: 'ws_1' } };
  const stranger = { caller: { ...login, workspaceId: 'ws_2' } };

  test('a model shows its providers, their availability, prices and speed', async () => {
    const { speed, handlers } = pages([
      provider('openai', 'openai', {
        available: false,
        prices: { 'gpt-5': { ...prices, input: 1_000_000_000 } },
      }),
      provider('openrouter', 'openrouter'),
    ]);
    speed.attempted('openrouter', 'openai/gpt-5', { isOk: true, ttftMs: 300 });
    const entry = await callHandler(handlers, getModel, { ...anonymous, params: { model: 'gpt-5' } });
    expect(entry).toMatchObject({
      id: 'openai/gpt-5',
      object: 'model',
      owned_by: 'openai',
      service: {
        name: 'GPT-5',
        context_length: 400_000,
        max_output_tokens: 128_000,
        capabilities: { input_modalities: ['text', 'image', 'file'], tools: true, logprobs: false },
        prices: { input: '2', cached_input: '0.5', cache_write: '2.5', output: '8' },
        live: { window: '1h', attempts: 1, uptime: 1 },
      },
    });
    expect(entry.service.providers).toMatchObject([
      {
        provider: 'openai',
        model: 'gpt-5',
        available: false,
        reason: 'no key: set OPENAI_API_KEY',
        live: null,
      },
      { provider: 'openrouter', model: 'openai/gpt-5', available: true, reason: null, live: { attempts: 1 } },
    ]);
    expect(entry.service.providers[0]?.prices?.input).toBe('1');
  });

  test('the list has the models that a workspace used of a provider that is sent any name', async () => {
    const used = ['wild/one', 'wild/two', 'listed/m', 'gone/m', 'alias-of-nothing'];
    const providers = [
      provider('wild', 'compatible', { models: '*' }),
      provider('listed', 'compatible', { models: ['m'] }),
    ];
    const { handlers } = pages(providers, { used });
    const idsFor = async (who: typeof anonymous | typeof member) =>
      (await callHandler(handlers, listModels, who)).data.map(({ id }) => id);
    expect(await idsFor(member)).toEqual(['listed/m', 'wild/one', 'wild/two']);
    expect(await idsFor(stranger)).toEqual(['listed/m']);
    expect(await idsFor(anonymous)).toEqual(['listed/m']);
  });

  test('the list has each model once, available ones first, with null for unknown', async () => {
    const { handlers } = pages([...makers, provider('dark', 'compatible', { models: ['m'] }), simulator]);
    const { data } = await callHandler(handlers, listModels, { ...anonymous, query: { all: true } });
    expect(data.map(({ id }) => id)).toEqual([
      'openai/gpt-5',
      'openai/gpt-5-mini',
      'openai/o3',
      'openai/text-embedding-3-small',
      'dark/m',
      'sim/assistant',
      'sim/slow',
      'anthropic/claude-opus-4-5',
      'anthropic/claude-opus-4-0',
    ]);
    const dark = data.find(({ id }) => id === 'dark/m');
    expect(dark?.service).toMatchObject({
      prices: null,
      context_length: null,
      capabilities: { tools: null },
    });
  });

  test('a local server that does not run is listed only with all models, as unavailable', async () => {
    const { handlers } = pages([provider('ollama', 'local', { models: ['qwen3'] }), simulator]);
    const { data } = await callHandler(handlers, listModels, anonymous);
    expect(data.map(({ id }) => id)).toEqual(['sim/assistant', 'sim/slow']);
    const every = await callHandler(handlers, listModels, { ...anonymous, query: { all: true } });
    const why = { available: false, reason: 'it does not answer: start it' };
    expect(every.data.find(({ id }) => id === 'ollama/qwen3')?.service.providers).toMatchObject([why]);
  });

  test('a rate is the provider’s price, the margin and their exact sum', async () => {
    const { handlers } = pages(
      [makers[0] as ProviderDescription, provider('dark', 'compatible', { models: ['m'] })],
      { marginPpm: 33_333 },
    );
    const card = await callHandler(handlers, listRates, anonymous);
    expect(card).toMatchObject({ margin_percent: 3.3333, as_of: '2026-11-21T08:00:00.000Z' });
    expect(card.data[0]).toMatchObject({
      model: 'openai/gpt-5',
      provider: 'openai',
      kind: 'list',
      input: { provider_usd: '2', margin_usd: '0.066666', total_usd: '2.066666' },
      cached_input: { provider_usd: '0.5', margin_usd: '0.0166665', total_usd: '0.5166665' },
    });
    expect(card.data.at(-1)).toMatchObject({ model: 'dark/m', input: null, output: null });
  });

  test('the workspace’s own keys make models available, to its callers only', async () => {
    const { handlers } = pages(
      [
        provider('openai', 'openai', { available: false }),
        provider('openrouter', 'openrouter', { available: false }),
        simulator,
      ],
      { ownKeys: ['openai', 'openrouter'] },
    );
    const idsOf = async (who: typeof anonymous | typeof member) =>
      (await callHandler(handlers, listModels, who)).data.map(({ id }) => id);
    const gpt = { params: { model: 'gpt-5' } };
    const own = await callHandler(handlers, getModel, { ...member, ...gpt });
    expect(own.service.providers).toMatchObject([
      { provider: 'openai', available: true, reason: null },
      { provider: 'openrouter', available: true, reason: null },
    ]);
    expect((await idsOf(member))[0]).toBe('openai/gpt-5');
    // Only OpenRouter has it.
    expect(await idsOf(member)).toContain('x-ai/grok-4');
    expect((await callHandler(handlers, getModel, { ...member, params: { model: 'grok-4' } })).id).toBe(
      'x-ai/grok-4',
    );
    for (const other of [anonymous, stranger]) {
      const { service } = await callHandler(handlers, getModel, { ...other, ...gpt });
      expect(service.providers[0]).toMatchObject({ available: false, reason: 'no key: set OPENAI_API_KEY' });
      expect(await idsOf(other)).not.toContain('x-ai/grok-4');
      expect((await idsOf(other))[0]).toBe('sim/assistant');
    }
  });

  test('a provider that accepts any model posts its prices', async () => {
    const { handlers } = pages([
      provider('box', 'compatible', {
        models: '*',
        prices: { special: prices, '*': { ...prices, input: 1 } },
      }),
      provider('dark', 'compatible', { models: '*' }),
    ]);
    const { data } = await callHandler(handlers, listRates, anonymous);
    expect(data.map(({ model, provider: name, input }) => [model, name, input?.total_usd])).toEqual([
      ['box/special', 'box', '2'],
      ['box/*', 'box', '0.000000001'],
    ]);
  });

  test('a model was created when its provider says, at its first snapshot, or with the host', async () => {
    const day = (date: string) => Date.parse(date) / 1000;
    const { handlers } = pages([
      provider('openai', 'openai', { details: { 'gpt-5': { createdAt: 1_754_425_777 }, 'gpt-5-mini': {} } }),
      provider('box', 'compatible', { models: ['m-2025-08-07', 'm-20250514', 'gpt-4-1106'] }),
      simulator,
    ]);
    const { data } = await callHandler(handlers, listModels, anonymous);
    expect(Object.fromEntries(data.map(({ id, created }) => [id, created]))).toEqual({
      'openai/gpt-5': 1_754_425_777,
      'openai/gpt-5-mini': day('2026-11-20'),
      'box/m-2025-08-07': day('2025-08-07'),
      'box/m-20250514': day('2025-05-14'),
      'box/gpt-4-1106': day('2026-11-20'),
      'sim/assistant': day('2026-11-20'),
      'sim/slow': day('2026-11-20'),
    });
  });
});
