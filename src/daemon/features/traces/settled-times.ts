const callsMax = 10_000;

/**
 * When the latest calls were settled on disk, in milliseconds since their request came. A settlement cannot hold how long it
 * took itself, and another write for each call would cost more than it tells: so this is of the running daemon alone.
 */
export class SettledTimes {
  readonly #times = new Map<string, number>();

  note(requestId: string, settledMs: number): void {
    if (this.#times.size >= callsMax) this.#times.delete(this.#times.keys().next().value ?? '');
    this.#times.set(requestId, settledMs);
  }

  of(requestId: string): number | null {
    return this.#times.get(requestId) ?? null;
  }
}
