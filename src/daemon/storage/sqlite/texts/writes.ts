import type { TextStore } from '../../../../shared/constants/text-stores.ts';
import { cachedAnswers } from '../cache/store.ts';
import type { Connection } from '../engine/connection.ts';
import { and, eq, inArray, type Orm, sql } from '../engine/orm.ts';
import type { BatchTotals } from '../metering/batch-totals.ts';
import { backgroundResponses } from '../responses/background-tables.ts';
import { removeBackground, removeResponses } from '../responses/writes.ts';
import { threadEvents, threadMessages, threadRuns, threads } from '../threads/tables.ts';
import { dropThread } from '../threads/writes.ts';
import { forgetUser } from './forget-user.ts';
import { idParts } from './text-ids.ts';

interface Removed {
  store: TextStore;
  workspaceId: string;
  ids: readonly string[];
}

export function textsWrites(database: Connection, orm: Orm, totals: BatchTotals) {
  const remove: Readonly<Record<TextStore, (removed: Removed) => number>> = {
    responses: (removed) => removeResponses(orm, removed),
    background_responses: (removed) =>
      removeBackground(orm, removed, eq(backgroundResponses.isRunning, false)),
    threads: ({ workspaceId, ids }) =>
      ids.map(idParts).filter(([threadId, runId]) => removeRun(orm, { workspaceId, threadId, runId })).length,
    cached_answers: ({ workspaceId, ids }) => {
      const { workspaceId: workspace, digest } = cachedAnswers;
      const mine = and(eq(workspace, workspaceId), inArray(digest, ids));
      return orm.delete(cachedAnswers).where(mine).run().changes;
    },
    idempotency_keys: ({ ids }) => {
      const statement = database.prepare<[string, string]>(
        `DELETE FROM idempotency_keys WHERE scope = ? AND key = ? AND state = 'done'`,
      );
      return ids.reduce((sum, id) => sum + statement.run(...idParts(id)).changes, 0);
    },
  };
  return {
    'texts.remove': (removed: Removed): number => remove[removed.store](removed),
    'texts.forgetUser': forgetUser(database, orm, totals),
  };
}

interface RunOfThread {
  workspaceId: string;
  threadId: string;
  runId: string;
}

/** Removes an ended run with its messages and events, and the title of its thread, which may quote it. */
function removeRun(orm: Orm, { workspaceId, threadId, runId }: RunOfThread): boolean {
  const thread = and(eq(threads.id, threadId), eq(threads.workspaceId, workspaceId));
  const found = orm.select().from(threads).where(thread).get();
  if (!found || found.runId === runId) return false;
  const messages = and(eq(threadMessages.threadId, threadId), eq(threadMessages.runId, runId));
  const items = orm.select({ item: threadMessages.item }).from(threadMessages).where(messages).all();
  orm.delete(threadMessages).where(messages).run();
  orm
    .delete(threadEvents)
    .where(and(eq(threadEvents.runId, runId), eq(threadEvents.threadId, threadId)))
    .run();
  const run = and(eq(threadRuns.id, runId), eq(threadRuns.threadId, threadId));
  const wasThere = orm.delete(threadRuns).where(run).run().changes > 0;
  orm
    .update(threads)
    .set({
      title: null,
      messages: sql`${threads.messages} - ${items.length}`,
      characters: sql`${threads.characters} - ${items.reduce((sum, { item }) => sum + item.length, 0)}`,
    })
    .where(thread)
    .run();
  if (found.runId === null) removeEmpty(orm, threadId);
  return wasThere;
}

/** Without runs, what is left of a thread are messages of which nothing says whose they are. */
function removeEmpty(orm: Orm, threadId: string): void {
  const ofThread = eq(threadRuns.threadId, threadId);
  if (orm.select({ id: threadRuns.id }).from(threadRuns).where(ofThread).limit(1).get()) return;
  dropThread(orm, threadId);
}

export type TextsWrites = ReturnType<typeof textsWrites>;
