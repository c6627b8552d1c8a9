/** What is drawn: it tells when it is to be drawn anew, at once or together with whatever else changes meanwhile. */
export class Drawn {
  readonly #everyMs: number;
  readonly #listeners = new Set<() => void>();
  #version = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Changes that may wait are told at most so often. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  version = (): number => this.#version;

  /** Tells that something is to be drawn anew: at once, or once for all that changes until it is time. */
  changed({ soon = false }: { soon?: boolean } = {}): void {
    if (soon) this.#timer ??= setTimeout(() => this.#tell(), this.#everyMs);
    else this.#tell();
  }

  /** No more is told from now on. */
  end(): void {
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
