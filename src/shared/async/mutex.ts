/** Runs tasks one after another: all, or those of the same key. A task that fails does not fail the next. */
export class Mutex {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(task: () => Promise<T>, key = ''): Promise<T> {
    const result = (this.#last.get(key) ?? Promise.resolve()).then(task, task);
    this.#last.set(key, result);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === result) this.#last.delete(key);
    }
  }
}
