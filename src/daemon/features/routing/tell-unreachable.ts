import { NetworkFailure, type World } from '../../world.ts';
import type { UpstreamFailure } from '../inference/index.ts';

interface TellingNeeds {
  world: Pick<World, 'elapsed'>;
  log: { warn(details: object, message: string): void };
}

/** The same is not told again of a provider for so long. */
const quietMs = 60_000;

/**
 * Tells the operator which host of a provider could not be reached and why: callers are told neither hosts nor addresses.
 * Each failing call would be a line otherwise, just when there are many.
 */
export function tellUnreachable({ world, log }: TellingNeeds) {
  const told = new Map<string, { message: string; at: number }>();
  return (provider: string, { details: { cause } }: UpstreamFailure): void => {
    if (!(cause instanceof NetworkFailure)) return;
    const { message } = cause;
    const last = told.get(provider);
    const now = world.elapsed();
    if (last?.message === message && now - last.at < quietMs) return;
    told.set(provider, { message, at: now });
    log.warn({ provider, failure: message }, 'a provider could not be reached');
  };
}
