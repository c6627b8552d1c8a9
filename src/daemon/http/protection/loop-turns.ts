/** Parsing a body of that size, and what follows, can hold the process for milliseconds. */
export const slowBytesMin = 1024 * 1024;

/** Hands out turns of the event loop, one for each slow task, so that other requests are answered between them. */
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when the task has a turn for itself, until its next wait. */
  next(): Promise<void> {
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
