import { queueDefaults } from '../../../shared/constants/queue-defaults.ts';
import type { KeyPolicy } from '../../base/handler.ts';
import type { SlotLimit, Way } from './slot-table.ts';

/** How many calls run at a time, and how others wait. */
export interface ConcurrencyLimit {
  readonly calls: number;
  /** How long a call waits at most, in milliseconds; 0: none waits. */
  readonly queueMs: number;
  /** Calls that wait at most. */
  readonly queueMax: number;
}

/** The host's limits. */
export interface ConcurrencySettings {
  readonly hasConcurrency: boolean;
  /** By the name of a provider, or the id of a model. */
  readonly concurrency: Readonly<Record<string, ConcurrencyLimit>>;
}

/** A route as far as limits concern it. */
export interface LimitedRoute {
  kind: 'provider' | 'cache';
  provider: string;
  offer: { readonly model: string };
  isLastResort?: boolean;
}

const unlimited: Way = [];

/** The limits of a provider and its model; a stored answer has none. */
export function limitsOfRoute(
  { kind, provider, offer }: LimitedRoute,
  { concurrency }: Pick<ConcurrencySettings, 'concurrency'>,
): Way {
  if (kind === 'cache') return unlimited;
  const ofProvider = limitNamed('provider', provider, concurrency);
  const ofModel = limitNamed('model', offer.model, concurrency);
  return [...(ofProvider ? [ofProvider] : []), ...(ofModel ? [ofModel] : [])];
}

function limitNamed(
  kind: 'provider' | 'model',
  name: string,
  concurrency: ConcurrencySettings['concurrency'],
): SlotLimit | undefined {
  const limit = Object.hasOwn(concurrency, name) ? concurrency[name] : undefined;
  return limit && { kind, name, ...limit };
}

/** The limits of a key and of those that it descends from. */
export function limitsOfKey(policy: KeyPolicy | undefined): Way {
  if (!policy?.isRestricted) return unlimited;
  const way: SlotLimit[] = [];
  for (let key: KeyPolicy | undefined = policy; key; key = key.parent) {
    const { concurrency, queueSeconds } = key.limits ?? {};
    if (!concurrency) continue;
    way.push({
      kind: 'key',
      name: key.keyId,
      calls: concurrency,
      queueMs: queueSeconds == null ? queueDefaults.queueMs : queueSeconds * 1000,
      queueMax: queueDefaults.queueMax,
    });
  }
  return way;
}

/** Whether any limit of concurrent calls concerns a call. */
export function isLimited(
  { policy, routes }: { policy: KeyPolicy | undefined; routes: readonly LimitedRoute[] },
  settings: Pick<ConcurrencySettings, 'concurrency'>,
): boolean {
  return limitsOfKey(policy).length > 0 || routes.some((route) => limitsOfRoute(route, settings).length > 0);
}
