import type { Log } from '../../base/log.ts';
import { NetworkFailure, type World } from '../../base/world.ts';
import type { UpstreamFailure } from '../upstreams/upstream.ts';

interface LoggerDeps {
  world: Pick<World, 'elapsed'>;
  log: Pick<Log, 'warn'>;
}

/** A repeated failure of a provider is logged once in this time. */
const quietMs = 60_000;

/**
 * Logs for the operator which host of a provider could not be reached and why; callers see neither hosts nor addresses.
 * A repeated failure is not logged again: there would be a line for each call just when there are many.
 */
export function unreachableLogger({ world, log }: LoggerDeps) {
  const logged = new Map<string, { message: string; at: number }>();
  return (provider: string, { details: { cause } }: UpstreamFailure): void => {
    if (!(cause instanceof NetworkFailure)) return;
    const { message } = cause;
    const last = logged.get(provider);
    const now = world.elapsed();
    if (last?.message === message && now - last.at < quietMs) return;
    logged.set(provider, { message, at: now });
    log.warn({ provider, failure: message }, 'a provider could not be reached');
  };
}
