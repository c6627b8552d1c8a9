import type { Connection } from '../../engine/connection.ts';
import { readMeta, writeMeta } from '../../engine/meta.ts';
import { fixedNames } from '../../engine/names.ts';
import { adding } from '../../engine/row-format.ts';
import { dearFrom, type IndexKind, indexKinds, longFrom, unlistedStatus } from './index-kinds.ts';
import { SlotPruner } from './prune-slots.ts';
import { slotMs, slotStatements, slotsFrom, slotTables, totalsFrom } from './slot-totals.ts';
import { asTerms, callSumTerms, summedNames, tagNumber, temporaryTable } from './summed-columns.ts';

export const dayMs = 86_400_000;

/** After so many calls the writer folds them: takes 3 ms. Reads look at the calls that are not folded one by one. */
const foldedAtOnce = 512;

/** The length of the longer spans in `usage_keys`; the others are days. */
export const spanDays = 32;

const beforeFirst = Number.MIN_SAFE_INTEGER;

/** The number of the last folded call, or a number before the first call. */
export function foldedTo(database: Connection): number {
  return readMeta(database, 'folded_to') ?? beforeFirst;
}

/**
 * Adds calls to the totals and to `call_index`, many at once: several B-trees per call would double the pages that a
 * settlement writes. Folding is part of a settlement's transaction, so that totals, index and `folded_to` always agree.
 */
export class UsageTotals {
  readonly #database: Connection;
  readonly #statements: { run(range: object): unknown }[];
  readonly #pruner: SlotPruner;
  readonly #totalsFrom: number;
  readonly #slotsFrom: number;
  #foldedTo: number;
  #foldedToAtStart: number;

  constructor(database: Connection) {
    this.#database = database;
    for (const table of [foldingTable, ...slotTables]) database.exec(table);
    this.#statements = foldStatements.map((sql) => database.prepare<[object]>(sql));
    this.#pruner = new SlotPruner(database);
    this.#totalsFrom = totalsFrom(database);
    this.#slotsFrom = slotsFrom(database);
    this.#foldedTo = foldedTo(database);
    this.#foldedToAtStart = this.#foldedTo;
  }

  begin(): void {
    this.#foldedToAtStart = this.#foldedTo;
  }

  /** Call it in a transaction whose database another writer has changed, with its `folded_to`. */
  reload(foldedTo: number | null): void {
    this.#foldedTo = foldedTo ?? beforeFirst;
  }

  /** Folds the calls up to the last one, if there are enough. */
  flush(last: number): void {
    if (last - this.#foldedTo >= foldedAtOnce) this.fold(last);
  }

  /** Folds the calls up to the last one, however few they are. */
  fold(last: number): void {
    const range = {
      after: this.#foldedTo,
      last,
      totalsFrom: this.#totalsFrom,
      fromSlot: this.#totalsFrom / slotMs,
      slotsFrom: this.#slotsFrom,
      fromLabelSlot: this.#slotsFrom / slotMs,
    };
    for (const statement of this.#statements) statement.run(range);
    this.#pruner.prune(range);
    writeMeta(this.#database, 'folded_to', last);
    this.#foldedTo = last;
  }

  /** Discards the batch after its ROLLBACK. */
  revert(): void {
    this.#foldedTo = this.#foldedToAtStart;
  }
}

const names = summedNames.join(', ');
const addingTo = (table: string) => adding(table, summedNames);
const adds = summedNames.map((name) => `sum(${name})`).join(', ');
const groups = 'day, model, provider, status';

/** The groups of `usage_key_days`, computed from a row of `calls`. */
export const callGroups = {
  workspace: 'workspace',
  key: 'coalesce(key, 0)',
  day: `completed_at / ${dayMs}`,
  model: 'model',
  provider: 'coalesce(provider, 0)',
  status: 'status',
};

/** What a row with a day and a model adds to in `usage_keys`: the four rows that a join with this makes of it. */
export const keySpans = `(SELECT CAST(1 AS bigint) AS days UNION ALL SELECT ${spanDays}) AS spans
  CROSS JOIN (SELECT 0 AS by_model UNION ALL SELECT 1) AS models`;

/** The groups of `usage_keys`, computed from a row that is joined with `keySpans`. */
export const keySpanGroups = {
  workspace: 'workspace',
  model: 'model * by_model',
  days: 'days',
  start: 'day / days * days',
  key: 'key',
};

/** The totals of the calls that are being folded, by the groups of `usage_key_days` and slots: most other totals are sums of these. */
const foldingTable = temporaryTable('folding', `workspace, key, ${groups}, slot, ${names}`);

const indexRows = (kind: IndexKind, value: string, where = 'TRUE', from = 'calls') =>
  `SELECT workspace, ${indexKinds[kind]}, ${value}, completed_at, number FROM ${from}
   WHERE number > @after AND number <= @last AND ${where}`;

const isGiven = (column: string) => `${column} IS NOT NULL`;
const log2 = (value: string) => `CAST(floor(log2(${value})) AS bigint)`;
const cost = '(cost_provider + cost_margin)';

// "WHERE TRUE" keeps SQLite from reading ON as the start of a join.
const foldStatements = [
  `INSERT INTO folding (workspace, key, ${groups}, slot, ${names})
   SELECT ${asTerms(callGroups)}, completed_at / ${slotMs}, ${callSumTerms} FROM calls
   WHERE number > @after AND number <= @last GROUP BY 1, 2, 3, 4, 5, 6, 7`,
  `INSERT INTO usage_key_days (workspace, key, ${groups}, ${names})
   SELECT workspace, key, ${groups}, ${adds} FROM folding WHERE TRUE GROUP BY 1, 2, 3, 4, 5, 6
   ON CONFLICT (workspace, key, ${groups}) DO UPDATE SET ${addingTo('usage_key_days')}`,
  `INSERT INTO usage_days (workspace, ${groups}, ${names})
   SELECT workspace, ${groups}, ${adds} FROM folding WHERE TRUE GROUP BY 1, 2, 3, 4, 5
   ON CONFLICT (workspace, ${groups}) DO UPDATE SET ${addingTo('usage_days')}`,
  `INSERT INTO usage_keys (workspace, model, days, start, key, ${names})
   SELECT ${asTerms(keySpanGroups)}, ${adds} FROM folding CROSS JOIN ${keySpans} WHERE TRUE GROUP BY 1, 2, 3, 4, 5
   ON CONFLICT (workspace, model, days, start, key) DO UPDATE SET ${addingTo('usage_keys')}`,
  ...slotStatements,
  'DELETE FROM folding',
  `INSERT INTO call_index (workspace, kind, value, completed_at, number)
   ${[
     indexRows('all', '0'),
     indexRows('key', 'key', isGiven('key')),
     indexRows('model', 'model'),
     indexRows('provider', 'provider', isGiven('provider')),
     indexRows('status', 'status', `status <> ${fixedNames[unlistedStatus]}`),
     indexRows('user', 'end_user', isGiven('end_user')),
     indexRows('tag', tagNumber, 'TRUE', 'calls CROSS JOIN json_each(calls.tags)'),
     indexRows('conversation', 'conversation', isGiven('conversation')),
     indexRows('replayOf', 'replay_of', isGiven('replay_of')),
     indexRows('errorCode', 'error_code', isGiven('error_code')),
     indexRows('duration', log2('total_ms'), `total_ms >= ${2 ** longFrom}`),
     indexRows('cost', log2(cost), `${cost} >= ${dearFrom}`),
   ].join(' UNION ALL ')}
   ORDER BY 1, 2, 3, 4, 5`,
];
