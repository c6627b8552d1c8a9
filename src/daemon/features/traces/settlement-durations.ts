const callsMax = 10_000;

/**
 * When recent calls were settled on disk, in milliseconds since their request arrived. A settlement cannot contain its own
 * duration, and another write per call is not worth its cost, so this covers the running daemon only.
 */
export class SettlementDurations {
  // Two maps, since deleting the oldest entry of one map gets slower with each deletion.
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
