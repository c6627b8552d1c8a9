/** Keys stay in the clear this long. */
const keptMs = 60_000;
const entriesMax = 64;

interface Opened {
  key: Buffer;
  until: number;
}

/** Provider keys in the clear, few and for a short time, overwritten when they go. */
export class OpenedKeys {
  readonly #elapsed: () => number;
  readonly #entries = new Map<string, Opened>();

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  get(name: string): string | undefined {
    this.expire();
    return this.#entries.get(name)?.key.toString('utf8');
  }

  /** Takes the buffer over. */
  keep(name: string, key: Buffer): void {
    this.forget(name);
    this.expire();
    if (this.#entries.size >= entriesMax) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.forget(oldest);
    }
    this.#entries.set(name, { key, until: this.#elapsed() + keptMs });
  }

  forget(name: string): void {
    this.#entries.get(name)?.key.fill(0);
    this.#entries.delete(name);
  }

  forgetAll(): void {
    for (const name of [...this.#entries.keys()]) this.forget(name);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Overwrites what is too old; also to be called now and then while nobody asks. */
  expire(): void {
    // They lie in the order of their making: the first that is young enough ends it.
    const now = this.#elapsed();
    for (const [name, { until }] of this.#entries) {
      if (until > now) return;
      this.forget(name);
    }
  }
}
