import type { CatalogSettings } from '../../src/daemon/features/catalog/catalog.ts';
import { Catalog, type ProviderDescription } from '../../src/daemon/features/catalog/index.ts';
import type { ProviderKind } from '../../src/daemon/features/catalog/offer.ts';
import type { PriceLibrary } from '../../src/daemon/features/catalog/price-library.ts';
import { fakeWorld } from './fake-world.ts';

export const prices = {
  input: 2_000_000_000,
  cachedInput: 500_000_000,
  cacheWrite: 2_500_000_000,
  output: 8_000_000_000,
};

/** Knows three makers and one reseller, whose prices double each hour for `openai/o3`. */
export const library: PriceLibrary = {
  names: (source) =>
    ({
      openai: ['gpt-5', 'gpt-5-mini', 'o3', 'gpt-4o-audio-preview', 'text-embedding-3-small'],
      anthropic: ['claude-opus-4-5', 'claude-opus-4-0', 'claude-2'],
      openrouter: ['openai/gpt-5', 'anthropic/claude-opus-4.5', 'x-ai/grok-4'],
    })[source] ?? [],
  find: (source, model, now) => {
    const known =
      library.names(source).includes(model) || library.names(source).includes(model.replace('.', '-'));
    if (!known && model !== 'gpt-5-2025-08-07') return undefined;
    const isConditional = model === 'o3';
    const factor = isConditional ? 1 + (new Date(now).getUTCHours() - 8) : 1;
    return {
      name: model,
      title: model.toUpperCase(),
      description: undefined,
      contextLength: 400_000,
      prices: { ...prices, input: prices.input * factor },
      isConditional,
    };
  },
  sourceOf: (url) => (url.includes('openrouter') ? 'openrouter' : undefined),
};

export function provider(
  name: string,
  kind: ProviderKind,
  details: Partial<ProviderDescription> = {},
): ProviderDescription {
  const available = details.available ?? true;
  const reason = available ? null : `no key: set ${name.toUpperCase()}_API_KEY`;
  return { name, kind, available, reason, models: undefined, wires: ['chat'], ...details };
}

export const simulator = provider('simulator', 'simulator', {
  models: ['sim/assistant', 'sim/slow'],
  wires: undefined,
});

export function catalogOf(providers: ProviderDescription[], settings: Partial<CatalogSettings> = {}) {
  const world = fakeWorld();
  return new Catalog({ world, providers, loadPrices: async () => library, ...settings });
}

export const makers = [
  provider('openai', 'openai'),
  provider('anthropic', 'anthropic', { available: false }),
];
