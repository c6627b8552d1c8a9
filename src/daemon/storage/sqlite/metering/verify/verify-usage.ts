import type { Connection } from '../../engine/connection.ts';
import { everyRow, Fingerprint } from '../usage/fingerprint.ts';
import { asTerms, callAsSums, callSums, summedNames } from '../usage/summed-columns.ts';
import { callGroups, foldedTo, keySpanGroups, keySpans } from '../usage/usage-totals.ts';
import { BudgetsVerification } from './verify-budgets.ts';
import { SlotsVerification } from './verify-slots.ts';

export interface UsageFindings {
  /**
   * Totals that differ from the folded calls, like `key_1 on 2026-11-21`, `key_1 in the 32 days from 2026-11-13`,
   * `all keys on 2026-11-21` and `the latency at 2026-11-21 08:00`.
   */
  wrongTotals: string[];
  /** Request ids of calls that were charged something else than their entries add up to. */
  wrongCharges: string[];
  /** Users and tags of which budgets count something else than their calls were charged. */
  wrongBudgets: string[];
  /** The sum of all charges, nano-dollars. */
  charged: number;
}

/** Sums of a range of calls, and the request ids of those with a wrong charge as JSON. */
interface CallSums {
  print: number;
  charged: number;
  wrong: string;
}

/**
 * Compares all calls with their entries, and their fingerprint with that of the totals. Calls never change, so each step can read
 * its own snapshot.
 */
export class UsageVerification {
  readonly #database: Connection;
  readonly #callsOfStep: number;
  readonly #next: (after: number) => number | undefined;
  readonly #sums: (from: number, to: number) => CallSums | undefined;
  readonly #print = new Fingerprint();
  readonly #slots: SlotsVerification;
  readonly #budgets: BudgetsVerification;
  readonly #wrongCharges: string[] = [];
  #callsPrint = 0;
  #charged = 0;
  /** The number of the last call that was read. */
  #last = Number.MIN_SAFE_INTEGER;

  constructor(database: Connection, { callsOfStep }: { callsOfStep: number }) {
    this.#database = database;
    this.#callsOfStep = callsOfStep;
    this.#slots = new SlotsVerification(database);
    this.#budgets = new BudgetsVerification(database);
    const next = database
      .prepare<[number], number>('SELECT number FROM calls WHERE number > ? ORDER BY number LIMIT 1')
      .pluck();
    const sums = database.prepare<[number, number], CallSums>(
      `SELECT ${this.#print.sum} AS print, sum(charged) AS charged,
         json_group_array(request_id) FILTER (WHERE is_wrong) AS wrong
       FROM (
         SELECT ${this.#print.terms(callGroups, callSums)}, charged, request_id, charged <> (
           SELECT coalesce(sum(amount), 0) FROM entries WHERE request_id = calls.request_id) AS is_wrong
         FROM calls WHERE number BETWEEN ? AND ? ${everyRow}) AS prints`,
    );
    this.#next = (after) => next.get(after);
    this.#sums = (from, to) => sums.get(from, to);
  }

  /** Reads the next folded calls; returns whether there may be more. */
  step(): boolean {
    return this.#read(foldedTo(this.#database), (from, to) => this.#slots.read(from, to));
  }

