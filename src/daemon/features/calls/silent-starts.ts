import { type Listed, TransientList } from '../../../shared/async/transient.ts';
import type { World } from '../../base/world.ts';

/** One check for all calls; how much later than due a call is found to be silent, in milliseconds. */
const checkEveryMs = 500;

interface Waiting extends Listed {
  dueAt: number;
  onSilent: () => void;
}

/** Finds calls whose provider is silent for long. Nothing runs while no call waits, and no call has a timer of its own. */
export class SilentStarts {
  readonly #world: Pick<World, 'elapsed' | 'sleep'>;
  readonly #waiting = new TransientList<Waiting>();
  #isChecking = false;

  constructor(world: Pick<World, 'elapsed' | 'sleep'>) {
    this.#world = world;
  }

  /** Calls `onSilent` after `ms` milliseconds, or never if they are 0. Returns a function that ends the wait. */
  wait(ms: number, onSilent: () => void): () => void {
    if (ms === 0) return () => {};
    const waiting = { dueAt: this.#world.elapsed() + ms, onSilent, place: -1 };
    this.#waiting.add(waiting);
    if (!this.#isChecking) void this.#check(Math.min(ms, checkEveryMs));
    return () => this.#waiting.delete(waiting);
  }

  async #check(everyMs: number): Promise<void> {
    this.#isChecking = true;
    while (this.#waiting.size > 0) {
      await this.#world.sleep(everyMs);
      const now = this.#world.elapsed();
      for (const waiting of [...this.#waiting]) {
        if (waiting.dueAt > now) continue;
        this.#waiting.delete(waiting);
        waiting.onSilent();
      }
    }
    this.#isChecking = false;
  }
}
