/** How long keys stay decrypted in memory. */
const openMs = 60_000;
const entriesMax = 64;

interface Opened {
  key: Buffer;
  until: number;
}

/** Decrypted provider keys: few, for a short time, and overwritten when removed. */
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

  /** Takes ownership of the buffer. */
  set(name: string, key: Buffer): void {
    this.forget(name);
    this.expire();
    if (this.#entries.size >= entriesMax) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.forget(oldest);
    }
    this.#entries.set(name, { key, until: this.#elapsed() + openMs });
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

  /** Overwrites expired keys; to be called periodically, too. */
  expire(): void {
    // The map is in insertion order, so all entries after a valid one are valid.
    const now = this.#elapsed();
    for (const [name, { until }] of this.#entries) {
      if (until > now) return;
      this.forget(name);
    }
  }
}
