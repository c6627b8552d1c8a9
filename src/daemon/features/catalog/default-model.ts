import type { DefaultModel } from '../../../shared/contract/daemon.ts';
import type { ProviderDescription, Resolution } from './offer.ts';

/** Models to suggest as the default, best first: fast, cheap and good enough for most uses. */
const preferredModels: readonly string[] = [
  'openai/gpt-5-mini',
  'anthropic/claude-haiku-4-5',
  'google/gemini-2.5-flash',
];

/**
 * The model of calls that name none: the configured one, else a local server's, else the simulator's. A model that
 * costs money is never chosen without being configured; it is only suggested.
 */
export function defaultModel(
  configured: string | undefined,
  all: readonly Resolution[],
  providers: readonly ProviderDescription[],
): DefaultModel {
  if (configured !== undefined)
    return { default_model: configured, default_model_source: 'configuration', suggested_model: null };
  const suggested = modelOf('paid', all, providers) ?? null;
  const local = modelOf('local', all, providers);
  if (local !== undefined)
    return { default_model: local, default_model_source: 'local_server', suggested_model: suggested };
  return { default_model: 'sim/assistant', default_model_source: 'simulator', suggested_model: suggested };
}

/** A model of the first available provider of a kind; undefined without one. */
function modelOf(
  wanted: 'local' | 'paid',
  all: readonly Resolution[],
  providers: readonly ProviderDescription[],
): string | undefined {
  const ofKind = ({ kind }: ProviderDescription) =>
    wanted === 'local' ? kind === 'local' : kind !== 'local' && kind !== 'simulator';
  for (const { name } of providers.filter((provider) => provider.available && ofKind(provider))) {
    const ids = all
      // Local servers list their embedding models, too.
      .filter(({ offers }) =>
        offers.some(({ provider, capabilities }) => provider === name && capabilities.kind !== 'embedding'),
      )
      .map(({ id }) => id);
    const found = preferredModels.find((id) => ids.includes(id)) ?? ids[0];
    if (found !== undefined) return found;
  }
  return undefined;
}
