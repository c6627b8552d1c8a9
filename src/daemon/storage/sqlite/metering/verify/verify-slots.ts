import type { Connection } from '../../engine/connection.ts';
import { everyRow, Fingerprint } from '../usage/fingerprint.ts';
import { slotsKeptFrom } from '../usage/prune-slots.ts';
import {
  attemptGroups,
  attemptSlotMs,
  attemptsOf,
  hourMs,
  labelGroups,
  labelledCalls,
  latenciesOf,
  latencyHoursKept,
  slotMs,
  slotsFrom,
  totalsFrom,
} from '../usage/slot-totals.ts';
import { asTerms, callSums } from '../usage/summed-columns.ts';

type Expressions = Readonly<Record<string, string>>;

/** A table of totals, and how its rows are computed from calls. */
interface SlotTable {
  table: string;
  /** The columns by which it adds up calls, as expressions of a row of `from`. */
  groups: Expressions;
  values: Expressions;
  /** Selects rows of the calls that a condition selects, with `completed_at`. Tables with the same rows also have the same values. */
  from: (calls: string) => string;
  /** What the totals are of, in the words of the findings. */
  name: string;
  /** Of a table of which old rows are deleted: the column of time, and its unit. */
  kept?: { column: string; ms: number; from: 'hours' | 'slots' };
  /** Whether it begins at `slots_from`. */
  isLater?: true;
}

const slotOf = `completed_at / ${slotMs}`;
const calls = (where: string) => `calls WHERE ${where}`;
const timeOf = (time: string, ms: number) =>
  `strftime('%Y-%m-%d %H:%M', ${time} * ${ms / 1000}, 'unixepoch')`;
const dateOf = (day: string) => `date(${day} * 86400, 'unixepoch')`;
const ofModels = { model: 'model', provider: 'provider', metric: 'metric', bucket: 'bucket' };
const latencies = (where: string) => `(${latenciesOf(where)}) AS latencies`;
const labelled = (where: string) => `(${labelledCalls(where)}) AS labelled`;
const { workspace, kind, day } = labelGroups;

const slotTables: readonly SlotTable[] = [
  {
    table: 'usage_slots',
    groups: {
      workspace: 'workspace',
      slot: slotOf,
      model: 'model',
      provider: 'coalesce(provider, 0)',
      status: 'status',
    },
    values: callSums,
    from: calls,
    name: `'all keys at ' || ${timeOf('slot', slotMs)}`,
  },
  {
    table: 'usage_key_slots',
    groups: { workspace: 'workspace', key: 'coalesce(key, 0)', slot: slotOf, status: 'status' },
    values: callSums,
    from: calls,
    name: `coalesce((SELECT text FROM names WHERE number = key), 'logins') || ' at ' || ${timeOf('slot', slotMs)}`,
    kept: { column: 'slot', ms: slotMs, from: 'slots' },
  },
  {
    // Not by value: beyond a number of them, labels are added up together.
    table: 'usage_label_days',
    groups: { workspace, kind, day },
    values: callSums,
    from: labelled,
    name: `'labels on ' || ${dateOf('day')}`,
  },
  {
    table: 'usage_label_slots',
    groups: { workspace, kind, slot: slotOf },
    values: callSums,
    from: labelled,
    name: `'labels at ' || ${timeOf('slot', slotMs)}`,
    kept: { column: 'slot', ms: slotMs, from: 'slots' },
    isLater: true,
  },
  {
    table: 'attempt_slots',
    groups: attemptGroups,
    values: { attempts: '1' },
    from: attemptsOf,
    name: `'the attempts at ' || ${timeOf('slot', attemptSlotMs)}`,
    kept: { column: 'slot', ms: attemptSlotMs, from: 'slots' },
    isLater: true,
  },
  {
    table: 'latency_days',
    groups: { workspace: 'workspace', day: 'hour / 24', ...ofModels },
    values: { calls: '1' },
    from: latencies,
    name: `'the latency on ' || ${dateOf('day')}`,
  },
  {
    table: 'latency_hours',
    groups: { workspace: 'workspace', hour: 'hour', ...ofModels },
    values: { calls: '1' },
    from: latencies,
    name: `'the latency at ' || ${timeOf('hour', hourMs)}`,
    kept: { column: 'hour', ms: hourMs, from: 'hours' },
  },
];

/** Tables that add up the same rows, and their fingerprints so far. */
interface VerifiedTables {
  tables: { definition: SlotTable; print: number }[];
  /** The fingerprint of the calls in a range of numbers, for each table. */
  read: (from: number, to: number) => readonly number[];
}

/** When the newest folded call completed. */
function newestCall(database: Connection): number {
  const newest = database.prepare<[], number | null>('SELECT max(slot) FROM usage_slots').pluck().get();
  return (newest ?? 0) * slotMs;
}

