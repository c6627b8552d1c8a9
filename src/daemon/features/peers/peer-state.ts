import type { PeerStatus } from '../../../shared/contract/peers.ts';
import type { PeerCard } from './client.ts';
import type { PeerCounts, PeerHealthChange, PeerRecord, PeerRecordedHealth } from './store.ts';

const failuresInRowMax = 3;
const benchMs = 60_000;
const benchMsMax = 10 * 60_000;
/** The weight of the newest answer in the moving average. */
const newestWeight = 0.2;
const latenciesKept = 50;
/** Fewer answers say little about the slowest ones. */
const latenciesMin = 5;
const hedgeMsUntilKnown = 1500;
const outcomesKept = 20;

/** Why a peer gave no valid answer. */
export interface PeerFault {
  /** As `outcome` of an attempt. */
  outcome: string;
  /** For people, without the peer's name. */
  message: string;
  /** The HTTP status; null without an answer. */
  code: number | null;
  /** `always`: one such fault suffices, as after a wrong answer. A number: for so many milliseconds. */
  bench: 'always' | 'after-several' | number;
}

/** A peer as decisions use it: its settings, its card, and how it did so far. Times are those of the wall clock. */
export class PeerState {
  record: PeerRecord;
  card: PeerCard | undefined;
  inFlight = 0;
  /** When its card is to be read again. */
  nextCheckAt = 0;
  /** The read of its card that runs. */
  reading: Promise<void> | undefined;
  /** Whether the one call after a bench runs. */
  isTried = false;
  #failuresInRow = 0;
  #message = '';
  readonly #latencies: number[] = [];
  readonly #failures: boolean[] = [];
  /** The counts that are stored, or being stored. */
  #stored: PeerCounts;

  constructor(record: PeerRecord) {
    this.record = record;
    this.#stored = record;
  }

  get name(): string {
    return `peer:${this.record.name}`;
  }

  /** Failed calls among the newest ones. */
  get recentFailures(): number {
    return this.#failures.filter(Boolean).length;
  }

  isBenched(now: number): boolean {
    const { benchedUntil } = this.record;
    return benchedUntil !== null && benchedUntil > now;
  }

  /** Whether a bench ended and no good answer came since: one call at a time is let through. */
  isHalfOpen(now: number): boolean {
    return this.record.benchedUntil !== null && !this.isBenched(now);
  }

  status(now: number): PeerStatus {
    const { enabled, reason, lastSeenAt } = this.record;
    if (!enabled) return 'disabled';
    if (this.isBenched(now)) return 'benched';
    if (reason !== null) return 'degraded';
    return lastSeenAt === null ? 'unknown' : 'healthy';
  }

  /** Why it cannot be asked now, as an outcome and a sentence; undefined if it can. */
  unavailable(now: number): { outcome: string; message: string } | undefined {
    const { enabled, maxInFlight, benchedUntil, reason } = this.record;
    const { name } = this;
    if (!enabled) return { outcome: 'disabled', message: `${name} is disabled` };
    if (this.isBenched(now)) {
      const seconds = Math.ceil(((benchedUntil ?? now) - now) / 1000);
      return { outcome: 'benched', message: `${name} is benched ${seconds} s: ${this.#message || reason}` };
    }
    if (this.isHalfOpen(now) && this.isTried)
      return { outcome: 'benched', message: `${name} is being tried again: ${this.#message || reason}` };
    if (this.inFlight >= maxInFlight || this.card?.slotsFree === 0)
      return { outcome: 'busy', message: `${name} is busy` };
    return undefined;
  }

