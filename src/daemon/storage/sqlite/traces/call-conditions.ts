import { isMeant, isPattern } from '../../../../shared/calls/query.ts';
import type { SearchTerm, TermField, TracesSearch } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { dearFrom, type IndexKind, isListed, longFrom } from '../metering/usage/index-kinds.ts';
import { totalsFrom } from '../metering/usage/slot-totals.ts';
import { tagNumber } from '../metering/usage/summed-columns.ts';

/** ⌊log₂⌋ of more milliseconds or nano-dollars than any call has. */
export const log2Max = 53;
/** A list is read for so many values at most. */
const driverValuesMax = 20;
/** Keys with one name, or whose names match one pattern. */
const keysMax = 10_000;

/** Conditions of a row of `calls`, with the values that they bind. */
export interface Conditions {
  sql: string;
  values: Record<string, number | string>;
}

/** A list of `call_index` that has all matches, from a time on. */
export interface Driver {
  kind: IndexKind;
  values: number[];
  from: number;
}

/** A term with the numbers of its values that are no patterns. */
interface NumberedTerm extends SearchTerm {
  numbers: number[];
  patterns: string[];
}

const columns: Record<TermField, string> = {
  status: 'calls.status',
  errorCode: 'calls.error_code',
  endpoint: 'calls.endpoint',
  model: 'calls.model',
  provider: 'calls.provider',
  keyId: 'calls.key',
  client: 'calls.client',
  user: 'calls.end_user',
  conversation: 'calls.conversation',
  tag: tagNumber,
  httpStatus: 'calls.http_status',
  replayOf: 'calls.replay_of',
};

/** What a search looks for, by the numbers of names. */
export interface Looked {
  conditions: Conditions;
  drivers: Driver[];
}

/** Undefined if a term names what no call has. */
export function lookFor(
  database: Connection,
  names: NameTexts,
  search: Pick<TracesSearch, 'workspaceId' | 'terms' | 'minTotalMs' | 'minCost'>,
  range: { workspace: number; since: number },
): Looked | undefined {
  const withIds = (term: SearchTerm) =>
    term.field === 'keyId' ? { ...term, values: keyIdsOf(database, [search.workspaceId], term) } : term;
  const terms = search.terms
    .map(withIds)
    .map((term) => numbered(database, names, { term, workspace: range.workspace }));
  const isHopeless = ({ isExcluded, numbers, patterns }: NumberedTerm) =>
    !isExcluded && numbers.length === 0 && patterns.length === 0;
  if (terms.some(isHopeless)) return undefined;
  return {
    conditions: conditionsOf(terms, search),
    drivers: driversOf(database, { terms, search, since: range.since }),
  };
}

/** The ids of the keys of workspaces that a term names by id or name. */
export function keyIdsOf(
  database: Connection,
  workspaceIds: readonly string[],
  { values, isExact = false }: Pick<SearchTerm, 'values' | 'isExact'>,
): string[] {
  const named = database
    .prepare<[object], string>(
      `SELECT id FROM keys WHERE workspace_id IN (SELECT value FROM json_each(@workspaceIds))
         AND ${isExact ? 'name = @name' : 'glob(@name, name)'} LIMIT ${keysMax}`,
    )
    .pluck();
  const isId = (value: string) => /^[a-z]+_[0-9a-z]{26}$/.test(value);
  return values.flatMap((value) =>
    isId(value)
      ? value
      : [
          value,
          ...named.all({ workspaceIds: JSON.stringify(workspaceIds), name: isExact ? value : globOf(value) }),
        ],
  );
}

function numbered(
  database: Connection,
  names: NameTexts,
  { term, workspace }: { term: SearchTerm; workspace: number },
): NumberedTerm {
  if (term.field === 'httpStatus')
    return { ...term, numbers: httpStatuses.filter((status) => isMeant(String(status), term)), patterns: [] };
  const plain = term.values.filter((value) => !isPattern(value, term));
  const numbers =
    term.field === 'client' && !term.isExact
      ? plain.flatMap((client) => clientsLike(database, workspace, client))
      : plain.flatMap((value) => names.numberOf(value) ?? []);
  return { ...term, numbers, patterns: term.values.filter((value) => isPattern(value, term)).map(globOf) };
}

/** Those that a response can have. */
const httpStatuses = Array.from({ length: 500 }, (_, index) => 100 + index);

