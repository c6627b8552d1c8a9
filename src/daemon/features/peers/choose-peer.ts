import type { PeerState } from './peer-state.ts';

const anyModel = 'service/decide';

/** Whether a peer lists a model that it may be asked for. */
export function offers({ card, record: { allowedModels } }: PeerState, model: string): boolean {
  const isAllowed = allowedModels === null || allowedModels.includes(model);
  return isAllowed && (card?.models ?? []).some(({ id }) => id === model);
}

/**
 * What a peer is asked for as its model, if it offers what the caller asks for. `service/decide` is any model; `identity` is
 * what answers as the model here, which the peer's has to equal.
 */
export function modelAt(
  { card, record: { allowedModels } }: PeerState,
  model: string,
  identity: string | undefined,
): string | undefined {
  const offered = card?.models ?? [];
  const isAllowed = (id: string) => allowedModels === null || allowedModels.includes(id);
  if (model !== anyModel) {
    const found = offered.find(({ id }) => id === model);
    if (!found || !isAllowed(model)) return undefined;
    return identity === undefined || found.identity === identity ? model : undefined;
  }
  // A gateway chooses among its models itself. Other servers may list none.
  if (card?.nodeId && offered.length > 0 && isAllowed(anyModel)) return anyModel;
  const [first] = offered.map(({ id }) => id).filter(isAllowed);
  return first ?? (card?.nodeId || offered.length > 0 ? undefined : allowedModels?.[0]);
}

/** Fewest recent failures first, then the fastest; which of the two best comes first is left to chance. */
export function rank(peers: PeerState[], coin: () => boolean): PeerState[] {
  const ranked = peers.sort(
    (a, b) => a.recentFailures - b.recentFailures || (a.record.latencyMs ?? 0) - (b.record.latencyMs ?? 0),
  );
  const [first, second, ...others] = ranked;
  return first && second && coin() ? [second, first, ...others] : ranked;
}
