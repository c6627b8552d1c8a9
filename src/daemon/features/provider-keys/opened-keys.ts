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
  /** Counts what was forgotten, so that a key that was opened before is not kept. */
  #forgotten = 0;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  get(name: string): string | undefined {
    this.expire();
    return this.#entries.get(name)?.key.toString('utf8');
  }

  /** The key of that name; what `open` decrypts is kept unless something is forgotten meanwhile. */
  async read(name: string, open: (name: string) => Promise<Buffer>): Promise<string> {
    const known = this.get(name);
    if (known !== undefined) return known;
    const forgotten = this.#forgotten;
    const key = await open(name);
    const text = key.toString('utf8');
    if (forgotten === this.#forgotten) this.set(name, key);
    else key.fill(0);
    return text;
  }

  /** Takes ownership of the buffer. */
  set(name: string, key: Buffer): void {
    this.#remove(name);
    this.expire();
    if (this.#entries.size >= entriesMax) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#remove(oldest);
    }
    this.#entries.set(name, { key, until: this.#elapsed() + openMs });
  }

  forget(name: string): void {
    this.#forgotten += 1;
    this.#remove(name);
  }

  forgetAll(): void {
    this.#forgotten += 1;
    for (const name of [...this.#entries.keys()]) this.#remove(name);
  }

  /** Overwrites expired keys; to be called periodically, too. */
  expire(): void {
    // The map is in insertion order, so all entries after a valid one are valid.
    const now = this.#elapsed();
    for (const [name, { until }] of this.#entries) {
      if (until > now) return;
      this.#remove(name);
    }
  }

  #remove(name: string): void {
    this.#entries.get(name)?.key.fill(0);
    this.#entries.delete(name);
  }
}
