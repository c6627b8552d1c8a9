import type { NanoUsd } from '../../../shared/money/money.ts';
import type { PeriodSpend, SpendCalendar } from '../../../shared/money/spend-periods.ts';
import type { SpendSubject } from './rules/budget-rule.ts';
import type { Spend } from './store.ts';

/** Credit granted to a workspace. */
export interface GrantRecord {
  id: string;
  workspaceId: string;
  amount: NanoUsd;
  note: string | null;
  /** The client's idempotency reference: a second grant with it returns the first. */
  reference: string | null;
  /** The user who granted it. */
  grantedBy: string;
  createdAt: number;
}

/** The account of a workspace. */
export interface AccountRecord {
  workspaceId: string;
  slug: string;
  name: string;
  balance: NanoUsd;
  granted: NanoUsd;
  /** Paid for with invoices. */
  bought: NanoUsd;
  /** Reserved for running calls. */
  held: NanoUsd;
}

/** The result of verifying the ledger; `problems` name accounts, keys and requests. */
export interface LedgerFindings {
  accounts: number;
  entries: number;
  grants: number;
  problems: string[];
  /** Ids of requests with a hold. */
  held: string[];
}

/** Each method is one transaction. */
export interface LedgerStore {
  /**
   * The charges of each subject's calls in the periods of a time, and what its running calls hold, in their order; a key includes
   * its descendants. The calls of the admission do not wait for it.
   */
  subjectUses(
    subjects: readonly SpendSubject[],
    at: number,
  ): Promise<{ spend: PeriodSpend; held: NanoUsd }[]>;
  /**
   * The charges of a key and its descendants, and how many calls they started since a time. Day, week and month are those of `at`
   * by the calendar, or in UTC.
   */
  keyUse(
    keyId: string,
    options: { at: number; since: number; calendar?: SpendCalendar | undefined },
  ): Promise<{ spend: Spend; requests: number }>;
  /** A workspace's grants minus its charges. */
  balance(workspaceId: string): Promise<NanoUsd>;
  /**
   * Adds a grant with its ledger entry, or returns the earlier one with the same reference. Rejects with `conflict` if
   * that one differs.
   */
  grant(grant: GrantRecord): Promise<{ grant: GrantRecord; isNew: boolean }>;
  /** The accounts of all workspaces, or of one. */
  accounts(workspaceId?: string): Promise<AccountRecord[]>;
  /** Sums up the whole ledger and checks its hash chain; takes about five microseconds per entry. */
  verify(): Promise<LedgerFindings>;
  /** The requests that still have a hold. */
  stillHeld(requestIds: readonly string[]): Promise<string[]>;
}
