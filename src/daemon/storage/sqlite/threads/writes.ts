import type { NewRunEvent, RunEnd, RunStart, ThreadRecord } from '../../../features/threads/threads-store.ts';
import { and, desc, eq, isNull, lte, type Orm, sql } from '../engine/orm.ts';
import { threadEvents, threadMessages, threadRuns, threads } from './tables.ts';

/** How many runs, and how many events, a thread keeps. */
const runsKept = 1_000;
const eventsKept = 4_000;

type NewThread = { thread: ThreadRecord; max: number | undefined };
type Renaming = { workspaceId: string; id: string; title: string | null; at: number };

interface EventContext {
  threadId: string;
  runId: string;
  at: number;
}

export function threadsWrites(orm: Orm, daemon: number) {
  const threadOf = (workspaceId: string, id: string) =>
    and(eq(threads.id, id), eq(threads.workspaceId, workspaceId));
  return {
    ...runWrites(orm, daemon),
    'threads.create': ({ thread, max }: NewThread): boolean => {
      if (max !== undefined) {
        const ofWorkspace = eq(threads.workspaceId, thread.workspaceId);
        if (orm.select({ id: threads.id }).from(threads).where(ofWorkspace).limit(max).all().length >= max)
          return false;
      }
      orm
        .insert(threads)
        .values({ ...thread, lastEvent: 0 })
        .run();
      return true;
    },
    'threads.rename': ({ workspaceId, id, title, at: updatedAt }: Renaming): boolean =>
      orm.update(threads).set({ title, updatedAt }).where(threadOf(workspaceId, id)).run().changes === 1,
    'threads.remove': ({ workspaceId, id }: { workspaceId: string; id: string }): boolean => {
      if (!orm.select({ id: threads.id }).from(threads).where(threadOf(workspaceId, id)).get()) return false;
      return dropThread(orm, id);
    },
  };
}

function runWrites(orm: Orm, daemon: number) {
  return {
    'threads.startRun': ({ workspaceId, run, event, title, bounds, autopilot }: RunStart) => {
      const thread = and(eq(threads.id, run.threadId), eq(threads.workspaceId, workspaceId));
      const found = orm.select().from(threads).where(thread).get();
      if (!found) return 'missing' as const;
      if (found.runId !== null) return 'busy' as const;
      if (found.messages >= bounds.messagesMax || found.characters > bounds.charactersMax)
        return 'full' as const;
      const { id, threadId, startedAt } = run;
      orm
        .update(threads)
        .set({ runId: id, title: found.title ?? title, updatedAt: startedAt })
        .where(and(thread, isNull(threads.runId)))
        .run();
      orm
        .insert(threadRuns)
        .values({
          ...run,
          status: 'running',
          updatedAt: startedAt,
          autopilotId: autopilot?.id ?? null,
          autopilotConfigVersion: autopilot?.configVersion ?? null,
          daemon,
        })
        .run();
      dropOldRuns(orm, threadId);
      appendEvent(orm, event, { threadId, runId: id, at: startedAt });
      return 'started' as const;
    },
    'threads.noteEvent': ({ event, ...context }: EventContext & { event: NewRunEvent }): void => {
      const isRunning = and(eq(threads.id, context.threadId), eq(threads.runId, context.runId));
      if (orm.select({ id: threads.id }).from(threads).where(isRunning).get())
        appendEvent(orm, event, context);
    },
    'threads.endRun': ({ run, status, messages, events, at }: RunEnd): boolean => {
      const { id: runId, threadId, model, provider, usage, meta, error } = run;
      const characters = messages.reduce((sum, { item }) => sum + item.length, 0);
      const [ended] = orm
        .update(threads)
        .set({
          runId: null,
          updatedAt: at,
          messages: sql`${threads.messages} + ${messages.length}`,
          characters: sql`${threads.characters} + ${characters}`,
        })
        .where(and(eq(threads.id, threadId), eq(threads.runId, runId)))
        .returning({ id: threads.id })
        .all();
      if (!ended) return false;
      const [next] = orm
        .select({ position: sql<number>`coalesce(max(${threadMessages.position}) + 1, 0)` })
        .from(threadMessages)
        .where(eq(threadMessages.threadId, threadId))
        .all();
      const first = next?.position ?? 0;
      for (const [index, message] of messages.entries()) {
        const place = { threadId, runId, position: first + index, createdAt: at };
        orm
          .insert(threadMessages)
          .values({ ...message, ...place })
          .run();
      }
      orm
        .update(threadRuns)
        .set({ status, model, provider, usage, meta, error, completedAt: at, updatedAt: at })
        .where(eq(threadRuns.id, runId))
        .run();
      for (const event of events) appendEvent(orm, event, { threadId, runId, at });
      return true;
    },
  };
}

/** Deletes a thread with all that is of it; returns whether there was one. */
export function dropThread(orm: Orm, id: string): boolean {
  for (const table of [threadEvents, threadMessages, threadRuns])
    orm.delete(table).where(eq(table.threadId, id)).run();
  return orm.delete(threads).where(eq(threads.id, id)).run().changes === 1;
}

function dropOldRuns(orm: Orm, threadId: string): void {
  const ofThread = eq(threadRuns.threadId, threadId);
  const newestDropped = orm
    .select({ id: threadRuns.id })
    .from(threadRuns)
    .where(ofThread)
    .orderBy(desc(threadRuns.id))
    .limit(1)
    .offset(runsKept)
    .get();
  if (newestDropped)
    orm
      .delete(threadRuns)
      .where(and(ofThread, lte(threadRuns.id, newestDropped.id)))
      .run();
}

/** Appends an event to an existing thread, and drops old ones. */
function appendEvent(orm: Orm, event: NewRunEvent, context: EventContext): void {
  const { threadId } = context;
  const [numbered] = orm
    .update(threads)
    .set({ lastEvent: sql`${threads.lastEvent} + 1` })
    .where(eq(threads.id, threadId))
    .returning({ sequence: threads.lastEvent })
    .all();
  const sequence = numbered?.sequence ?? 0;
  orm
    .insert(threadEvents)
    .values({ ...event, ...context, sequence })
    .run();
  if (sequence <= eventsKept) return;
  const isOld = lte(threadEvents.sequence, sequence - eventsKept);
  orm
    .delete(threadEvents)
    .where(and(eq(threadEvents.threadId, threadId), isOld))
    .run();
}

export type ThreadsWrites = ReturnType<typeof threadsWrites>;
