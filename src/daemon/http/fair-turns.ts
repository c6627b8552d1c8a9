/**
 * Runs a few tasks at a time. The others wait, and those of each owner take turns with those of the others, so that someone
 * who sends many delays nobody else by more than one.
 */
export class FairTurns {
  readonly #tasksMax: number;
  #running = 0;
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(tasksMax: number) {
    this.#tasksMax = tasksMax;
  }

  async run<Result>(owner: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#tasksMax) this.#running += 1;
    else await this.#turnOf(owner);
    try {
      return await task();
    } finally {
      this.#passOn();
    }
  }

  #turnOf(owner: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = this.#waiting.get(owner);
    if (queue) queue.push(resolve);
    else this.#waiting.set(owner, [resolve]);
    return promise;
  }

  #passOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    const [owner, queue] = next;
    this.#waiting.delete(owner);
    const [first, ...others] = queue;
    if (others.length > 0) this.#waiting.set(owner, others);
    first?.();
  }
}
