import type { NanoUsd } from '../../../shared/money.ts';
import type { Spend } from './metering-store.ts';

/** What a key and the keys that it issued were charged, and when their latest calls were accepted. */
export interface KeyFacts {
  spend: Spend;
  /** Times of acceptance at or after `since`, ascending, in milliseconds since 1970. */
  recent: number[];
}

/** Credit that the host gave to a workspace. */
export interface GrantRecord {
  id: string;
  workspaceId: string;
  amount: NanoUsd;
  note: string | null;
  /** The client's own name of the grant: a second grant of that name is the first one. */
  reference: string | null;
  /** The user who granted it. */
  grantedBy: string;
  createdAt: number;
}

/** One workspace's money. */
export interface AccountRecord {
  workspaceId: string;
  slug: string;
  name: string;
  balance: NanoUsd;
  granted: NanoUsd;
  /** Set aside for calls that run. */
  held: NanoUsd;
}

/** What a check of the books found; sentences name accounts, keys and requests. */
export interface LedgerFindings {
  accounts: number;
  entries: number;
  grants: number;
  /** The sum of all balances: zero. */
  total: NanoUsd;
  problems: string[];
  /** Requests that money is held for. */
  held: string[];
}

/** Each method is one transaction. Calls named in `except` are left out, whether they are on disk or not. */
export interface LedgerStore {
  /** Of a key with all keys that descend from it; day and month are the UTC ones of `at`. */
  keyFacts(keyId: string, wish: { at: number; since: number; except: readonly string[] }): Promise<KeyFacts>;
  /** What a workspace was granted less what it was charged. */
  balance(workspaceId: string, wish: { except: readonly string[] }): Promise<NanoUsd>;
  /**
   * Adds a grant with its ledger entry, or finds the earlier one of the same reference. Rejects with `conflict` when that
   * one was another grant.
   */
  grant(grant: GrantRecord): Promise<{ grant: GrantRecord; isNew: boolean }>;
  /** All workspaces, or one, by id. */
  accounts(workspaceId?: string): Promise<AccountRecord[]>;
  /** Adds up the whole ledger and compares it with its chain; takes about five microseconds an entry. */
  verify(): Promise<LedgerFindings>;
  /** Those of the requests that money is still held for. */
  stillHeld(requestIds: readonly string[]): Promise<string[]>;
}