/** Compares the totals by slot and label, and of latency, with all folded calls since these totals began. */
export class SlotsVerification {
  readonly #database: Connection;
  readonly #print = new Fingerprint();
  readonly #sources: VerifiedTables[];
  /** Before these times rows may be deleted already. */
  readonly #kept: { hours: number; slots: number };

  constructor(database: Connection) {
    this.#database = database;
    const newest = database.prepare<[], number | null>('SELECT max(hour) FROM latency_hours').pluck().get();
    // A day later, as rows are deleted during the verification.
    this.#kept = {
      hours: ((newest ?? 0) - latencyHoursKept + 24) * hourMs,
      slots: slotsKeptFrom(newestCall(database)) + 24 * hourMs,
    };
    this.#sources = [...Map.groupBy(slotTables, ({ from }) => from).values()].map((tables) =>
      this.#sourceOf(tables),
    );
  }

  /** Reads the rows that tables have in common once for all of them, as computing them is most of the work. */
  #sourceOf(tables: readonly SlotTable[]): VerifiedTables {
    const [{ from: rowsOf, values } = slotTables[0] as SlotTable] = tables;
    const times = tables.map((table) => this.#from(table));
    const rows = rowsOf(`number BETWEEN ? AND ? AND completed_at >= ${Math.min(...times)}`);
    const bounds = rows.split('?').length - 1;
    const groups = tables.map((table) => table.groups);
    const sums = times.map((time, index) => this.#print.sumOfTable(index, `completed_at >= ${time}`));
    const statement = this.#database
      .prepare<number[], number[]>(
        `SELECT ${sums.join(', ')} FROM (
           SELECT completed_at, ${this.#print.termsOfTables(groups, values)} FROM ${rows} ${everyRow}) AS prints`,
      )
      .raw();
    const read = (from: number, to: number) =>
      statement.get(...Array.from({ length: bounds }, (_, index) => (index % 2 === 0 ? from : to))) ?? [];
    return { tables: tables.map((definition) => ({ definition, print: 0 })), read };
  }

  /** Adds the folded calls in a range of numbers. */
  read(from: number, to: number): void {
    for (const { tables, read } of this.#sources) {
      const prints = read(from, to);
      for (const [index, each] of tables.entries())
        each.print = this.#print.add(each.print, prints[index] ?? 0);
    }
  }

  /** The names of the groups whose totals differ from those of the calls up to `foldedTo`. */
  wrongTotals(foldedTo: number): string[] {
    return this.#sources
      .flatMap(({ tables }) => tables)
      .filter(({ definition, print }) => this.#printOf(definition) !== print)
      .flatMap(({ definition }) => this.#differences(definition, foldedTo));
  }

  /** From when on a table has all calls. */
  #from({ kept, isLater }: SlotTable): number {
    const began = isLater ? slotsFrom(this.#database) : totalsFrom(this.#database);
    return Math.max(began, kept ? this.#kept[kept.from] : 0);
  }

  #rows({ table, kept }: SlotTable): string {
    return kept ? `${table} WHERE ${kept.column} >= ${Math.ceil(this.#kept[kept.from] / kept.ms)}` : table;
  }

  #printOf(definition: SlotTable): number {
    const columnsOf = (expressions: Expressions) =>
      Object.fromEntries(Object.keys(expressions).map((name) => [name, name]));
    const terms = this.#print.terms(columnsOf(definition.groups), columnsOf(definition.values));
    const sql = `SELECT ${this.#print.sum} FROM (SELECT ${terms} FROM ${this.#rows(definition)} ${everyRow}) AS prints`;
    return this.#print.add(0, this.#database.prepare<[], number>(sql).pluck().get() ?? 0);
  }

  #differences(definition: SlotTable, foldedTo: number): string[] {
    const { groups, values, name } = definition;
    const by = Object.keys(groups).join(', ');
    const sums = Object.keys(values);
    const found = asTerms(
      Object.fromEntries(Object.entries(values).map(([column, value]) => [column, `-(${value})`])),
    );
    const rows = definition.from(`number <= ${foldedTo} AND completed_at >= ${this.#from(definition)}`);
    return this.#database
      .prepare<[], string>(
        `SELECT DISTINCT ${name} FROM (
           SELECT ${by}, ${sums.join(', ')} FROM ${this.#rows(definition)}
           UNION ALL SELECT ${asTerms(groups)}, ${found} FROM ${rows}) AS compared
         GROUP BY ${by} HAVING ${sums.map((column) => `sum(${column}) <> 0`).join(' OR ')} ORDER BY 1`,
      )
      .pluck()
      .all();
  }
}
