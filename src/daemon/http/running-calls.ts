import type { ServerCall } from './server-call.ts';

/**
 * The calls that a drain waits for. A list in which each call knows its place, as a set under constant change is
 * rebuilt all the time, and what it was before keeps finished calls in memory until a full garbage collection.
 */
export class RunningCalls {
  readonly #calls: ServerCall[] = [];
  #waiting: (() => void)[] = [];

  get count(): number {
    return this.#calls.length;
  }

  add(call: ServerCall): void {
    call.placeInRunning = this.#calls.push(call) - 1;
  }

  /** Forgets a call once its answer is out and its handler has settled everything. */
  release(call: ServerCall): void {
    if (!call.isAnswered || call.isWorking) return;
    this.#remove(call);
    if (this.#calls.length > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Tells every handler that the daemon will wait no longer. */
  endAll(): void {
    for (const call of [...this.#calls]) call.end('draining');
  }

  cutAll(): void {
    for (const call of [...this.#calls]) call.cut();
  }

  /** Resolves to whether the last call ended within that time. */
  async emptyWithin(ms: number): Promise<boolean> {
    if (this.#calls.length === 0) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, ms, false);
    this.#waiting.push(() => resolve(true));
    const isEmpty = await promise;
    clearTimeout(timer);
    return isEmpty;
  }

  /** The last one takes its place. */
  #remove(call: ServerCall): void {
    const place = call.placeInRunning;
    if (this.#calls[place] !== call) return;
    const last = this.#calls.pop();
    if (last === undefined || last === call) return;
    this.#calls[place] = last;
    last.placeInRunning = place;
  }
}
