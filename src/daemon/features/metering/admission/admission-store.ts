import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { SpendCalendar, SpendPeriod } from '../../../../shared/money/spend-periods.ts';
import type { AdmitAnswer, AdmitRequest } from '../rules/admit-request.ts';
import type { SpendSubject } from '../rules/budget-rule.ts';
import type { HoldRecord, Settlement } from '../store.ts';

/** A total of the charges of a key, or of a budget's calls, in the period of a settlement. */
export type WatchedTotal =
  | { keyId: string; period: SpendPeriod; calendar: SpendCalendar | undefined }
  | { subject: SpendSubject; period: SpendPeriod };

/** What members that share limits write. Each method is one transaction, durable when its promise resolves. */
export interface AdmissionStore {
  /** Writes the hold if the limits allow it, which are compared with what all members have stored. */
  admit(record: HoldRecord, request: AdmitRequest): Promise<AdmitAnswer>;
  /** Settles a call; resolves to the sequence of its event, and what the totals are since then, in their order. */
  settleWatched(
    settlement: Settlement,
    watched: readonly WatchedTotal[],
  ): Promise<{ sequence: number; spent: NanoUsd[] }>;
}
