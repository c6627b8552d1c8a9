import type { PaywallProxy } from '../../../shared/contract/paywalls.ts';
import { messageOf } from '../../../shared/faults/message-of.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { Changes } from '../../base/changes.ts';
import type { Log } from '../../base/log.ts';
import { repeatedly, type World, within } from '../../base/world.ts';
import { RouteTable } from './routes.ts';
import type { PaywallRecord, PaywallsStore } from './store.ts';

/** The routes that all proxies should serve. */
export interface ProxyConfig {
  revision: number;
  paywalls: readonly PaywallRecord[];
}

/** A proxy that is configured from the paywalls. */
export interface ProxyTarget {
  name: string;
  /** Makes the proxy serve the paywalls; does nothing if it already does. The message of a failure is for its owner. */
  apply(config: ProxyConfig): Promise<void>;
}

interface TargetState {
  target: ProxyTarget;
  applied: { revision: number; at: number } | undefined;
  error: string | undefined;
  running: Promise<void> | undefined;
}

export interface ReconcilerDeps {
  store: Pick<PaywallsStore, 'serving'>;
  changes: Changes;
  targets: readonly ProxyTarget[];
  world: Pick<World, 'now' | 'sleep'>;
  log: Pick<Log, 'warn'>;
}

/** How long a change waits for the proxies before it is answered. */
const waitMs = 5_000;
const repairEveryMs = 60_000;

/**
 * Makes the proxies serve the current paywalls. The routes of the embedded proxy change in one step; the other proxies are
 * configured afterwards, again until they succeed, and again every minute, as others may change their configuration.
 */
export class Reconciler {
  readonly #deps: ReconcilerDeps;
  readonly #targets: TargetState[];
  #config: ProxyConfig = { revision: 0, paywalls: [] };
  #table = new RouteTable(this.#config);

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps;
    deps.changes.subscribe('paywalls', () => this.#read());
    this.#targets = deps.targets.map((target) => ({
      target,
      applied: undefined,
      error: undefined,
      running: undefined,
    }));
  }

  /** The routes of the embedded proxy. */
  get table(): RouteTable {
    return this.#table;
  }

  /** Reads the paywalls, swaps the routes, and waits a few seconds for the other proxies. */
  async update(): Promise<void> {
    await this.#read();
    await this.applied();
  }

  /** Waits a few seconds until the other proxies serve what was read last. */
  async applied(): Promise<void> {
    await within(this.#deps.world, Promise.all(this.#targets.map(({ running }) => running)), waitMs);
  }

  /** Reads the paywalls, swaps the routes, and starts to configure the other proxies. */
  async #read(): Promise<void> {
    const config = await this.#deps.store.serving();
    if (config.revision >= this.#config.revision) {
      this.#config = config;
      this.#table = new RouteTable(config);
    }
    for (const state of this.#targets) void this.#apply(state);
  }

  /** Applies the current configuration, also if it was applied before: another program may have changed the proxy. */
  #apply(state: TargetState): Promise<void> {
    const before = state.running ?? Promise.resolve();
    const running = before.then(async () => {
      const config = this.#config;
      try {
        await state.target.apply(config);
        state.applied = { revision: config.revision, at: this.#deps.world.now() };
        state.error = undefined;
      } catch (error) {
        const message = messageOf(error);
        if (state.error !== message) {
          const { name } = state.target;
          this.#deps.log.warn({ target: name, reason: message }, 'a proxy could not be configured');
        }
        state.error = message;
      } finally {
        if (state.running === running) state.running = undefined;
      }
    });
    state.running = running;
    return running;
  }

  /** The state of all proxies. */
  view(): PaywallProxy {
    const { revision } = this.#config;
    const targets = this.#targets.map(({ target, applied, error }) => ({
      name: target.name,
      state: stateOf({ applied, error }, revision),
      revision: applied?.revision ?? null,
      lastError: error ?? null,
      appliedAt: applied === undefined ? null : isoTime(applied.at),
    }));
    const states = targets.map(({ state }) => state);
    const failed = targets.find(({ state }) => state === 'failed');
    const times = targets.map(({ appliedAt }) => appliedAt);
    return {
      revision,
      state: failed ? 'failed' : states.includes('pending') ? 'pending' : 'applied',
      lastError: failed ? `${failed.name}: ${failed.lastError}` : null,
      appliedAt: times.includes(null) ? null : (times.sort().at(-1) ?? null),
      targets,
    };
  }

  /** Repairs what changed in the proxies, until aborted. */
  async runBackground(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    await repeatedly(this.#deps.world, { everyMs: repairEveryMs, signal, onFailure }, () => this.update());
    await Promise.all(this.#targets.map(({ running }) => running));
  }
}

function stateOf({ applied, error }: Pick<TargetState, 'applied' | 'error'>, revision: number) {
  if (error !== undefined) return 'failed' as const;
  return applied !== undefined && applied.revision >= revision ? ('applied' as const) : ('pending' as const);
}
