import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  MessageRecord,
  RunEventRecord,
  RunRecord,
  ThreadRecord,
  ThreadsStore,
} from '../../../features/threads/threads-store.ts';
import type { Connection } from '../engine/connection.ts';
import type { Writer } from '../engine/writer.ts';

interface Sources {
  database: Connection;
  writer: Writer;
}

const bulk = { lane: 'bulk' } as const;
/** Messages that are read before others get their turn, as reads run in the main thread. */
const stretch = 64;

const threadColumns = `id, workspace_id AS workspaceId, title, run_id AS runId, messages, characters,
  created_at AS createdAt, updated_at AS updatedAt`;
const runColumns = `id, thread_id AS threadId, request_id AS requestId, status, model, provider, usage, meta, error,
  started_at AS startedAt, completed_at AS completedAt, updated_at AS updatedAt`;

type Texts<Row, Names extends keyof Row> = Omit<Row, Names> & Record<Names, string | null>;

/** Threads: reads in the main thread, writes in the writer's, apart from those of money. */
export function threadsStore({ database, writer }: Sources): ThreadsStore {
  const byId = database.prepare<[string, string], ThreadRecord>(
    `SELECT ${threadColumns} FROM threads WHERE id = ? AND workspace_id = ?`,
  );
  const list = database.prepare<[object], ThreadRecord>(
    `SELECT ${threadColumns} FROM threads WHERE workspace_id = @workspaceId AND (@after IS NULL OR id < @after)
     ORDER BY id DESC LIMIT @limit`,
  );
  return {
    ...reads(database),
    create: (thread) => writer.write('threads.create', thread, bulk),
    byId: async (workspaceId, id) => byId.get(id, workspaceId),
    list: async (
      workspaceId,
      { limit, after = null }: { limit: number; after?: string | null | undefined },
    ) => list.all({ workspaceId, limit, after }),
    rename: (workspaceId, id, title, at) =>
      writer.write('threads.rename', { workspaceId, id, title, at }, bulk),
    remove: (workspaceId, id) => writer.write('threads.remove', { workspaceId, id }, bulk),
    startRun: (start) => writer.write('threads.startRun', start, bulk),
    noteEvent: (threadId, runId, event, at) =>
      writer.write('threads.noteEvent', { threadId, runId, event, at }, bulk),
    endRun: (end) => {
      const bytes = end.messages.reduce((sum, { item }) => sum + item.length, 0);
      return writer.write('threads.endRun', end, { lane: 'bulk', bytes });
    },
  };
}

function reads(database: Connection) {
  return { ...runReads(database), ...messageReads(database), ...eventReads(database) };
}

function runReads(database: Connection): Pick<ThreadsStore, 'running' | 'runOf' | 'runs'> {
  type Row = Texts<RunRecord, 'usage' | 'meta' | 'error'>;
  const running = database.prepare<[], Row>(
    `SELECT ${runColumns} FROM thread_runs WHERE id IN (SELECT run_id FROM threads WHERE run_id IS NOT NULL)`,
  );
  const runOf = database.prepare<[string, string], Row>(
    `SELECT ${runColumns} FROM thread_runs WHERE id = ? AND thread_id = ?`,
  );
  const runs = database.prepare<[string, number], Row>(
    `SELECT ${runColumns} FROM thread_runs WHERE thread_id = ? ORDER BY id DESC LIMIT ?`,
  );
  const toRun = (row: Row): RunRecord => ({
    ...row,
    usage: parsed(row.usage),
    meta: parsed<RunRecord['meta']>(row.meta) ?? {},
    error: parsed(row.error),
  });
  return {
    running: async () => running.all().map(toRun),
    runOf: async (threadId, runId) => {
      const row = runOf.get(runId, threadId);
      return row && toRun(row);
    },
    runs: async (threadId, limit) => runs.all(threadId, limit).map(toRun),
  };
}

function messageReads(database: Connection): Pick<ThreadsStore, 'messages' | 'conversation'> {
  type Row = Omit<MessageRecord, 'isOutput'> & { isOutput: number };
  const place = database
    .prepare<[string, string], number>('SELECT position FROM thread_messages WHERE id = ? AND thread_id = ?')
    .pluck();
  const page = database.prepare<[string, number, number], Row>(
    `SELECT id, thread_id AS threadId, run_id AS runId, is_output AS isOutput, item, created_at AS createdAt
     FROM thread_messages WHERE thread_id = ? AND position > ? ORDER BY position LIMIT ?`,
  );
  const stretchFrom = database.prepare<[string, number], Pick<Row, 'item' | 'isOutput'>>(
    `SELECT item, is_output AS isOutput FROM thread_messages
     WHERE thread_id = ? AND position >= ? ORDER BY position LIMIT ${stretch}`,
  );
  return {
    messages: async (threadId, { limit, after }) => {
      const from = after === undefined ? -1 : place.get(after, threadId);
      if (from === undefined) return undefined;
      return page.all(threadId, from, limit).map((row) => ({ ...row, isOutput: row.isOutput === 1 }));
    },
    conversation: async (threadId) => {
      const all: Pick<MessageRecord, 'item' | 'isOutput'>[] = [];
      for (;;) {
        const rows = stretchFrom.all(threadId, all.length);
        for (const row of rows) all.push({ item: row.item, isOutput: row.isOutput === 1 });
        if (rows.length < stretch) return all;
        await nextTurn();
      }
    },
  };
}

function eventReads(database: Connection): Pick<ThreadsStore, 'events'> {
  type Row = Texts<RunEventRecord, 'payload'>;
  const events = database.prepare<[object], Row>(
    `SELECT id, thread_id AS threadId, sequence, run_id AS runId, type, at, payload FROM thread_events
     WHERE thread_id = @threadId AND sequence > @after AND (@runId IS NULL OR run_id = @runId)
     ORDER BY sequence LIMIT @limit`,
  );
  return {
    events: async (threadId, { after, limit, runId }) =>
      events
        .all({ threadId, after, limit, runId: runId ?? null })
        .map((row) => ({ ...row, payload: parsed<RunEventRecord['payload']>(row.payload) ?? {} })),
  };
}

function parsed<Value>(text: string | null): Value | null {
  return text === null ? null : (JSON.parse(text) as Value);
}
