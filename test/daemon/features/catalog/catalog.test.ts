import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createModelListings,
  defaultModel,
  type ProviderDescription,
  unknownModels,
} from '../../../../src/daemon/features/catalog/index.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { catalogOf, library, makers, prices, provider, simulator } from '../../../support/catalog.ts';
import { failureOf } from '../../../support/failure-of.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

describe('a name resolves', () => {
  const catalog = catalogOf([
    ...makers,
    provider('openrouter', 'openrouter'),
    provider('vercel', 'vercel', { available: false }),
    provider('groq', 'compatible', {
      models: ['openai/gpt-oss-20b', 'llama-3.3'],
      prices: { 'llama-3.3': prices },
    }),
    provider('box', 'compatible', { models: ['llama-3.3', 'qwen3'] }),
    provider('any', 'compatible', { models: '*' }),
    provider('ollama', 'local', { models: ['qwen3:8b', 'llama3.2:latest'] }),
    simulator,
  ]);

  test.each([
    ['openai/gpt-5', 'openai/gpt-5', ['openai', 'openrouter', 'vercel']],
    ['gpt-5', 'openai/gpt-5', ['openai', 'openrouter', 'vercel']],
    ['anthropic/claude-opus-4.5', 'anthropic/claude-opus-4-5', ['anthropic', 'openrouter', 'vercel']],
    ['claude-opus-4', 'anthropic/claude-opus-4-0', ['anthropic', 'vercel']],
    ['openrouter/openai/gpt-5', 'openai/gpt-5', ['openrouter']],
    ['grok-4', 'x-ai/grok-4', ['openrouter']],
    ['groq/llama-3.3', 'groq/llama-3.3', ['groq']],
    ['gpt-oss-20b', 'groq/openai/gpt-oss-20b', ['groq']],
    ['any/what/ever', 'any/what/ever', ['any']],
    ['openai/gpt-99', 'openai/gpt-99', ['openai']],
    ['openai/gpt-5-2025-08-07', 'openai/gpt-5-2025-08-07', ['openai']],
    ['openrouter/new/thing', 'new/thing', ['openrouter']],
    ['assistant', 'sim/assistant', ['simulator']],
    ['qwen3:8b', 'ollama/qwen3:8b', ['ollama']],
    // iDiagoValeta/localOllamaRAG#129, ogx-ai/ogx#1903, microsoft/genaiscript#1698
    ['llama3.2', 'ollama/llama3.2:latest', ['ollama']],
    ['ollama/llama3.2', 'ollama/llama3.2:latest', ['ollama']],
    ['llama3.2:latest', 'ollama/llama3.2:latest', ['ollama']],
    // What Claude Code and others send: anthropics/claude-code#41120, BerriAI/litellm#12061, finch-xu/cc-router#22
    ['claude-opus-4-5-20251101', 'anthropic/claude-opus-4-5', ['anthropic', 'openrouter', 'vercel']],
    ['claude-opus-4-5@20251101', 'anthropic/claude-opus-4-5', ['anthropic', 'openrouter', 'vercel']],
    ['anthropic/claude-opus-4-5[1m]', 'anthropic/claude-opus-4-5', ['anthropic', 'openrouter', 'vercel']],
    ['claude-opus-4-5-20251101[1m]', 'anthropic/claude-opus-4-5', ['anthropic', 'openrouter', 'vercel']],
    // From a file: savvagent/light-factory#73.
    [' anthropic/claude-opus-4-5\n', 'anthropic/claude-opus-4-5', ['anthropic', 'openrouter', 'vercel']],
    ['gpt-5-2025-08-07', 'openai/gpt-5', ['openai', 'openrouter', 'vercel']],
  ])('%s → %s at %j', async (name, id, providers) => {
    const resolution = await catalog.resolve(name);
    expect(resolution.id).toBe(id);
    expect(resolution.offers.map((offer) => offer.provider)).toEqual(providers);
    expect(await catalog.resolve(name)).toBe(resolution);
  });

  test('the context that a server lists is shown, but money does not rest on it', async () => {
    const details = { m: { contextLength: 4096 } };
    const contextOf = async (kind: 'compatible' | 'local') => {
      const [offer] = (await catalogOf([provider('box', kind, { models: ['m'], details })]).resolve('box/m'))
        .offers;
      return [offer?.contextLength, offer?.isContextUnsure];
    };
    expect(await contextOf('compatible')).toEqual([4096, true]);
    expect(await contextOf('local')).toEqual([4096, undefined]);
  });

  test('each provider gets its own name of the model', async () => {
    const { offers } = await catalog.resolve('claude-opus-4-5');
    expect(offers.map(({ provider: name, providerModel }) => [name, providerModel])).toEqual([
      ['anthropic', 'claude-opus-4-5'],
      ['openrouter', 'anthropic/claude-opus-4.5'],
      ['vercel', 'anthropic/claude-opus-4.5'],
    ]);
  });

  test.each([
    ['gtp-5', ['openai/gpt-5']],
    ['opnai/gpt-5', ['openai/gpt-5']],
    ['groq/lama-3.3', ['groq/llama-3.3']],
    ['sim/asistant', ['sim/assistant']],
    ['gtp-5-2025-08-07', []],
  ])('%s: nothing, with suggestions', async (name, nearest) => {
    const failure = await failureOf(catalog.resolve(name));
    expect(failure).toMatchObject({ code: 'model_not_found', param: 'model', status: 404 });
    for (const id of nearest) expect(failure.message).toContain(id);
  });

  test('a plain name of several models: to each of them, its maker’s first', async () => {
    const upstream = (name: string, more: Partial<ProviderDescription>) => provider(name, 'compatible', more);
    const listed = (listedAt: number) => ({ details: { 'gpt-5': { listedAt }, llama: { listedAt } } });
    const several = catalogOf([
      upstream('late', listed(20)),
      provider('ollama', 'local', { models: ['gpt-5', 'llama', 'qwen3'] }),
      upstream('early', listed(10)),
      upstream('named', { models: ['gpt-5', 'llama'] }),
      provider('openrouter', 'openrouter', { models: ['meta/llama', 'openai/gpt-5'] }),
      ...makers,
    ]);
    const idsOf = async (name: string) => (await several.resolveAll(name, [])).map(({ id }) => id);
    const upstreams = (name: string) => ['named', 'early', 'late', 'ollama'].map((one) => `${one}/${name}`);
    for (let time = 0; time < 2; time += 1) {
      expect(await idsOf('gpt-5')).toEqual(['openai/gpt-5', ...upstreams('gpt-5')]);
      expect(await idsOf('llama')).toEqual(['meta/llama', ...upstreams('llama')]);
      expect(await idsOf('openai/gpt-5')).toEqual(['openai/gpt-5']);
      expect(await idsOf('qwen3')).toEqual(['ollama/qwen3']);
    }
    const keyless = catalogOf([
      provider('openai', 'openai', { available: false }),
      upstream('early', listed(10)),
    ]);
    expect((await keyless.resolveAll('gpt-5', [])).map(({ id }) => id)).toEqual(['early/gpt-5']);
  });

  test('a plain name keeps its meaning whatever providers list, in any order and over restarts', async () => {
    const names = ['gpt-5', 'llama', 'qwen', 'mistral', 'phi'];
    const lists = fc.subarray(names, { minLength: 1 });
    const change = fc.record({
      upstream: fc.constantFrom('a', 'b', 'c'),
      list: fc.option(lists, { nil: undefined }),
      restarts: fc.boolean(),
    });
    const scenario = fc.record({
      hasMaker: fc.boolean(),
      order: fc.shuffledSubarray(['a', 'b', 'c'], { minLength: 3 }),
      changes: fc.array(change, { maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ hasMaker, order, changes }) => {
        const state = { now: 1, stored: '', lists: new Map<string, readonly string[]>() };
        const start = () => {
          const upstreams = order.map((name) => provider(name, 'compatible', { models: '*', baseUrl: name }));
          const descriptions = new Map(
            [...(hasMaker ? makers : []), ...upstreams].map((one) => [one.name, one] as const),
          );
          const started = catalogOf([...descriptions.values()]);
          const listings = createModelListings({
            providers: () =>
              [...descriptions.values()].map((description) => ({
                description,
                ...(description.kind === 'compatible' && {
                  listModels: async () => (state.lists.get(description.name) ?? []).map((name) => ({ name })),
                }),
              })),
            replace(listed) {
              for (const [name, details] of listed)
                descriptions.set(name, { ...(descriptions.get(name) as ProviderDescription), details });
              started.replaceProviders([...descriptions.values()]);
            },
            count: async () => 0,
            save: async (text) => {
              state.stored = text;
            },
            now: () => state.now,
          });
          if (state.stored !== '') listings.restore(state.stored);
          return { started, listings };
        };
        const idOf = async (started: typeof catalog, name: string) => {
          try {
            return (await started.resolveAll(name, []))[0]?.id;
          } catch {
            return undefined;
          }
        };
        let daemon = start();
        const meanings = new Map<string, string>();
        for (const { upstream, list, restarts } of changes) {
          state.now += 1;
          if (list !== undefined) state.lists.set(upstream, list);
          await daemon.listings.refresh();
          if (restarts) daemon = start();
          for (const name of names) {
            const found = await idOf(daemon.started, name);
            const before = meanings.get(name);
            const isStillThere =
              before !== undefined && (await daemon.started.all()).some(({ id }) => id === before);
            if (isStillThere) expect(found).toBe(before);
            if (found !== undefined) meanings.set(name, found);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    'constructor',
    '__proto__',
    'any/',
    '/',
    '',
    'sim/',
    'x'.repeat(5_000),
    'constructor/prototype',
  ])('nothing for %s', async (name) => {
    const failure = await failureOf(catalog.resolve(name));
    expect(failure.code).toBe('model_not_found');
    expect(failure.message.length).toBeLessThan(400);
  });

  test('any text resolves to something priced in integers or fails cleanly', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        fc.constantFrom('', 'any/', 'openai/', 'openrouter/'),
        async (text, head) => {
          const outcome = await catalog.resolve(head + text).catch((error: unknown) => error);
          if (outcome instanceof ApiError) expect(outcome.code).toBe('model_not_found');
          else expect(outcome).toMatchObject({ offers: [{ prices: null }] });
        },
      ),
      { numRuns: 200, examples: [['constructor', 'any/']] },
    );
  });
});

describe('forwarded names', () => {
  test('an unlisted name is forwarded to a provider only for workspaces with their own key', async () => {
    const catalog = catalogOf(makers);
    const ownKeys = new Set(['anthropic']);
    const resolution = await catalog.resolve('anthropic/claude-next', { ownKeys });
    expect(resolution.offers[0]).toMatchObject({ provider: 'anthropic', available: false });
    const failure = await failureOf(catalog.resolve('anthropic/claude-next'));
    expect(failure.message).toContain('ANTHROPIC_API_KEY');
  });

  test('a reseller with `*` gets every family/name', async () => {
    const catalog = catalogOf([provider('openrouter', 'openrouter', { models: '*' }), simulator]);
    expect((await catalog.resolve('new/thing')).offers[0]?.providerModel).toBe('new/thing');
    expect((await failureOf(catalog.resolve('thing'))).code).toBe('model_not_found');
  });

  test('models that only a reseller without a key has are not listed', async () => {
    const catalog = catalogOf([...makers, provider('openrouter', 'openrouter', { available: false })]);
    const ids = (await catalog.all()).map(({ id }) => id);
    expect(ids).not.toContain('x-ai/grok-4');
    expect(ids).toContain('openai/gpt-5');
  });
});

describe('aliases, fallbacks and changes', () => {
  const settings = {
    aliases: { fast: 'gpt-5-mini' },
    fallbacks: { fast: ['sim/assistant', 'gone'], 'openai/o3': ['fast'] },
  };

  test('an alias resolves to its model with its fallbacks, without unknown ones', async () => {
    const catalog = catalogOf([...makers, simulator], settings);
    const all = await catalog.resolveAll('fast', []);
    expect(all.map(({ id }) => id)).toEqual(['openai/gpt-5-mini', 'sim/assistant']);
  });

  test('the caller’s fallbacks replace configured ones, and an unknown one is an error', async () => {
    const catalog = catalogOf([...makers, simulator], settings);
    const all = await catalog.resolveAll('fast', ['o3']);
    expect(all.map(({ id }) => id)).toEqual(['openai/gpt-5-mini', 'openai/o3']);
    const failure = await failureOf(Promise.resolve(catalog.resolveAll('fast', ['o3', 'nope-nope'])));
    expect(failure).toMatchObject({ code: 'model_not_found', param: 'service.fallbacks[1]' });
  });

  test('replaced providers apply immediately', async () => {
    const catalog = catalogOf([provider('openai', 'openai', { available: false }), simulator]);
    expect((await catalog.resolve('gpt-5')).offers[0]?.available).toBe(false);
    catalog.replaceProviders([provider('openai', 'openai'), simulator]);
    expect((await catalog.resolve('gpt-5')).offers[0]?.available).toBe(true);
  });
});

describe('prices', () => {
  test('configured prices come first, then the library’s; local servers and the simulator are free; others are unknown', async () => {
    const set = { ...prices, input: 1 };
    const catalog = catalogOf([
      provider('openai', 'openai', { prices: { 'gpt-5': set } }),
      provider('box', 'compatible', { models: '*', prices: { special: prices, '*': set } }),
      provider('dark', 'compatible', { models: ['m'] }),
      provider('ollama', 'local', { models: ['m'] }),
      simulator,
    ]);
    const priceOf = async (name: string) => (await catalog.resolve(name)).offers[0]?.prices;
    expect(await priceOf('openai/gpt-5')).toEqual(set);
    expect(await priceOf('openai/gpt-5-mini')).toMatchObject({ input: 2_000_000_000 });
    expect(await priceOf('box/special')).toEqual(prices);
    expect(await priceOf('box/constructor')).toEqual(set);
    expect(await priceOf('dark/m')).toBeNull();
    expect(await priceOf('ollama/m')).toMatchObject({ input: 0, output: 0 });
    expect(await priceOf('sim/slow')).toMatchObject({ input: 0, output: 0 });
  });

  test('a price that depends on the hour is updated', async () => {
    const world = fakeWorld();
    const catalog = catalogOf(makers, { world });
    const priceNow = async () => (await catalog.resolve('o3')).offers[0]?.prices?.input;
    expect(await priceNow()).toBe(2_000_000_000);
    await world.advance(3_600_000);
    expect(await priceNow()).toBe(4_000_000_000);
    const listed = (await catalog.all()).find(({ id }) => id === 'openai/o3');
    expect(listed?.offers[0]?.prices?.input).toBe(4_000_000_000);
  });

  test('the simulator works without the price library; other models fail until it loads', async () => {
    let isBroken = true;
    const loadPrices = async () => {
      if (isBroken) throw new Error('not installed');
      return library;
    };
    const catalog = catalogOf([...makers, simulator], { loadPrices });
    expect((await catalog.resolve('sim/assistant')).id).toBe('sim/assistant');
    await expect(catalog.resolve('gpt-5')).rejects.toThrow('not installed');
    isBroken = false;
    expect((await catalog.resolve('gpt-5')).id).toBe('openai/gpt-5');
  });

  test('a server with a price for all its models needs no price library, unless a reseller may list the same', async () => {
    const loadPrices = () => Promise.reject(new Error('not installed'));
    const server = provider('x-ai', 'compatible', { models: '*', prices: { '*': prices } });
    const unpriced = provider('acme', 'compatible', { models: '*' });
    const catalog = catalogOf([...makers, server, unpriced, simulator], { loadPrices });
    const { id, offers } = await catalog.resolve('x-ai/grok-4');
    expect({ id, prices: offers[0]?.prices }).toEqual({ id: 'x-ai/grok-4', prices });
    await expect(catalog.resolve('acme/any')).rejects.toThrow('not installed');
    await expect(catalog.resolve('grok-4')).rejects.toThrow('not installed');
    const reseller = provider('openrouter', 'openrouter');
    const resold = catalogOf([...makers, server, reseller], { loadPrices });
    await expect(resold.resolve('x-ai/grok-4')).rejects.toThrow('not installed');
    const unavailable = provider('openrouter', 'openrouter', { available: false });
    const own = catalogOf([...makers, server, unavailable], { loadPrices });
    expect((await own.resolve('x-ai/grok-4')).offers.map((offer) => offer.provider)).toEqual(['x-ai']);
    await expect(own.resolve('x-ai/grok-4', { ownKeys: new Set(['openrouter']) })).rejects.toThrow();
  });
});

describe('the default model', () => {
  const of = async (providers: ProviderDescription[], configured?: string) =>
    defaultModel(configured, await catalogOf(providers).all(), providers);
  const ollama = provider('ollama', 'local', { models: ['nomic-embed-text', 'qwen3'] });

  test('is the configured one, whatever else is available', async () => {
    expect(await of([...makers, ollama, simulator], 'acme/large')).toEqual({
      default_model: 'acme/large',
      default_model_source: 'configuration',
      suggested_model: null,
    });
  });

  test('never costs money without being configured; a paid one is suggested', async () => {
    expect(await of([...makers, simulator])).toEqual({
      default_model: 'sim/assistant',
      default_model_source: 'simulator',
      suggested_model: 'openai/gpt-5-mini',
    });
    expect(await of([provider('openai', 'openai', { available: false }), simulator])).toMatchObject({
      default_model: 'sim/assistant',
      suggested_model: null,
    });
  });

  test('is one of a local server that can answer', async () => {
    expect(await of([ollama, simulator])).toEqual({
      default_model: 'ollama/qwen3',
      default_model_source: 'local_server',
      suggested_model: null,
    });
  });
});

test('configured names that no provider has are listed, with the nearest ones', async () => {
  const aliases = { fast: 'openai/gpt-5-mini', chained: 'fast', odd: 'nosuch/model' };
  const catalog = catalogOf([...makers, simulator], { aliases });
  expect(
    await unknownModels(catalog, {
      defaultModel: 'fast',
      aliases,
      fallbacks: { 'gpt-5': ['fast', 'gone'] },
      concurrency: { openai: 1, 'openai/gpt-5': 1, 'openia/gpt-5': 1 },
    }),
  ).toMatchObject([
    { setting: 'aliases.chained', model: 'fast' },
    {
      setting: 'aliases.odd',
      model: 'nosuch/model',
      message: 'There is no model "nosuch/model". `gateway models` lists the models.',
    },
    { setting: 'fallbacks.gpt-5', model: 'gone' },
    { setting: 'concurrency.openia/gpt-5', model: 'openia/gpt-5' },
  ]);
  expect(
    await unknownModels(catalog, {
      defaultModel: 'openai/gpt-5-minni',
      aliases: {},
      fallbacks: {},
      concurrency: {},
    }),
  ).toMatchObject([
    { setting: 'default_model', message: expect.stringContaining('Did you mean openai/gpt-5-mini') },
  ]);
});
