import { ApiError } from '../../../shared/errors.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import { idOf, type SlotLimit, type SlotTable, type Way } from './slot-table.ts';
import type { SlotsStore } from './store.ts';

/** How often a daemon looks for what others have freed, in milliseconds. */
const lookEveryMs = 100;
const retryMs = 1_000;
const triesMax = 60;

export interface SharedSlotsDeps {
  store: SlotsStore;
  table: SlotTable;
  world: Pick<World, 'sleep'>;
  log: Pick<Log, 'warn'>;
}

/**
 * The slots that the daemons of a database share. A call that this daemon would start also takes its slots there, so that all
 * together never have more; while one waits, the daemon looks for what the others free.
 */
export class SharedSlots {
  readonly #deps: SharedSlotsDeps;
  /** The limits for which calls of this daemon wait, or did a moment ago. */
  readonly #awaited = new Map<string, SlotLimit>();
  #isLooking = false;

  constructor(deps: SharedSlotsDeps) {
    this.#deps = deps;
  }

  /** Resolves to the numbers of the slots; undefined if other daemons have them. Rejects if the database cannot be written. */
  async take(way: Way): Promise<readonly number[] | undefined> {
    const limits = way.map((limit) => ({ name: idOf(limit), calls: limit.calls }));
    const { taken, elsewhere } = await this.#deps.store.take(limits).catch((cause: unknown) => {
      const message = 'The limits of concurrent calls cannot be checked right now.';
      throw new ApiError('unavailable', { message, cause });
    });
    if (taken === undefined) this.watch(way);
    for (const [index, limit] of way.entries()) this.#deps.table.setElsewhere(limit, elsewhere[index] ?? 0);
    return taken;
  }

  /** Looks for what other daemons free while calls wait for these limits. */
  watch(limits: readonly SlotLimit[]): void {
    for (const limit of limits) this.#awaited.set(idOf(limit), limit);
    if (!this.#isLooking) void this.#keepLooking();
  }

  /** Gives slots back; repeated until it is stored, as those of a daemon that has ended are freed by another one. */
  async release(slots: readonly number[]): Promise<void> {
    const { store, world, log } = this.#deps;
    for (let tries = 1; tries <= triesMax; tries += 1) {
      try {
        await store.release(slots);
        return;
      } catch (error) {
        log.warn({ err: error }, 'the end of a call could not be stored for its limits');
        await world.sleep(retryMs);
      }
    }
  }

  async #keepLooking(): Promise<void> {
    this.#isLooking = true;
    while (this.#awaited.size > 0) {
      await this.#deps.world.sleep(lookEveryMs);
      await this.#look().catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'the calls of other daemons could not be read');
      });
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const { store, table } = this.#deps;
    const left = [...this.#awaited].filter(([, limit]) => !table.isAwaited(limit)).map(([name]) => name);
    if (left.length > 0) await store.leave(left);
    for (const name of left) {
      const limit = this.#awaited.get(name);
      if (limit && !table.isAwaited(limit)) this.#awaited.delete(name);
    }
    const awaited = [...this.#awaited];
    if (awaited.length === 0) return;
    const elsewhere = await store.elsewhere(awaited.map(([name]) => name));
    for (const [index, [, limit]] of awaited.entries()) table.setElsewhere(limit, elsewhere[index] ?? 0);
  }
}
