import { whenAnyAborted } from '../../../shared/async/when-aborted.ts';
import { repeatedly, type World } from '../../base/world.ts';
import { type FeedEvent, Follower } from './follower.ts';
import type { EventRecord, EventsStore, NewEvent } from './store.ts';

/** How long, and how many, events are stored. */
const retentionMs = 24 * 60 * 60 * 1000;
const storedMax = 100_000;
const pruneEveryMs = 10 * 60 * 1000;

const wokenAtOnce = 100;
/** How long a crowd waits for more events: those of a call follow each other closely, and each write costs a system call. */
const crowdWaitMs = 20;

/** Live events queued for one slow reader. */
const queueMaxDefault = 1000;

/** An event for current followers only, which is not stored. */
export type LiveEvent = Omit<NewEvent, 'at'>;

/**
 * Sends events to readers. Stored events are always read from the store in order, so that announcements that race cause
 * neither gaps nor duplicates; only live events are queued in memory.
 */
export function createEventFeed(deps: { store: EventsStore; world: World; queueMax?: number }) {
  const { store, world, queueMax = queueMaxDefault } = deps;
  const followers = new Set<Follower>();
  const closing = new AbortController();

  const followersOf = (workspaceId: string) =>
    [...followers].filter((follower) => follower.workspaceIds.includes(workspaceId));

  const reads = sharedReads(store);

  /** Followers to wake after those that are being woken. */
  const crowd = new Set<Follower>();
  let isWakingCrowd = false;

  const wake = (woken: readonly Follower[]): void => {
    if (woken.length <= wokenAtOnce) {
      for (const follower of woken) follower.wake();
      return;
    }
    for (const follower of woken) crowd.add(follower);
    if (!isWakingCrowd) void wakeCrowd();
  };

  /** In small groups, as waking a follower renders and sends its events: calls go on in between. */
  const wakeCrowd = async (): Promise<void> => {
    isWakingCrowd = true;
    while (crowd.size > 0) {
      await world.sleep(crowdWaitMs);
      const woken = [...crowd];
      crowd.clear();
      for (let at = 0; at < woken.length; at += wokenAtOnce) {
        if (at > 0) await world.sleep(0);
        for (const follower of woken.slice(at, at + wokenAtOnce)) follower.wake();
      }
    }
    isWakingCrowd = false;
  };

  const announce = (event: Pick<EventRecord, 'workspaceId'>): void => {
    reads.clear();
    const readers = followersOf(event.workspaceId);
    for (const follower of readers) follower.notify();
    wake(readers);
  };

  return {
    /** Sends an event to current followers only. */
    publish(event: LiveEvent): void {
      // Called several times per request, usually without followers.
      if (followers.size === 0) return;
      const live = { ...event, at: world.now(), sequence: null };
      const readers = followersOf(event.workspaceId);
      for (const follower of readers) follower.push(live);
      wake(readers);
    },

    /** Announces that an event of this workspace was committed. */
    announce,

    /** Announces that events of any workspace may have been committed. */
    readAgain(): void {
      if (followers.size === 0) return;
      reads.clear();
      for (const follower of followers) follower.notify();
      wake([...followers]);
    },

    /** Stores and announces an event. Never rejects: what the event reports must not fail because of it. */
    async record(event: NewEvent, onFailure: (error: unknown) => void = () => {}): Promise<void> {
      await store.append(event).then(() => announce(event), onFailure);
    },

    /** Whether events after this sequence, of any workspace, are no longer stored. */
    isGone: async (after: number) => after < (await store.prunedTo()),

    /** The sequence of the newest event, 0 before the first. */
    last: () => store.last(),

    /**
     * The events of workspaces after a sequence, in order, until a signal is aborted. The first batch is empty; no event
     * is missed after it.
     */
    async *follow(
      from: { workspaceIds: readonly [string, ...string[]]; after: number },
      signals: readonly AbortSignal[],
    ): AsyncGenerator<FeedEvent[], void, undefined> {
      const follower = new Follower({ ...from, store: reads, queueMax, now: () => world.now() });
      const ends = [...signals, closing.signal];
      const stopWatching = whenAnyAborted(ends, () => follower.end());
      followers.add(follower);
      try {
        yield [];
        if (!ends.some((signal) => signal.aborted)) yield* follower.batches();
      } finally {
        followers.delete(follower);
        stopWatching();
      }
    },

    now: () => world.now(),

    /** The number of current followers. */
    followers: () => followers.size,

    /** Removes old events periodically, until aborted. */
    keepPruned: (signal: AbortSignal, onFailure: (error: unknown) => void) =>
      repeatedly(world, { everyMs: pruneEveryMs, signal, onFailure }, () =>
        store.prune(world.now() - retentionMs, storedMax),
      ),

    /** Ends all current and later streams. */
    close: () => closing.abort(),
  };
}

export type EventFeed = ReturnType<typeof createEventFeed>;

/** Positions whose events are kept. */
const sharedMax = 16;

/**
 * Followers at the same position share one read, and so the events that it returns. What was read is kept until `clear` is
 * called, when there are new events.
 */
function sharedReads({ after: read }: Pick<EventsStore, 'after'>) {
  const reads = new Map<string, Promise<EventRecord[]>>();
  const after: EventsStore['after'] = (workspaceIds, sequence, limit) => {
    const key = `${workspaceIds.join()} ${sequence} ${limit}`;
    const known = reads.get(key);
    if (known !== undefined) return known;
    if (reads.size >= sharedMax) reads.clear();
    const events = read(workspaceIds, sequence, limit);
    reads.set(key, events);
    // A failed read is tried again.
    events.catch(() => reads.delete(key));
    return events;
  };
  const clear = (): void => {
    // Called for each call, and clearing allocates a new table.
    if (reads.size > 0) reads.clear();
  };
  return { after, clear };
}
