import { describe, expect, test } from 'vitest';
import {
  catalogHandlers,
  LiveSpeed,
  type ProviderDescription,
} from '../../../../src/daemon/features/catalog/index.ts';
import { getModel, listModels } from '../../../../src/shared/contract/models.ts';
import { listRates } from '../../../../src/shared/contract/rates.ts';
import { callHandler } from '../../../support/call-handler.ts';
import { catalogOf, makers, prices, provider, simulator } from '../../../support/catalog.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

describe('the public pages', () => {
  function pages(providers: ProviderDescription[], marginPpm = 0) {
    const world = fakeWorld();
    const live = new LiveSpeed(world);
    const catalog = catalogOf(providers, { world });
    const listings = { refresh: async () => [] };
    return { live, handlers: catalogHandlers({ catalog, live, listings, settings: { marginPpm }, world }) };
  }
  const anonymous = { caller: { kind: 'anonymous' } } as const;

  test('a model shows its providers, their availability, prices and speed', async () => {
    const { live, handlers } = pages([
      provider('openai', 'openai', {
        available: false,
        prices: { 'gpt-5': { ...prices, input: 1_000_000_000 } },
      }),
      provider('openrouter', 'openrouter'),
    ]);
    live.attempted('openrouter', 'openai/gpt-5', { isOk: true, ttftMs: 300 });
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

  test('the list has each chat model once, available ones first, with null for unknown', async () => {
    const { handlers } = pages([...makers, provider('dark', 'compatible', { models: ['m'] }), simulator]);
    const { data } = await callHandler(handlers, listModels, anonymous);
    expect(data.map(({ id }) => id)).toEqual([
      'openai/gpt-5',
      'openai/gpt-5-mini',
      'openai/o3',
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

  test('a rate is the provider’s price, the margin and their exact sum', async () => {
    const { handlers } = pages(
      [makers[0] as ProviderDescription, provider('dark', 'compatible', { models: ['m'] })],
      33_333,
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
});
