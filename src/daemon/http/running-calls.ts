import type { ServerCall } from './server-call.ts';

/**
 * The calls that a drain waits for. An array in which each call knows its index: a constantly changing Set is rebuilt all
 * the time, and its old tables keep finished calls in memory until a full garbage collection.
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

  /** Removes a call once its response is written and its handler has finished. */
  release(call: ServerCall): void {
    if (!call.isAnswered || call.isWorking) return;
    this.#remove(call);
    if (this.#calls.length > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Aborts every call with the reason `draining`. */
  endAll(): void {
    for (const call of [...this.#calls]) call.end('draining');
  }

  cutAll(): void {
    for (const call of [...this.#calls]) call.cut();
  }

  /** Resolves to whether all calls ended within that time. */
  async emptyWithin(ms: number): Promise<boolean> {
    if (this.#calls.length === 0) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, ms, false);
    this.#waiting.push(() => resolve(true));
    const isEmpty = await promise;
    clearTimeout(timer);
    return isEmpty;
  }

  /** Moves the last call to the free index. */
  #remove(call: ServerCall): void {
    const place = call.placeInRunning;
    if (this.#calls[place] !== call) return;
    const last = this.#calls.pop();
    if (last === undefined || last === call) return;
    this.#calls[place] = last;
    last.placeInRunning = place;
  }
}
