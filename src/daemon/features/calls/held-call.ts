import type { SlotAnswer } from '../idempotency/index.ts';
import {
  type Admission,
  type CallOutcome,
  type Hold,
  settlementFor,
  type UsageRecord,
  usageRecord,
} from '../metering/index.ts';
import type { CallObserver } from './call-observer.ts';

export interface HeldCallOptions {
  admission: Pick<Admission, 'settle'>;
  hold: Hold;
  observers: readonly Pick<CallObserver, 'onSettled'>[];
  clock: { elapsed(): number };
  /** `clock.elapsed()` when the request arrived. */
  startedAt: number;
  /** Called once when the call is over, before its settlement is on disk. */
  onEnd?: () => void;
}

/** An admitted call, whose hold is settled once: by whatever ends it first. */
export class HeldCall {
  readonly #options: HeldCallOptions;
  #settled: Promise<UsageRecord> | undefined;

  constructor(options: HeldCallOptions) {
    this.#options = options;
  }

  get isSettled(): boolean {
    return this.#settled !== undefined;
  }

  /** Milliseconds since the request arrived, to a tenth. */
  sinceStart(): number {
    const { clock, startedAt } = this.#options;
    return Math.round((clock.elapsed() - startedAt) * 10) / 10;
  }

  /**
   * Settles the hold with the first outcome; later ones are not asked for. `answer` is stored for the call's Idempotency-Key
   * in the same transaction. Rejects if the settlement cannot be written.
   */
  settle(
    outcome: () => CallOutcome,
    answer?: (usage: UsageRecord) => SlotAnswer | undefined,
  ): Promise<UsageRecord> {
    this.#settled ??= this.#settle(outcome(), answer);
    return this.#settled;
  }

  async #settle(
    outcome: CallOutcome,
    answer: ((usage: UsageRecord) => SlotAnswer | undefined) | undefined,
  ): Promise<UsageRecord> {
    const { admission, hold, observers, onEnd } = this.#options;
    onEnd?.();
    const usage = usageRecord(hold.record, outcome);
    await admission.settle(hold, settlementFor(usage, answer?.(usage)));
    const settledMs = this.sinceStart();
    for (const observer of observers) observer.onSettled?.(usage, settledMs);
    return usage;
  }
}