  /** Reads all calls that are left. Call it in a transaction, so that the totals are those of the calls. */
  finish(): UsageFindings {
    while (this.step());
    const wrongTotals = [...this.#wrongTotals(), ...this.#slots.wrongTotals(foldedTo(this.#database))];
    // The calls that are not folded yet.
    while (this.#read(Number.MAX_SAFE_INTEGER));
    const wrongBudgets = this.#budgets.wrong();
    return { wrongTotals, wrongCharges: this.#wrongCharges, wrongBudgets, charged: this.#charged };
  }

  #read(end: number, alsoRead?: (from: number, to: number) => void): boolean {
    const from = this.#next(this.#last);
    if (from === undefined || from > end) return false;
    const to = Math.min(from + this.#callsOfStep - 1, end);
    const sums = this.#sums(from, to);
    if (sums) {
      this.#callsPrint = this.#print.add(this.#callsPrint, sums.print);
      this.#charged += sums.charged;
      for (const id of JSON.parse(sums.wrong) as string[]) this.#wrongCharges.push(id);
    }
    this.#budgets.read(from, to);
    alsoRead?.(from, to);
    this.#last = to;
    return true;
  }

  /** Compares fingerprints, and groups only what differs. */
  #wrongTotals(): string[] {
    const columns = Object.fromEntries(summedNames.map((name) => [name, name]));
    const printOf = (groups: Readonly<Record<string, string>>, from: string) => {
      const sql = `SELECT ${this.#print.sum} FROM (SELECT ${this.#print.terms(groups, columns)} FROM ${from} ${everyRow}) AS prints`;
      return this.#print.add(0, this.#database.prepare<[], number>(sql).pluck().get() ?? 0);
    };
    const wrong = [
      ...(printOf(keyDays, 'usage_key_days') === this.#callsPrint ? [] : [wrongKeyDays]),
      ...(printOf(days, 'usage_days') === printOf(days, 'usage_key_days') ? [] : [wrongDays]),
      ...(printOf(keys, 'usage_keys') === printOf(keySpanGroups, `usage_key_days CROSS JOIN ${keySpans}`)
        ? []
        : [wrongKeys]),
    ];
    if (wrong.length === 0) return [];
    const sql = `SELECT DISTINCT name FROM (${wrong.join(' UNION ALL ')}) AS wrong ORDER BY 1`;
    return this.#database
      .prepare<{ foldedTo: number }, string>(sql)
      .pluck()
      .all({ foldedTo: foldedTo(this.#database) });
  }
}

const groupsOf = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]));

/** The groups of the tables of totals. */
const days = groupsOf('workspace', 'day', 'model', 'provider', 'status');
const keyDays = groupsOf('key', ...Object.keys(days));
const keys = groupsOf(...Object.keys(keySpanGroups));

const minus = summedNames.map((name) => `-${name}`).join(', ');
const differs = summedNames.map((name) => `sum(${name}) <> 0`).join(' OR ');

/** Selects the names of the groups whose sums in two reads differ. The reads have the groups and the sums, the latter negated. */
function differences(groups: object, name: string, reads: string): string {
  return `SELECT ${name} AS name FROM (${reads}) AS compared GROUP BY ${Object.keys(groups).join(', ')} HAVING ${differs}`;
}

const keyName = "coalesce((SELECT text FROM names WHERE number = key), 'logins')";
const dateOf = (day: string) => `date(${day} * 86400, 'unixepoch')`;
const list = (groups: object) => Object.keys(groups).join(', ');
const names = summedNames.join(', ');

const wrongKeyDays = differences(
  keyDays,
  `${keyName} || ' on ' || ${dateOf('day')}`,
  `SELECT ${list(keyDays)}, ${names} FROM usage_key_days
   UNION ALL SELECT ${list(keyDays)}, ${minus} FROM (
     SELECT ${asTerms(callGroups)}, ${callAsSums(1)} FROM calls WHERE number <= @foldedTo) AS found`,
);

const wrongDays = differences(
  days,
  `'all keys on ' || ${dateOf('day')}`,
  `SELECT ${list(days)}, ${names} FROM usage_days
   UNION ALL SELECT ${list(days)}, ${minus} FROM usage_key_days`,
);

const wrongKeys = differences(
  keys,
  `${keyName} || CASE days WHEN 1 THEN ' on ' ELSE ' in the ' || days || ' days from ' END || ${dateOf('start')}`,
  `SELECT ${list(keys)}, ${names} FROM usage_keys
   UNION ALL SELECT ${asTerms(keySpanGroups)}, ${minus} FROM usage_key_days CROSS JOIN ${keySpans}`,
);
