/** A store for `useSyncExternalStore`: notifies subscribers immediately, or at most once per interval. */
export class Observable {
  readonly #intervalMs: number;
  readonly #listeners = new Set<() => void>();
  #version = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ intervalMs }: { intervalMs: number }) {
    this.#intervalMs = intervalMs;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The snapshot that React compares. */
  version = (): number => this.#version;

  /** Requests a redraw; with `soon`, changes within one interval share a single redraw. */
  changed({ soon = false }: { soon?: boolean } = {}): void {
    if (soon) this.#timer ??= setTimeout(() => this.#notify(), this.#intervalMs);
    else this.#notify();
  }

  /** Stops all notifications. */
  end(): void {
    clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  #notify(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
