import type { Connection } from '../engine/connection.ts';
import { lastEvent } from '../engine/meta.ts';
import { NameNumbers } from '../engine/names.ts';
import { adding } from '../engine/row-format.ts';
import type { KeptTotals } from '../engine/write-batch.ts';
import { CheckpointWriter } from './ledger/checkpoint.ts';
import { type EntryRow, entryFormat, LedgerChain } from './ledger/ledger-chain.ts';
import { type StoredState, storedStateReader } from './ledger/stored-state.ts';
import { StoredLimits } from './limits/stored-limits.ts';
import { ClientNumbers } from './usage/client-numbers.ts';
import { UsageTotals } from './usage/usage-totals.ts';

/** The amounts that one settled call adds to the totals of its day. */
export interface CallTotals {
  keyId: string | null;
  /** What else it was spent by. */
  budget: string | null;
  /** `2026-11-21` */
  day: string;
  charged: number;
  caller: 'key' | 'agent';
  ownKey: 0 | 1;
  tier: 'paid' | 'free';
  inputTokens: number;
  outputTokens: number;
}

type ServedTotals = Omit<CallTotals, 'keyId' | 'budget' | 'charged'> & { requests: number };

/**
 * Totals shared by the calls of one batch, kept in memory while it runs and written once before its COMMIT. An operation
 * adds to them only after its own statements have succeeded, so a failed one adds nothing.
 */
export class BatchTotals implements KeptTotals {
  readonly names: NameNumbers;
  readonly clients: ClientNumbers;
  readonly limits: StoredLimits;
  readonly #accounts = new Map<string, number>();
  readonly #spend = new Map<string, { keyId: string; day: string; amount: number }>();
  readonly #served = new Map<string, ServedTotals>();
  readonly #statements: ReturnType<typeof totalsStatements>;
  readonly #folder: UsageTotals;
  readonly #chain: LedgerChain;
  readonly #checkpoint: CheckpointWriter;
  readonly #storedState: () => StoredState;
  #sequence: number;
  #forgottenNames: number | null | undefined;
  #sequenceAtStart: number;

  constructor(database: Connection) {
    this.names = new NameNumbers(database);
    this.clients = new ClientNumbers(database, this.names);
    this.limits = new StoredLimits(database, this);
    this.#folder = new UsageTotals(database);
    this.#chain = new LedgerChain(database);
    this.#checkpoint = new CheckpointWriter(database, this.#chain.tip);
    this.#statements = totalsStatements(database);
    this.#storedState = storedStateReader(database);
    this.#sequence = lastEvent(database);
    this.#sequenceAtStart = this.#sequence;
  }

  /** The sequence of the newest event, including those of the running batch. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Call after the event or the call with this sequence was inserted. */
  addEvent(sequence: number): void {
    this.#sequence = sequence;
  }

  /** Call after the entry was inserted. */
  addEntry(entry: EntryRow): void {
    const amount = entryFormat.get(entry, 'amount');
    this.#addToAccount(entryFormat.get(entry, 'debit'), -amount);
    this.#addToAccount(entryFormat.get(entry, 'credit'), amount);
    this.#chain.add(entry);
  }

  addCall({
    keyId,
    budget,
    day,
    charged,
    caller,
    ownKey,
    tier,
    inputTokens,
    outputTokens,
  }: CallTotals): void {
    if (keyId !== null) this.#addSpend(keyId, day, charged);
    // An autopilot that its schedule runs calls with its own id.
    if (budget !== null && budget !== keyId) this.#addSpend(budget, day, charged);
    const name = `${day}${ownKey}${caller}/${tier}`;
    const served = this.#served.get(name);
    if (served) {
      served.requests += 1;
      served.inputTokens += inputTokens;
      served.outputTokens += outputTokens;
    } else {
      this.#served.set(name, { day, caller, ownKey, tier, requests: 1, inputTokens, outputTokens });
    }
  }

  /** The running batch's change to the balance of an account. */
  pendingChange(account: string): number {
    return this.#accounts.get(account) ?? 0;
  }

  /** The running batch's charges by key and UTC day. */
  pendingSpend(): Iterable<{ keyId: string; day: string; amount: number }> {
    return this.#spend.values();
  }

  /** The names that the running batch adds. */
  pendingNames(): Iterable<readonly [number: number, text: string]> {
    return this.names.added;
  }

  begin(): void {
    this.names.begin();
    this.clients.begin();
    this.#folder.begin();
    this.#chain.begin();
    this.#sequenceAtStart = this.#sequence;
  }

  reload(): void {
    const {
      tip,
      lastName,
      lastEvent: sequence,
      foldedTo,
      forgottenNames,
      checkpointTotal,
    } = this.#storedState();
    if (forgottenNames !== this.#forgottenNames) this.names.forget();
    this.#forgottenNames = forgottenNames;
    this.names.reload(lastName);
    this.clients.reload();
    this.#folder.reload(foldedTo);
    this.#chain.reload(tip);
    this.#checkpoint.reload(checkpointTotal ?? 0);
    this.limits.reset();
    this.#sequence = sequence;
    this.begin();
  }

  /** Writes the totals and the link of the chain; the last step before COMMIT. */
  flush(): void {
    for (const [id, change] of this.#accounts) {
      this.#statements.account.run(id, change);
      this.#checkpoint.changed(id);
    }
    for (const spend of this.#spend.values()) this.#statements.spend.run(spend);
    for (const served of this.#served.values()) this.#statements.served.run(served);
    this.names.flush();
    this.clients.flush();
    this.#folder.flush(this.#sequence);
    this.#chain.flush();
    this.#checkpoint.flush(this.#chain.tip);
    this.#clear();
  }

  /** Writes what the next start compares, before a clean shutdown. */
  close(): void {
    this.#checkpoint.write(this.#chain.tip);
  }

  /** Discards the batch after its ROLLBACK. */
  revert(): void {
    this.names.revert();
    this.clients.revert();
    this.#folder.revert();
    this.#chain.revert();
    this.#checkpoint.revert();
    this.limits.revert();
    this.#clear();
    this.#sequence = this.#sequenceAtStart;
  }

  #addSpend(keyId: string, day: string, charged: number): void {
    if (charged === 0) return;
    const spend = this.#spend.get(day + keyId);
    if (spend) spend.amount += charged;
    else this.#spend.set(day + keyId, { keyId, day, amount: charged });
  }

  #addToAccount(account: string, amount: number): void {
    this.#accounts.set(account, this.pendingChange(account) + amount);
    this.limits.moved(account, amount);
  }

  #clear(): void {
    this.#accounts.clear();
    this.#spend.clear();
    this.#served.clear();
  }
}

function totalsStatements(database: Connection) {
  return {
    account: database.prepare<[string, number]>(
      `INSERT INTO accounts (id, balance) VALUES (?, ?)
       ON CONFLICT (id) DO UPDATE SET ${adding('accounts', ['balance'])}`,
    ),
    spend: database.prepare<[object]>(
      `INSERT INTO key_spend (key_id, day, amount) VALUES (@keyId, @day, @amount)
       ON CONFLICT (key_id, day) DO UPDATE SET ${adding('key_spend', ['amount'])}`,
    ),
    served: database.prepare<[object]>(
      `INSERT INTO served_days (day, caller, own_key, tier, requests, input_tokens, output_tokens)
       VALUES (@day, @caller, @ownKey, @tier, @requests, @inputTokens, @outputTokens)
       ON CONFLICT (day, caller, own_key, tier)
       DO UPDATE SET ${adding('served_days', ['requests', 'input_tokens', 'output_tokens'])}`,
    ),
  };
}
