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
  return reading(home, read);
}

/** The settled calls of one model. */
export function readUsage(home: string, model: string): UsageRow[] {
  return reading(home, (database) => usageRows(database, model));
}

/** How many holds there are. */
export function countHolds(home: string): number {
  return reading(
    home,
    (database) => database.prepare<[], number>('SELECT count(*) FROM holds').pluck().get() ?? 0,
  );
}

function reading<T>(home: string, look: (database: Database.Database) => T): T {
  const database = new Database(join(home, 'gateway.db'), { readonly: true });
  try {
    return database.transaction(() => look(database))();
  } finally {
    database.close();
  }
}

function read(database: Database.Database): Ledger {
  const holds = database
    .prepare<[], Ledger['holds'][number]>(
      `SELECT request_id AS requestId, model, amount, prompt_cost AS promptCost, progress_cost AS progressCost
       FROM holds`,
    )
    .all();
  const usage = usageRows(database);
  return {
    holds,
    usage,
    usageOf: (model) => usage.filter((row) => row.model === model),
    faults: faultsIn(database),
  };
}

function usageRows(database: Database.Database, model?: string): UsageRow[] {
  const rows = database
    .prepare<[{ model: string | null }], Omit<UsageRow, 'attempts'> & { details: string }>(
      `SELECT request_id AS requestId, model, provider, streamed, status, error_code AS errorCode, input, output,
         tokens_reported AS isReported, cost_provider + cost_margin AS cost, charged, details
       FROM usage WHERE @model IS NULL OR model = @model`,
    )
    .all({ model: model ?? null });
  const names = new NameTexts(database);
  return rows.map(({ details, ...row }) => {
    const named = mapNames(JSON.parse(details) as CallDetails<number>, (name) => names.of(name));
    return { ...row, attempts: readDetails(named).attempts };
  });
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
