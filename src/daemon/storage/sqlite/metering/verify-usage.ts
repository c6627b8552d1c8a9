import type { Connection } from '../engine/connection.ts';
import { callAsSums, dayMs, foldedTo, summedNames } from './fold-calls.ts';

const group = 'workspace, day, model, provider, status';
const keyGroup = `key, ${group}`;
const names = summedNames.join(', ');
const differs = summedNames.map((name) => `sum(${name}) <> 0`).join(' OR ');
const minus = summedNames.map((name) => `-${name}`).join(', ');

export interface UsageFindings {
  /** Daily totals that differ from the folded calls, like `key_1 on 2026-11-21`, and totals of all keys, like `all keys on 2026-11-21`. */
  wrongTotals: string[];
  /** Request ids of calls that were charged something else than their entries add up to. */
  wrongCharges: string[];
  /** What all calls were charged, nano-dollars. */
  charged: number;
}

let tables = 0;

/**
 * Compares all calls with their entries and with the daily totals. Calls never change, so each step can read its own snapshot.
 * Their sums are collected in a temporary table with the columns of `usage_key_days`.
 */
export class UsageVerification {
  readonly #database: Connection;
  readonly #callsOfStep: number;
  readonly #table: string;
  readonly #wrongCharges: string[] = [];
  /** The number of the last call that was read. */
  #last = Number.MIN_SAFE_INTEGER;

  /** A step reads so many calls. They are sorted in memory, which many more would not fit into. */
  constructor(database: Connection, { callsOfStep }: { callsOfStep: number }) {
    this.#database = database;
    this.#callsOfStep = callsOfStep;
    tables += 1;
    this.#table = `temp.call_sums_${tables}`;
    database.exec(
      `CREATE TABLE ${this.#table} (${keyGroup}, ${names}, PRIMARY KEY (${keyGroup})) WITHOUT ROWID`,
    );
  }

  /** Reads the next folded calls; returns whether there may be more. */
  step(): boolean {
    return this.#read(foldedTo(this.#database));
  }

  /** Reads all calls that are left. Call it in a transaction, so that the totals are those of the calls. */
  finish(): UsageFindings {
    while (this.step());
    const wrongTotals = this.#wrongTotals();
    // The calls that are not folded yet.
    while (this.#read(Number.MAX_SAFE_INTEGER));
    const charged = this.#one<[], number>(`SELECT coalesce(sum(charged), 0) FROM ${this.#table}`)() ?? 0;
    return { wrongTotals, wrongCharges: this.#wrongCharges, charged };
  }

  close(): void {
    this.#database.exec(`DROP TABLE ${this.#table}`);
  }

  #read(end: number): boolean {
    const next = this.#one<[number], number>(
      'SELECT number FROM calls WHERE number > ? ORDER BY number LIMIT 1',
    );
    const from = next(this.#last);
    if (from === undefined || from > end) return false;
    const range = { from, to: Math.min(from + this.#callsOfStep - 1, end) };
    this.#database.prepare<[object]>(addCalls(this.#table)).run(range);
    const wrong = this.#database.prepare<[object], string>(wrongCharges).pluck().all(range);
    this.#wrongCharges.push(...wrong);
    this.#last = range.to;
    return true;
  }

  #wrongTotals(): string[] {
    const byKey = `SELECT coalesce((SELECT text FROM names WHERE number = key), 'logins') AS name, day FROM (
      SELECT ${keyGroup}, ${names} FROM ${this.#table}
      UNION ALL SELECT ${keyGroup}, ${minus} FROM usage_key_days
    ) GROUP BY ${keyGroup} HAVING ${differs}`;
    const ofAll = `SELECT 'all keys' AS name, day FROM (
      SELECT ${group}, ${names} FROM usage_key_days
      UNION ALL SELECT ${group}, ${minus} FROM usage_days
    ) GROUP BY ${group} HAVING ${differs}`;
    return this.#database
      .prepare<[], string>(
        `SELECT DISTINCT name || ' on ' || date(day * 86400, 'unixepoch') FROM (${byKey} UNION ALL ${ofAll}) ORDER BY 1`,
      )
      .pluck()
      .all();
  }

  #one<Values extends unknown[], Value>(sql: string): (...values: Values) => Value | undefined {
    const statement = this.#database.prepare<Values, Value>(sql).pluck();
    return (...values) => statement.get(...values);
  }
}

// Grouping by two columns in one number takes less time.
const addCalls = (table: string) => `
  INSERT INTO ${table} (${keyGroup}, ${names})
  SELECT ${keyGroup}, ${summedNames.map((name) => `sum(${name})`).join(', ')} FROM (
    SELECT workspace, coalesce(key, 0) AS key, completed_at / ${dayMs} AS day, model, coalesce(provider, 0) AS provider,
      status, ${callAsSums(1)} FROM calls WHERE number BETWEEN @from AND @to)
  WHERE TRUE GROUP BY day << 32 | key, model << 32 | provider, workspace, status
  ON CONFLICT DO UPDATE SET ${summedNames.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`;

const wrongCharges = `
  SELECT request_id FROM calls WHERE number BETWEEN @from AND @to AND charged <> (
    SELECT coalesce(sum(amount), 0) FROM entries WHERE request_id = calls.request_id)`;
