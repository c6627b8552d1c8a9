import type { ServerCall } from './server-call.ts';

/** The calls that a drain waits for. */
export class RunningCalls {
  readonly #calls = new Set<ServerCall>();
  #waiting: (() => void)[] = [];

  get count(): number {
    return this.#calls.size;
  }

  add(call: ServerCall): void {
    this.#calls.add(call);
  }

  /** Forgets a call once its answer is out and its handler has settled everything. */
  release(call: ServerCall): void {
    if (!call.isAnswered || call.isWorking) return;
    this.#calls.delete(call);
    if (this.#calls.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Tells every handler that the daemon will wait no longer. */
  endAll(): void {
    for (const call of this.#calls) call.end('draining');
  }

  cutAll(): void {
    for (const call of this.#calls) call.response.destroy();
  }

  /** Resolves to whether the last call ended within that time. */
  async emptyWithin(ms: number): Promise<boolean> {
    if (this.#calls.size === 0) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, ms, false);
    this.#waiting.push(() => resolve(true));
    const isEmpty = await promise;
    clearTimeout(timer);
    return isEmpty;
  }
}
