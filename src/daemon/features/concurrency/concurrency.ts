import type { KeyPolicy } from '../../base/handler.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import { CallSlots, type SlotCall } from './call-slots.ts';
import {
  type ConcurrencySettings,
  isLimited,
  type LimitedRoute,
  limitsOfKey,
  limitsOfRoute,
} from './limits.ts';
import { SharedSlots } from './shared-slots.ts';
import { SlotTable, type SlotUse } from './slot-table.ts';
import type { SlotsStore } from './store.ts';

export interface ConcurrencyDeps {
  world: Pick<World, 'elapsed' | 'sleep'>;
  settings: ConcurrencySettings;
  /** Set where several daemons may make calls. */
  store?: SlotsStore | undefined;
  log: Pick<Log, 'warn'>;
}

/** A call that may have limits. */
export interface LimitedCall extends SlotCall {
  policy: KeyPolicy | undefined;
  routes: readonly LimitedRoute[];
  /** Ends the wait. */
  signal: AbortSignal;
}

/** Bounds how many calls of a key, to a model and to a provider run at a time. */
export class Concurrency {
  readonly #deps: ConcurrencyDeps;
  readonly #table = new SlotTable();
  readonly #shared: SharedSlots | undefined;

  constructor(deps: ConcurrencyDeps) {
    this.#deps = deps;
    const { store, ...others } = deps;
    if (store) this.#shared = new SharedSlots({ ...others, store, table: this.#table });
  }

  /**
   * Resolves to the slots of a call once it has those that it needs to start; undefined if nothing limits it. Fails with
   * `rate_limited` if it may not wait, or not for longer, and with the signal's reason.
   */
  async enter({ policy, routes, signal, ...call }: LimitedCall): Promise<CallSlots | undefined> {
    const { world, settings } = this.#deps;
    if (!isLimited({ policy, routes }, settings)) return undefined;
    const limitsOf = (route: LimitedRoute) => limitsOfRoute(route, settings);
    const slots = new CallSlots({ table: this.#table, shared: this.#shared, world, limitsOf }, call);
    try {
      await slots.enter(limitsOfKey(policy), routes, signal);
      return slots;
    } catch (error) {
      slots.release();
      throw error;
    }
  }

  /** How busy the limit of a provider is; undefined if it has none. */
  ofProvider(provider: string): SlotUse | undefined {
    const [limit] = limitsOfRoute({ kind: 'provider', provider, offer: { model: '' } }, this.#deps.settings);
    if (limit === undefined) return undefined;
    const { running = 0, waiting = 0 } =
      this.all().find(({ kind, name }) => kind === limit.kind && name === limit.name) ?? {};
    return { ...limit, running, waiting };
  }

  /** The limits that apply to calls now, running or waiting. */
  all(): SlotUse[] {
    return this.#table.use();
  }
}