/** Only `*` has a meaning in a pattern of a term. */
export function globOf(pattern: string): string {
  return pattern.replaceAll(/[[?]/g, '[$&]');
}

/** A client in any version, `claude-cli`, or in one, `claude-cli/2.1.4`. */
function clientsLike(database: Connection, workspace: number, client: string): number[] {
  return database
    .prepare<[{ workspace: number; client: string }], number>(
      `SELECT client FROM clients CROSS JOIN names WHERE number = client AND workspace = @workspace AND (text = @client OR substr(text, 1, length(@client) + 1) = @client || '/')
       UNION SELECT number FROM names WHERE text = @client`,
    )
    .pluck()
    .all({ workspace, client });
}

function conditionsOf(
  terms: readonly NumberedTerm[],
  { minTotalMs, minCost }: Pick<TracesSearch, 'minTotalMs' | 'minCost'>,
): Conditions {
  const sql: string[] = [];
  const values: Conditions['values'] = {};
  for (const [index, term] of terms.entries()) {
    const condition = conditionOf(term, `term${index}`, values);
    sql.push(term.isExcluded ? `(${condition}) IS NOT TRUE` : condition);
  }
  if (minTotalMs !== undefined) {
    sql.push('calls.total_ms >= @minTotalMs');
    values.minTotalMs = minTotalMs;
  }
  if (minCost !== undefined) {
    sql.push('calls.cost_provider + calls.cost_margin >= @minCost');
    values.minCost = minCost;
  }
  return { sql: sql.length === 0 ? 'TRUE' : sql.join(' AND '), values };
}

/** Adds the values that the condition binds. */
function conditionOf(
  { field, numbers, patterns }: NumberedTerm,
  name: string,
  values: Conditions['values'],
): string {
  const column = columns[field];
  const any = [`${column} IN (SELECT CAST(listed.value AS bigint) FROM json_each(@${name}) AS listed)`];
  values[name] = JSON.stringify(numbers);
  if (patterns.length > 0) {
    const globs = patterns.map((pattern, index) => {
      values[`${name}_${index}`] = pattern;
      return `glob(@${name}_${index}, text)`;
    });
    any.push(`EXISTS (SELECT 1 FROM names WHERE names.number = ${column} AND (${globs.join(' OR ')}))`);
  }
  const condition = `(${any.join(' OR ')})`;
  return field === 'tag' ? `EXISTS (SELECT 1 FROM json_each(calls.tags) WHERE ${condition})` : condition;
}

interface DriverQuery {
  terms: readonly NumberedTerm[];
  search: Pick<TracesSearch, 'minTotalMs' | 'minCost'>;
  since: number;
}

/** The lists to read, newest calls first: those that began later have all calls only since then. */
function driversOf(
  database: Connection,
  { terms, search: { minTotalMs, minCost }, since }: DriverQuery,
): Driver[] {
  const one = (kind: IndexKind, field: TermField): Driver[] => {
    const term = terms.find(
      (each) =>
        each.field === field &&
        !each.isExcluded &&
        each.patterns.length === 0 &&
        each.numbers.length <= driverValuesMax,
    );
    return term ? [{ kind, values: term.numbers, from: since }] : [];
  };
  const upwards = (kind: IndexKind, from: number): Driver => ({
    kind,
    values: Array.from({ length: log2Max - from + 1 }, (_, index) => from + index),
    from: since,
  });
  // No call before these lists had such a label.
  const [byLabel] = [
    ...one('replayOf', 'replayOf'),
    ...one('conversation', 'conversation'),
    ...one('user', 'user'),
    ...one('tag', 'tag'),
  ];
  if (byLabel) return [byLabel];
  const [base] = [
    ...one('status', 'status').filter(({ values }) => values.every(isListed)),
    ...one('key', 'keyId'),
    ...one('model', 'model'),
    ...one('provider', 'provider'),
    { kind: 'all' as const, values: [0], from: since },
  ];
  const [rare] = [
    ...one('errorCode', 'errorCode'),
    ...(minCost !== undefined && minCost >= dearFrom
      ? [upwards('cost', Math.floor(Math.log2(minCost)))]
      : []),
    ...(minTotalMs !== undefined && minTotalMs >= 2 ** longFrom
      ? [upwards('duration', Math.floor(Math.log2(minTotalMs)))]
      : []),
  ];
  if (!base) return [];
  if (!rare) return [base];
  const from = totalsFrom(database);
  return since >= from ? [rare] : [{ ...rare, from }, base];
}
