import { join } from 'node:path';
import Database from 'better-sqlite3';
import { NameTexts } from '../../src/daemon/storage/sqlite/engine/names.ts';
import {
  type CallDetails,
  mapNames,
  readDetails,
} from '../../src/daemon/storage/sqlite/metering/call-details.ts';

export interface UsageRow {
  requestId: string;
  model: string;
  provider: string | null;
  streamed: number;
  status: string;
  errorCode: string | null;
  input: number;
  output: number;
  isReported: number;
  cost: number | null;
  charged: number;
  attempts: { provider: string; model: string; status: number; errorCode: string | null }[];
}

export interface Ledger {
  /** Unsettled holds. */
  holds: {
    requestId: string;
    model: string;
    amount: number;
    promptCost: number;
    progressCost: number | null;
  }[];
  usage: UsageRow[];
  usageOf(model: string): UsageRow[];
  /** Inconsistencies of the ledger, as sentences. */
  faults: string[];
}

/** Reads a daemon's ledger from its database, which may be in use, and recomputes all sums. */
export function readLedger(home: string): Ledger {
  const ledger = new OpenLedger(home);
  try {
    return ledger.read();
  } finally {
    ledger.close();
  }
}

type UsageColumns = Omit<UsageRow, 'attempts'> & { details: string };

const usageColumns = `request_id AS requestId, model, provider, streamed, status, error_code AS errorCode, input, output,
  tokens_reported AS isReported, cost_provider + cost_margin AS cost, charged, details`;

/** A daemon's ledger, for tests that look into it again and again: opening a database takes longer than most looks. */
export class OpenLedger {
  readonly #database: Database.Database;
  readonly #all: Database.Statement<[], UsageColumns>;
  readonly #ofModel: Database.Statement<[string], UsageColumns>;
  readonly #holdCount: Database.Statement<[], number>;
  readonly #names: NameTexts;

  constructor(home: string) {
    const database = new Database(join(home, 'gateway.db'), { readonly: true });
    this.#database = database;
    this.#all = database.prepare(`SELECT ${usageColumns} FROM usage`);
    this.#ofModel = database.prepare(`SELECT ${usageColumns} FROM usage WHERE number IN
      (SELECT calls.number FROM calls JOIN names ON names.number = calls.model WHERE names.text = ?)`);
    this.#holdCount = database.prepare<[], number>('SELECT count(*) FROM holds').pluck();
    this.#names = new NameTexts(database);
  }

  /** Everything, as of one moment. */
  read(): Ledger {
    return this.#database.transaction(() => {
      const holds = this.#database
        .prepare<[], Ledger['holds'][number]>(
          `SELECT request_id AS requestId, model, amount, prompt_cost AS promptCost, progress_cost AS progressCost
           FROM holds`,
        )
        .all();
      const usage = this.#rows(this.#all.all());
      const faults = faultsIn(this.#database);
      return { holds, usage, usageOf: (model: string) => usage.filter((row) => row.model === model), faults };
    })();
  }

  /** The settled calls of one model. */
  usageOf(model: string): UsageRow[] {
    return this.#rows(this.#ofModel.all(model));
  }

  countHolds(): number {
    return this.#holdCount.get() ?? 0;
  }

  close(): void {
    this.#database.close();
  }

  #rows(rows: UsageColumns[]): UsageRow[] {
    return rows.map(({ details, ...row }) => {
      const named = mapNames(JSON.parse(details) as CallDetails<number>, (name) => this.#names.of(name));
      return { ...row, attempts: readDetails(named).attempts };
    });
  }
}

function faultsIn(database: Database.Database): string[] {
  const faults: string[] = [];
  const one = (sql: string) => database.prepare<[], number>(sql).pluck().get() ?? 0;
  const total = one('SELECT coalesce(sum(balance), 0) FROM accounts');
  if (total !== 0) faults.push(`all accounts together hold ${total}`);
  const entries = one("SELECT coalesce(sum(amount), 0) FROM entries WHERE kind <> 'grant'");
  const charged = one('SELECT coalesce(sum(charged), 0) FROM usage');
  if (entries !== charged) faults.push(`entries of ${entries} for charges of ${charged}`);
  const overdrawn = one(
    'SELECT count(*) FROM usage WHERE charged < 0 OR charged > cost_provider + cost_margin',
  );
  if (overdrawn > 0) faults.push(`${overdrawn} calls were charged below zero or more than they cost`);
  const both = one('SELECT count(*) FROM holds JOIN usage USING (request_id)');
  if (both > 0) faults.push(`${both} calls are both held and settled`);
  const wrong = one(
    `SELECT count(*) FROM accounts WHERE balance <>
       (SELECT coalesce(sum(amount), 0) FROM entries WHERE credit = id) -
       (SELECT coalesce(sum(amount), 0) FROM entries WHERE debit = id)`,
  );
  if (wrong > 0) faults.push(`${wrong} balances are not the sum of their entries`);
  return faults;
}