  /** How long to wait before another peer is asked as well: the 95th percentile of the recent answers. */
  hedgeMs(): number {
    if (this.#latencies.length < latenciesMin) return hedgeMsUntilKnown;
    const sorted = [...this.#latencies].sort((a, b) => a - b);
    return sorted[Math.ceil(sorted.length * 0.95) - 1] as number;
  }

  answered(ms: number, now: number): void {
    this.#latencies.push(ms);
    if (this.#latencies.length > latenciesKept) this.#latencies.shift();
    this.#note(false);
    this.#failuresInRow = 0;
    const { latencyMs, answered } = this.record;
    this.#update({
      answered: answered + 1,
      latencyMs: latencyMs === null ? ms : latencyMs + newestWeight * (ms - latencyMs),
      lastSeenAt: now,
      benches: 0,
      benchedUntil: null,
      reason: null,
    });
  }

  /** Counts a failed call. Returns for how long it benched the peer, in milliseconds; undefined if it did not. */
  failed(fault: PeerFault, now: number): number | undefined {
    this.#note(true);
    this.#update({ failed: this.record.failed + 1 });
    return this.#faulted(fault, now);
  }

  /** A card shows that the peer can be reached, not that it answers well. */
  cardRead(card: PeerCard, now: number): void {
    this.card = card;
    const isReachableAgain = this.record.reason === 'unreachable' && this.record.benchedUntil === null;
    if (isReachableAgain) this.#failuresInRow = 0;
    this.#update({ lastSeenAt: now, ...(isReachableAgain && { reason: null }) });
  }

  /** Counts a card that could not be read. Returns like `failed`. */
  cardFailed(fault: PeerFault, now: number): number | undefined {
    return this.#faulted(fault, now);
  }

  /** Counts answers that were compared with those of another source. */
  compared(results: readonly boolean[]): void {
    const { compared, agreed } = this.record;
    const agreeing = results.filter(Boolean).length;
    this.#update({ compared: compared + results.length, agreed: agreed + agreeing });
  }

  /** What is to be stored now: the counts since the last time. */
  takeChange(): PeerHealthChange {
    const { latencyMs, lastSeenAt, benches, benchedUntil, reason } = this.record;
    const added = combined(this.record, this.#stored, (now, before) => now - before);
    this.#stored = this.record;
    return { health: { latencyMs, lastSeenAt, benches, benchedUntil, reason }, added };
  }

  /** Takes over what is stored: the settings, and what other daemons counted. */
  follow(stored: PeerRecord): void {
    const { latencyMs, lastSeenAt, benches, benchedUntil, reason } = this.record;
    const more = combined(stored, this.#stored, (theirs, ours) => Math.max(0, theirs - ours));
    const sum = (counts: PeerCounts) => combined(counts, more, (count, added) => count + added);
    this.#stored = sum(this.#stored);
    const health = { latencyMs, lastSeenAt, benches, benchedUntil, reason };
    this.record = { ...stored, ...health, ...sum(this.record) };
  }

  #faulted({ outcome, message, bench }: PeerFault, now: number): number | undefined {
    this.#failuresInRow += 1;
    this.#message = message;
    const isTooMany = bench === 'always' || this.isHalfOpen(now) || this.#failuresInRow >= failuresInRowMax;
    const { benches } = this.record;
    const ms =
      typeof bench === 'number'
        ? bench
        : isTooMany
          ? Math.min(benchMs * 2 ** benches, benchMsMax)
          : undefined;
    this.#update({
      reason: outcome,
      ...(ms !== undefined && { benches: Math.min(benches + 1, 10), benchedUntil: now + ms }),
    });
    return ms;
  }

  #note(isFailure: boolean): void {
    this.#failures.push(isFailure);
    if (this.#failures.length > outcomesKept) this.#failures.shift();
  }

  #update(changes: Partial<PeerRecordedHealth>): void {
    this.record = { ...this.record, ...changes };
  }
}

function combined(
  one: PeerCounts,
  other: PeerCounts,
  combine: (one: number, other: number) => number,
): PeerCounts {
  return {
    answered: combine(one.answered, other.answered),
    failed: combine(one.failed, other.failed),
    compared: combine(one.compared, other.compared),
    agreed: combine(one.agreed, other.agreed),
  };
}
