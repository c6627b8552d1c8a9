import type { NewRunEvent, RunEnd, RunStart, ThreadRecord } from '../../../features/threads/threads-store.ts';
import type { Connection } from '../engine/connection.ts';

/** So many runs, and events, are kept of a thread. */
const runsKept = 1_000;
const eventsKept = 4_000;

interface EventPlace {
  threadId: string;
  runId: string;
  at: number;
}

export function threadsCommands(database: Connection) {
  const append = eventAppender(database);
  const create = database.prepare<[object]>(
    `INSERT INTO threads (id, workspace_id, title, run_id, messages, characters, last_event, created_at, updated_at)
     VALUES (@id, @workspaceId, @title, @runId, @messages, @characters, 0, @createdAt, @updatedAt)`,
  );
  const rename = database.prepare<[object]>(
    'UPDATE threads SET title = @title, updated_at = @at WHERE id = @id AND workspace_id = @workspaceId',
  );
  const isThere = database.prepare<[string, string]>(
    'SELECT 1 FROM threads WHERE id = ? AND workspace_id = ?',
  );
  const removals = ['thread_events', 'thread_messages', 'thread_runs'].map((table) =>
    database.prepare<[string]>(`DELETE FROM ${table} WHERE thread_id = ?`),
  );
  const remove = database.prepare<[string]>('DELETE FROM threads WHERE id = ?');

  return {
    ...runCommands(database, append),
    'threads.create': (thread: ThreadRecord): void => {
      create.run(thread);
    },
    'threads.rename': (change: {
      workspaceId: string;
      id: string;
      title: string | null;
      at: number;
    }): boolean => rename.run(change).changes === 1,
    'threads.remove': ({ workspaceId, id }: { workspaceId: string; id: string }): boolean => {
      if (!isThere.get(id, workspaceId)) return false;
      for (const removal of removals) removal.run(id);
      return remove.run(id).changes === 1;
    },
  };
}

type Append = ReturnType<typeof eventAppender>;

function runCommands(database: Connection, append: Append) {
  type Found = Pick<ThreadRecord, 'runId' | 'messages' | 'characters'>;
  const find = database.prepare<[string, string], Found>(
    'SELECT run_id AS runId, messages, characters FROM threads WHERE id = ? AND workspace_id = ?',
  );
  const claim = database.prepare<[object]>(
    `UPDATE threads SET run_id = @id, title = coalesce(title, @title), updated_at = @startedAt
     WHERE id = @threadId AND run_id IS NULL`,
  );
  const insert = database.prepare<[object]>(
    `INSERT INTO thread_runs (id, thread_id, request_id, status, model, meta, started_at, updated_at)
     VALUES (@id, @threadId, @requestId, 'running', @model, @meta, @startedAt, @startedAt)`,
  );
  const dropOld = database.prepare<[object]>(
    `DELETE FROM thread_runs WHERE thread_id = @threadId AND id <=
       (SELECT id FROM thread_runs WHERE thread_id = @threadId ORDER BY id DESC LIMIT 1 OFFSET ${runsKept})`,
  );
  const isRunning = database.prepare<[string, string]>('SELECT 1 FROM threads WHERE id = ? AND run_id = ?');
  const end = endOfRun(database, append);

  return {
    'threads.startRun': ({ workspaceId, run, event, title, bounds }: RunStart) => {
      const found = find.get(run.threadId, workspaceId);
      if (!found) return 'missing' as const;
      if (found.runId !== null) return 'busy' as const;
      if (found.messages >= bounds.messagesMax || found.characters > bounds.charactersMax)
        return 'full' as const;
      claim.run({ ...run, title });
      insert.run({ ...run, meta: JSON.stringify(run.meta) });
      dropOld.run(run);
      append(event, { threadId: run.threadId, runId: run.id, at: run.startedAt });
      return 'started' as const;
    },
    'threads.noteEvent': ({ event, ...place }: EventPlace & { event: NewRunEvent }): void => {
      if (isRunning.get(place.threadId, place.runId)) append(event, place);
    },
    'threads.endRun': end,
  };
}

function endOfRun(database: Connection, append: Append) {
  const release = database.prepare<[object], number>(
    `UPDATE threads SET run_id = NULL, updated_at = @at, messages = messages + @count, characters = characters + @characters
     WHERE id = @threadId AND run_id = @id RETURNING messages`,
  );
  const end = database.prepare<[object]>(
    `UPDATE thread_runs SET status = @status, model = @model, provider = @provider, usage = @usage, meta = @meta,
       error = @error, completed_at = @at, updated_at = @at WHERE id = @id`,
  );
  const add = database.prepare<[object]>(
    `INSERT INTO thread_messages (thread_id, position, id, run_id, is_output, created_at, item)
     VALUES (@threadId, @position, @id, @runId, @isOutput, @at, @item)`,
  );
  return ({ run, status, messages, events, at }: RunEnd): boolean => {
    const { id, threadId } = run;
    const count = messages.length;
    const characters = messages.reduce((sum, { item }) => sum + item.length, 0);
    const total = release.pluck().get({ id, threadId, at, count, characters });
    if (total === undefined) return false;
    messages.forEach((message, index) => {
      const position = total - count + index;
      add.run({ ...message, isOutput: Number(message.isOutput), threadId, runId: id, at, position });
    });
    end.run({
      ...run,
      status,
      at,
      usage: run.usage && JSON.stringify(run.usage),
      meta: JSON.stringify(run.meta),
      error: run.error && JSON.stringify(run.error),
    });
    for (const event of events) append(event, { threadId, runId: id, at });
    return true;
  };
}

/** Adds one event to a thread that is there, and drops what is too old. */
function eventAppender(database: Connection) {
  const next = database
    .prepare<[string], number>(
      'UPDATE threads SET last_event = last_event + 1 WHERE id = ? RETURNING last_event',
    )
    .pluck();
  const insert = database.prepare<[object]>(
    `INSERT INTO thread_events (thread_id, sequence, id, run_id, type, at, payload)
     VALUES (@threadId, @sequence, @id, @runId, @type, @at, @payload)`,
  );
  const drop = database.prepare<[string, number]>(
    'DELETE FROM thread_events WHERE thread_id = ? AND sequence <= ?',
  );
  return (event: NewRunEvent, place: EventPlace): void => {
    const sequence = next.get(place.threadId) ?? 0;
    insert.run({ ...event, ...place, sequence, payload: JSON.stringify(event.payload) });
    if (sequence > eventsKept) drop.run(place.threadId, sequence - eventsKept);
  };
}
