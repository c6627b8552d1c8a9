const callsMax = 10_000;

/**
 * When the latest calls were settled on disk, in milliseconds since their request came. A settlement cannot hold how long it
 * took itself, and another write for each call would cost more than it tells: so this is of the running daemon alone.
 */
export class SettledTimes {
  // Two halves, as taking the oldest out of one map gets slower with each that was taken out before.
  #latest = new Map<string, number>();
  #before = new Map<string, number>();

  onSettled({ requestId }: { requestId: string }, settledMs: number): void {
    if (this.#latest.size >= callsMax / 2) {
      this.#before = this.#latest;
      this.#latest = new Map();
    }
    this.#latest.set(requestId, settledMs);
  }

  of(requestId: string): number | null {
    return this.#latest.get(requestId) ?? this.#before.get(requestId) ?? null;
  }
}
