/** Work on text of that size, such as parsing it, can hold the process for milliseconds. */
const slowBytesMin = 1024 * 1024;

/** Hands out turns of the event loop, one for each slow task, so that other requests are answered between them. */
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];

  /**
   * Resolves when the task has a turn for itself, until its next wait. Undefined for one that is too small to hold others up:
   * it has as many bytes or characters to work on.
   */
  next(size: number): Promise<void> | undefined {
    if (!(size >= slowBytesMin)) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#start);
    });
  }

  readonly #start = (): void => {
    this.#waiting[0]?.();
    setImmediate(() => {
      this.#waiting.shift();
      if (this.#waiting.length > 0) this.#start();
    });
  };
}

/** The turns of this thread. Long work takes several: one to parse a body, one to write the request to the provider, one to send it. */
export const loopTurns = new LoopTurns();
