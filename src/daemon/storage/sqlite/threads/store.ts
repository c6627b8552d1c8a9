import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessageRecord, ThreadsStore } from '../../../features/threads/threads-store.ts';
import { and, asc, columnsOf, desc, eq, gt, inArray, isNotNull, lt, type Orm } from '../engine/orm.ts';
import type { StoreContext } from '../engine/store-context.ts';
import { threadEvents, threadMessages, threadRuns, threads } from './tables.ts';
import type { ThreadsWrites } from './writes.ts';

const bulk = { lane: 'bulk' } as const;
/** Messages read before the event loop gets a turn, as reads run in the main thread. */
const messagesPerTurn = 64;

export function threadsStore({ orm, writer }: StoreContext<ThreadsWrites>): ThreadsStore {
  const { lastEvent: _, ...thread } = columnsOf(threads);
  return {
    ...runReads(orm),
    ...messageReads(orm),
    create: (thread, max) => writer.write('threads.create', { thread, max }, bulk),
    byId: async (workspaceId, id) =>
      orm
        .select(thread)
        .from(threads)
        .where(and(eq(threads.id, id), eq(threads.workspaceId, workspaceId)))
        .get(),
    list: async (workspaceId, { limit, after }) => {
      const isOlder = after === undefined ? undefined : lt(threads.id, after);
      return orm
        .select(thread)
        .from(threads)
        .where(and(eq(threads.workspaceId, workspaceId), isOlder))
        .orderBy(desc(threads.id))
        .limit(limit)
        .all();
    },
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
    events: async (threadId, { after, limit, runId }) =>
      orm
        .select()
        .from(threadEvents)
        .where(
          and(
            eq(threadEvents.threadId, threadId),
            gt(threadEvents.sequence, after),
            runId === undefined ? undefined : eq(threadEvents.runId, runId),
          ),
        )
        .orderBy(asc(threadEvents.sequence))
        .limit(limit)
        .all(),
  };
}

function runReads(orm: Orm): Pick<ThreadsStore, 'running' | 'runOf' | 'runs' | 'runsBy'> {
  const { daemon: _daemon, ...columns } = columnsOf(threadRuns);
  const runs = () => orm.select(columns).from(threadRuns);
  return {
    running: async (daemon) => {
      const current = orm.select({ runId: threads.runId }).from(threads).where(isNotNull(threads.runId));
      return runs()
        .where(and(inArray(threadRuns.id, current), eq(threadRuns.daemon, daemon)))
        .all();
    },
    runOf: async (threadId, runId) =>
      runs()
        .where(and(eq(threadRuns.id, runId), eq(threadRuns.threadId, threadId)))
        .get(),
    runs: async (threadId, limit) =>
      runs().where(eq(threadRuns.threadId, threadId)).orderBy(desc(threadRuns.id)).limit(limit).all(),
    runsBy: async (autopilotId, { workspaceId, limit, runId }) => {
      const byAutopilot = eq(threadRuns.autopilotId, autopilotId);
      const isAsked = runId === undefined ? undefined : eq(threadRuns.id, runId);
      return orm
        .select(columns)
        .from(threadRuns)
        .innerJoin(threads, and(eq(threads.id, threadRuns.threadId), eq(threads.workspaceId, workspaceId)))
        .where(and(byAutopilot, isAsked))
        .orderBy(desc(threadRuns.id))
        .limit(limit)
        .all();
    },
  };
}

function messageReads(orm: Orm): Pick<ThreadsStore, 'messages' | 'messagesOf' | 'conversation'> {
  const { position: _, ...columns } = columnsOf(threadMessages);
  const messages = () =>
    orm
      .select({ ...columns, autopilotId: threadRuns.autopilotId })
      .from(threadMessages)
      .leftJoin(threadRuns, eq(threadRuns.id, threadMessages.runId));
  const ofThread = (threadId: string) => eq(threadMessages.threadId, threadId);
  return {
    messages: async (threadId, { limit, after }) => {
      const last =
        after === undefined
          ? { position: -1 }
          : orm
              .select({ position: threadMessages.position })
              .from(threadMessages)
              .where(and(eq(threadMessages.id, after), ofThread(threadId)))
              .get();
      if (!last) return undefined;
      return messages()
        .where(and(ofThread(threadId), gt(threadMessages.position, last.position)))
        .orderBy(asc(threadMessages.position))
        .limit(limit)
        .all();
    },
    messagesOf: async (threadId, runId) =>
      messages()
        .where(and(ofThread(threadId), eq(threadMessages.runId, runId)))
        .orderBy(asc(threadMessages.position))
        .all(),
    conversation: async (threadId) => {
      const { item, isOutput, position } = threadMessages;
      const all: Pick<MessageRecord, 'item' | 'isOutput'>[] = [];
      let last = -1;
      for (;;) {
        const rows = orm
          .select({ item, isOutput, position })
          .from(threadMessages)
          .where(and(ofThread(threadId), gt(position, last)))
          .orderBy(asc(position))
          .limit(messagesPerTurn)
          .all();
        all.push(...rows.map((row) => ({ item: row.item, isOutput: row.isOutput })));
        last = rows.at(-1)?.position ?? last;
        if (rows.length < messagesPerTurn) return all;
        await nextTurn();
      }
    },
  };
}
