import { parseBudgetFilter } from '../../../../shared/calls/budget-filter.ts';
import { formatQuery, isQueryFault } from '../../../../shared/calls/query.ts';
import type { ForgottenUser, UserToForget } from '../../../features/capture/texts-store.ts';
import { budgets } from '../budgets/store.ts';
import type { Connection } from '../engine/connection.ts';
import { readMeta, writeMeta } from '../engine/meta.ts';
import { and, eq, type Orm } from '../engine/orm.ts';
import { events } from '../events/tables.ts';
import { eventInsert } from '../events/writes.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { globOf } from '../traces/call-conditions.ts';
import { rejections } from '../traces/tables.ts';
import { relabelCalls } from './relabel-calls.ts';

/** Replaces a name where it stands for itself, is the value of a tag, or is a word of a sentence. */
interface Renaming {
  from: string;
  to: string;
  /** Of a label, or of the value of another member. */
  label(text: string): string;
  sentence(text: string): string;
}

function renaming(from: string, to: string): Renaming {
  if (from === '') throw new Error('the name of a user is empty');
  const isWord = (character: string | undefined) =>
    character !== undefined && /[\p{L}\p{N}@_-]/u.test(character);
  return {
    from,
    to,
    label: (text) => {
      if (text === from) return to;
      const end = text.indexOf('=');
      return end > 0 && text.slice(end + 1) === from ? `${text.slice(0, end)}=${to}` : text;
    },
    sentence: (text) => {
      let result = '';
      let rest = text;
      for (let at = rest.indexOf(from); at >= 0; at = rest.indexOf(from)) {
        const end = at + from.length;
        const before = at > 0 ? rest[at - 1] : result.at(-1);
        result += rest.slice(0, at) + (isWord(before) || isWord(rest[end]) ? from : to);
        rest = rest.slice(end);
      }
      return result + rest;
    },
  };
}

/** Replaces the name of an end user in everything that is stored of a workspace’s calls; totals do not change. */
export function forgetUser(database: Connection, orm: Orm, totals: BatchTotals) {
  const insertEvent = eventInsert(orm, totals);
  return ({ workspaceId, user, pseudonym, event }: UserToForget): ForgottenUser => {
    const renamed = renaming(user, pseudonym);
    const calls = relabelCalls(database, totals.names, { workspaceId, from: user, to: pseudonym });
    const forgotten = {
      calls,
      rejections: renameRejections(orm, workspaceId, renamed),
      budgets: renameBudgets(orm, workspaceId, renamed),
    };
    renameEvents(database, orm, workspaceId, renamed);
    // Other writers keep names in memory.
    writeMeta(database, 'forgotten_names', (readMeta(database, 'forgotten_names') ?? 0) + 1);
    totals.limits.reset();
    const data = { ...event.data, calls: forgotten.calls + forgotten.rejections };
    totals.addEvent(insertEvent({ ...event, data }));
    return forgotten;
  };
}

function renameRejections(orm: Orm, workspaceId: string, { from, to, label, sentence }: Renaming): number {
  const rows = orm.select().from(rejections).where(eq(rejections.workspaceId, workspaceId)).all();
  let renamed = 0;
  for (const { requestId, endUser, conversation, tags, message } of rows) {
    const changed = {
      endUser: endUser && (endUser === from ? to : endUser),
      conversation: conversation && (conversation === from ? to : conversation),
      tags: tags && JSON.stringify((JSON.parse(tags) as string[]).map(label)),
      message: sentence(message),
    };
    const isSame =
      changed.endUser === endUser &&
      changed.conversation === conversation &&
      changed.tags === tags &&
      changed.message === message;
    if (isSame) continue;
    orm.update(rejections).set(changed).where(eq(rejections.requestId, requestId)).run();
    renamed += 1;
  }
  return renamed;
}

/** Returns the ids of those that count the calls of that user, and now those of the pseudonym. */
function renameBudgets(orm: Orm, workspaceId: string, renaming: Renaming): string[] {
  const rows = orm.select().from(budgets).where(eq(budgets.workspaceId, workspaceId)).all();
  return rows.flatMap(({ id, scope, scopeValue }) => {
    const renamed = renamedScope(scope, scopeValue, renaming);
    if (renamed === scopeValue) return [];
    orm
      .update(budgets)
      .set({ scopeValue: renamed })
      .where(and(eq(budgets.workspaceId, workspaceId), eq(budgets.id, id)))
      .run();
    return [id];
  });
}

function renamedScope(scope: string, value: string, { from, to, label }: Renaming): string {
  if (scope === 'user') return value === from ? to : value;
  if (scope === 'tag') return label(value);
  return scope === 'where' ? renamedFilter(value, label) : value;
}

function renamedFilter(filter: string, label: Renaming['label']): string {
  const query = parseBudgetFilter(filter);
  if (isQueryFault(query)) return filter;
  const labels = ['user', 'conversation', 'tag'];
  const terms = query.terms.map((term) =>
    labels.includes(term.word) ? { ...term, values: term.values.map(label) } : term,
  );
  return formatQuery({ ...query, terms });
}

function renameEvents(
  database: Connection,
  orm: Orm,
  workspaceId: string,
  { from, label, sentence }: Renaming,
): void {
  const found = database
    .prepare<[object], { sequence: number; data: string }>(
      'SELECT sequence, data FROM events WHERE workspace_id = @workspaceId AND glob(@name, data)',
    )
    .all({ workspaceId, name: `*${globOf(JSON.stringify(from).slice(1, -1))}*` });
  for (const { sequence, data } of found) {
    const renamed = JSON.stringify(JSON.parse(data), (name, value: unknown) => {
      if (typeof value !== 'string') return value;
      return name === 'message' ? sentence(value) : label(value);
    });
    if (renamed !== data)
      orm.update(events).set({ data: renamed }).where(eq(events.sequence, sequence)).run();
  }
}
