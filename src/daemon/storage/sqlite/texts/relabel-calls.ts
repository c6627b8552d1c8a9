import { failures } from '../../../../shared/errors.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameNumbers } from '../engine/names.ts';
import { indexKinds } from '../metering/usage/index-kinds.ts';
import { foldedTo } from '../metering/usage/usage-totals.ts';
import { globOf } from '../traces/call-conditions.ts';

interface Relabelling {
  workspaceId: string;
  from: string;
  to: string;
}

/** The numbers of a label, of one kind. */
interface Renumbering {
  workspace: number;
  kind: number;
  from: number;
  to: number;
  foldedTo: number;
}

const columns = { user: 'end_user', conversation: 'conversation' } as const;

const isListed = `SELECT number FROM call_index WHERE workspace = @workspace AND kind = @kind AND value = @from`;
const isUnfolded = 'number > @foldedTo AND +workspace = @workspace';

/**
 * Gives calls of a workspace whose end user, conversation or value of a tag has one name another one, which no call has. Returns how
 * many calls had that end user. What nothing else refers to is no longer among the names.
 */
export function relabelCalls(
  database: Connection,
  names: NameNumbers,
  { workspaceId, from, to }: Relabelling,
): number {
  const workspace = names.find(workspaceId);
  if (workspace === undefined) return 0;
  const own = names.find(from);
  const folded = foldedTo(database);
  let calls = 0;
  if (own !== undefined) {
    for (const label of ['user', 'conversation'] as const) {
      const found = { workspace, kind: indexKinds[label], from: own, foldedTo: folded };
      if (!hasLabel(database, found, columns[label])) continue;
      const changed = relabelColumn(database, { ...found, to: names.of(to) }, columns[label]);
      if (label === 'user') calls = changed;
    }
  }
  const tags = tagsWith(database, names, from);
  for (const { number, text } of tags) {
    const tag = `${text.slice(0, text.indexOf('='))}=${to}`;
    const found = { workspace, kind: indexKinds.tag, from: number, to: names.of(tag), foldedTo: folded };
    relabelTag(database, found);
  }
  for (const { number, text } of [...(own === undefined ? [] : [{ number: own, text: from }]), ...tags])
    if (!isUsed(database, number, text)) names.erase(number, text);
  return calls;
}

function hasLabel(database: Connection, found: Omit<Renumbering, 'to'>, column: string): boolean {
  return (
    database.prepare<[object]>(`${isListed} LIMIT 1`).get(found) !== undefined ||
    database
      .prepare<[object]>(`SELECT number FROM calls WHERE ${isUnfolded} AND ${column} = @from LIMIT 1`)
      .get(found) !== undefined
  );
}

function relabelColumn(database: Connection, renumbering: Renumbering, column: string): number {
  const update = (where: string) =>
    database.prepare<[object]>(`UPDATE calls SET ${column} = @to WHERE ${where}`).run(renumbering).changes;
  const changed =
    update(`number IN (${isListed}) AND ${column} = @from`) + update(`${isUnfolded} AND ${column} = @from`);
  relabelTotals(database, renumbering);
  return changed;
}

function relabelTag(database: Connection, renumbering: Renumbering): void {
  const rows = (where: string) =>
    database
      .prepare<[object], { number: number; tags: string }>(
        `SELECT number, tags FROM calls WHERE tags IS NOT NULL AND ${where}`,
      )
      .all(renumbering);
  const update = database.prepare<[string, number]>('UPDATE calls SET tags = ? WHERE number = ?');
  for (const { number, tags } of [...rows(`number IN (${isListed})`), ...rows(isUnfolded)]) {
    const numbers = JSON.parse(tags) as number[];
    if (!numbers.includes(renumbering.from)) continue;
    const changed = numbers.map((tag) => (tag === renumbering.from ? renumbering.to : tag));
    update.run(JSON.stringify(changed), number);
  }
  relabelTotals(database, renumbering);
}

function relabelTotals(database: Connection, renumbering: Renumbering): void {
  for (const table of ['call_index', 'usage_label_days', 'usage_label_slots'])
    database
      .prepare<[object]>(
        `UPDATE ${table} SET value = @to WHERE workspace = @workspace AND kind = @kind AND value = @from`,
      )
      .run(renumbering);
}

/** Tags like `email=anna@example.com`, also those of the running batch. */
function tagsWith(database: Connection, names: NameNumbers, value: string) {
  const stored = database
    .prepare<[string], { number: number; text: string }>('SELECT number, text FROM names WHERE glob(?, text)')
    .all(`*=${globOf(value)}`);
  const added = names.added.map(([number, text]) => ({ number, text }));
  return [...stored, ...added].filter(({ text }) => {
    const end = text.indexOf('=');
    return end > 0 && text.slice(end + 1) === value;
  });
}

/** Words that calls may have elsewhere than in a list by this word, such as the reason why an answer ended. */
const ownWords: ReadonlySet<string> = new Set([
  ...Object.keys(failures),
  'hit',
  'miss',
  'stop',
  'length',
  'tool_calls',
  'function_call',
  'content_filter',
  'max_tokens',
  'end_turn',
  'stop_sequence',
  'tool_use',
  'refusal',
]);

/** Whether other calls, or other labels, have the same name. */
function isUsed(database: Connection, number: number, text: string): boolean {
  // Statuses have fixed numbers, and endpoints are paths.
  if (number <= 5 || text.startsWith('/') || ownWords.has(text)) return true;
  const has = (sql: string) => database.prepare<[object]>(sql).get({ number, foldedTo: foldedTo(database) });
  const kinds = Object.values(indexKinds).filter(
    (kind) => kind !== indexKinds.all && kind !== indexKinds.duration && kind !== indexKinds.cost,
  );
  const workspaces = `SELECT names.number FROM workspaces CROSS JOIN names WHERE names.text = workspaces.id`;
  return (
    kinds.some(
      (kind) =>
        has(
          `SELECT 1 AS one FROM call_index WHERE workspace IN (${workspaces}) AND kind = ${kind} AND value = @number LIMIT 1`,
        ) !== undefined,
    ) ||
    has(`SELECT 1 AS one FROM clients WHERE workspace IN (${workspaces}) AND client = @number LIMIT 1`) !==
      undefined ||
    has(
      'SELECT 1 AS one FROM attempt_slots WHERE provider = @number OR model = @number OR error_code = @number LIMIT 1',
    ) !== undefined ||
    has(
      `SELECT 1 AS one FROM calls WHERE number > @foldedTo AND (workspace = @number OR key = @number OR model = @number
         OR provider = @number OR client = @number OR end_user = @number OR conversation = @number OR replay_of = @number
         OR EXISTS (SELECT 1 FROM json_each(calls.tags) WHERE CAST(json_each.value AS bigint) = @number)) LIMIT 1`,
    ) !== undefined
  );
}
