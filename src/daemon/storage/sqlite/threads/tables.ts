import type { RunEventRecord, RunRecord } from '../../../features/threads/threads-store.ts';
import { integer, primaryKey, sqliteTable, text } from '../engine/orm.ts';

/** Columns of a `ThreadRecord`, and the sequence of its newest event. */
export const threads = sqliteTable('threads', {
  id: text().primaryKey(),
  workspaceId: text().notNull(),
  title: text(),
  runId: text(),
  messages: integer().notNull(),
  characters: integer().notNull(),
  lastEvent: integer().notNull(),
  createdAt: integer().notNull(),
  updatedAt: integer().notNull(),
  autopilotId: text(),
});

/** Columns of a `RunRecord`. */
export const threadRuns = sqliteTable('thread_runs', {
  id: text().primaryKey(),
  threadId: text().notNull(),
  requestId: text().notNull(),
  status: text().$type<RunRecord['status']>().notNull(),
  model: text().notNull(),
  provider: text(),
  usage: text({ mode: 'json' }).$type<NonNullable<RunRecord['usage']>>(),
  meta: text({ mode: 'json' }).$type<RunRecord['meta']>().notNull(),
  error: text({ mode: 'json' }).$type<NonNullable<RunRecord['error']>>(),
  startedAt: integer().notNull(),
  completedAt: integer(),
  updatedAt: integer().notNull(),
  autopilotId: text(),
  autopilotConfigVersion: integer(),
  daemon: integer().notNull(),
});

/** Columns of a `MessageRecord`, and its position in the thread, from 0. */
export const threadMessages = sqliteTable(
  'thread_messages',
  {
    threadId: text().notNull(),
    position: integer().notNull(),
    id: text().notNull(),
    runId: text().notNull(),
    isOutput: integer({ mode: 'boolean' }).notNull(),
    createdAt: integer().notNull(),
    item: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.position] })],
);

/** Columns of a `RunEventRecord`. */
export const threadEvents = sqliteTable(
  'thread_events',
  {
    threadId: text().notNull(),
    sequence: integer().notNull(),
    id: text().notNull(),
    runId: text().notNull(),
    type: text().notNull(),
    at: integer().notNull(),
    payload: text({ mode: 'json' }).$type<RunEventRecord['payload']>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.threadId, table.sequence] })],
);
