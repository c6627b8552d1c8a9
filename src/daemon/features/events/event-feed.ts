import { repeatedly, type World } from '../../world.ts';
import { type FeedEvent, Follower } from './follower.ts';
import type { EventRecord, EventsStore, NewEvent } from './store.ts';

/** How long, and how many, events are stored. */
const retentionMs = 24 * 60 * 60 * 1000;
const storedMax = 100_000;
const pruneEveryMs = 10 * 60 * 1000;

/** Live events queued for one slow reader. */
const liveMaxDefault = 1000;

/** An event for current followers only, which is not stored. */
export type LiveEvent = Omit<NewEvent, 'at'>;

/**
 * Sends events to readers. Stored events are always read from the store in order, so that announcements that race cause
 * neither gaps nor duplicates; only live events are queued in memory.
 */
export function eventFeed(deps: { store: EventsStore; world: World; liveMax?: number }) {
  const { store, world, liveMax = liveMaxDefault } = deps;
  const followers = new Set<Follower>();
  const closing = new AbortController();

  const followersOf = (workspaceId: string) =>
    [...followers].filter((follower) => follower.workspaceIds.includes(workspaceId));

  const announce = (event: Pick<EventRecord, 'workspaceId'>): void => {
    for (const follower of followersOf(event.workspaceId)) follower.notify();
  };

  return {
    /** Sends an event to current followers only. */
    publish(event: LiveEvent): void {
      // Called several times per request, usually without followers.
      if (followers.size === 0) return;
      const live = { ...event, at: world.now(), sequence: null };
      for (const follower of followersOf(event.workspaceId)) follower.push(live);
    },

    /** Announces that an event of this workspace was committed. */
    announce,

    /** Stores and announces an event. Never rejects: what the event reports must not fail because of it. */
    async record(event: NewEvent, onFailure: (error: unknown) => void = () => {}): Promise<void> {
      await store.append(event).then(() => announce(event), onFailure);
    },

    /** Whether events after this sequence, of any workspace, are no longer stored. */
    isGone: async (after: number) => after < (await store.first()) - 1,

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
      const follower = new Follower({ ...from, store, liveMax, now: () => world.now() });
      const ends = [...signals, closing.signal];
      const end = () => follower.end();
      for (const signal of ends) signal.addEventListener('abort', end);
      followers.add(follower);
      try {
        yield [];
        if (!ends.some((signal) => signal.aborted)) yield* follower.batches();
      } finally {
        followers.delete(follower);
        for (const signal of ends) signal.removeEventListener('abort', end);
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

export type EventFeed = ReturnType<typeof eventFeed>;
