import { repeatedly, type World } from '../../world.ts';
import type { EventRecord, EventsStore, NewEvent } from './events-store.ts';
import { type FeedEvent, Follower } from './follower.ts';

/** How long and how many events are kept. */
const keptMs = 24 * 60 * 60 * 1000;
const keptMax = 100_000;
const pruneEveryMs = 10 * 60 * 1000;

/** How many live events wait for one slow reader. */
const liveMaxDefault = 1000;

/** What is told to those who follow right now and not kept. */
export type LiveEvent = Omit<NewEvent, 'at'>;

/**
 * Tells readers what happens. A kept event is always read from the store, in its order, so that none is missed or
 * told twice however announcements race; only live events wait in memory.
 */
export function eventFeed(deps: { store: EventsStore; world: World; liveMax?: number }) {
  const { store, world, liveMax = liveMaxDefault } = deps;
  const followers = new Set<Follower>();
  const closing = new AbortController();

  const followersOf = (workspaceId: string) =>
    [...followers].filter((follower) => follower.workspaceId === workspaceId);

  const announce = (event: Pick<EventRecord, 'workspaceId'>): void => {
    for (const follower of followersOf(event.workspaceId)) follower.fallBehind();
  };

  return {
    /** Tells those who follow right now, and nobody later. */
    publish(event: LiveEvent): void {
      // Nobody following is the usual case, and this is called several times a request.
      if (followers.size === 0) return;
      const told = { ...event, at: world.now(), sequence: null };
      for (const follower of followersOf(event.workspaceId)) follower.take(told);
    },

    /** Says that an event of this workspace has been committed to the store. */
    announce,

    /** Keeps an event and tells it. Never rejects for the event's sake: it is worth less than what it tells of. */
    async record(event: NewEvent, onFailure: (error: unknown) => void = () => {}): Promise<void> {
      await store.append(event).then(() => announce(event), onFailure);
    },

    /** Whether events after this sequence are not kept any more; they may have been of any workspace. */
    isGone: async (after: number) => after < (await store.first()) - 1,

    /** The sequence of the newest event that is kept, 0 before the first. */
    last: () => store.last(),

    /**
     * What happens in a workspace after a sequence, in order, until one of the signals is aborted. The first batch is
     * empty: whoever has it misses nothing from then on.
     */
    async *follow(
      from: { workspaceId: string; after: number },
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

    /** How many follow right now. */
    followers: () => followers.size,

    /** Drops what is kept too long, now and then, until aborted. */
    keepPruned: (signal: AbortSignal, onFailure: (error: unknown) => void) =>
      repeatedly(world, { everyMs: pruneEveryMs, signal, onFailure }, () =>
        store.prune(world.now() - keptMs, keptMax),
      ),

    /** Ends every reader's stream, and those that begin later. */
    close: () => closing.abort(),
  };
}

export type EventFeed = ReturnType<typeof eventFeed>;
