import type { Connection } from '../engine/connection.ts';
import { lastEvent } from '../engine/meta.ts';
import { type ChainedEntry, LedgerChain } from './chain.ts';

/** What one settled call adds to the sums of its day. */
export type Tally = readonly [
  keyId: string | null,
  day: string,
  charged: number,
  caller: 'key' | 'agent',
  ownKey: 0 | 1,
  tier: 'paid' | 'free',
  inputTokens: number,
  outputTokens: number,
];

type ServedRow = [
  day: string,
  caller: string,
  ownKey: number,
  tier: string,
  requests: number,
  inputTokens: number,
  outputTokens: number,
];

/**
 * Sums that many calls of one batch share: kept here while the batch runs and written once before its COMMIT.
 * An operation adds to them only after its own statements have succeeded, so one that fails adds nothing.
 */
export class Totals {
  readonly #accounts = new Map<string, number>();
  readonly #spend = new Map<string, [keyId: string, day: string, amount: number]>();
  readonly #served = new Map<string, ServedRow>();
  readonly #write: ReturnType<typeof totalsStatements>;
  #sequence: number;
  readonly #chain: LedgerChain;
  #sequenceAtStart: number;

  constructor(database: Connection) {
    this.#chain = new LedgerChain(database);
    this.#write = totalsStatements(database);
    this.#sequence = lastEvent(database);
    this.#sequenceAtStart = this.#sequence;
  }

  /** The sequence of the newest event, those of the running batch included. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Call it after the event with this sequence was inserted. */
  eventWritten(sequence: number): void {
    this.#sequence = sequence;
  }

  /** Call it after the entry was inserted. */
  entered(entry: ChainedEntry): void {
    const [, , debit, credit, amount] = entry;
    this.#accounts.set(debit, (this.#accounts.get(debit) ?? 0) - amount);
    this.#accounts.set(credit, (this.#accounts.get(credit) ?? 0) + amount);
    this.#chain.add(entry);
  }

  count([keyId, day, charged, caller, ownKey, tier, inputTokens, outputTokens]: Tally): void {
    if (keyId !== null && charged > 0) {
      const name = day + keyId;
      const spend = this.#spend.get(name);
      if (spend) spend[2] += charged;
      else this.#spend.set(name, [keyId, day, charged]);
    }
    const name = `${day}${ownKey}${caller}/${tier}`;
    const served = this.#served.get(name);
    if (served) {
      served[4] += 1;
      served[5] += inputTokens;
      served[6] += outputTokens;
    } else {
      this.#served.set(name, [day, caller, ownKey, tier, 1, inputTokens, outputTokens]);
    }
  }

  /** What the running batch changes an account by. */
  pending(account: string): number {
    return this.#accounts.get(account) ?? 0;
  }

  begin(): void {
    this.#chain.begin();
    this.#sequenceAtStart = this.#sequence;
  }

  /** Writes the sums and the link of the chain; the last thing before COMMIT. */
  flush(): void {
    for (const [id, change] of this.#accounts) this.#write.account.run(id, change);
    for (const row of this.#spend.values()) this.#write.spend.run(row);
    for (const row of this.#served.values()) this.#write.served.run(row);
    this.#chain.flush();
    this.#clear();
  }

  /** Forgets the batch after its ROLLBACK. */
  revert(): void {
    this.#chain.revert();
    this.#clear();
    this.#sequence = this.#sequenceAtStart;
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
       ON CONFLICT DO UPDATE SET balance = balance + excluded.balance`,
    ),
    spend: database.prepare<[[string, string, number]]>(
      `INSERT INTO key_spend (key_id, day, amount) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET amount = amount + excluded.amount`,
    ),
    served: database.prepare<[ServedRow]>(
      `INSERT INTO served_days (day, caller, own_key, tier, requests, input_tokens, output_tokens)
       VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
         input_tokens = input_tokens + excluded.input_tokens,
         output_tokens = output_tokens + excluded.output_tokens`,
    ),
  };
}
