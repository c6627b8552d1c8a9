import { whenAnyAborted } from '../../../shared/async/when-aborted.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { World } from '../../base/world.ts';

/** Rows read at a time. */
const pageSize = 200;
/** Live events queued for one slow reader; the oldest are dropped. */
const queueMax = 1000;
const followersMaxDefault = 2000;
const longestSleepMs = 60_000;

/** One reader of a topic. */
class Follower {
  readonly topic: string;
  /** Whether there may be unread rows. */
  isBehind = true;
  hasEnded = false;
  queue: string[] = [];
  wake: () => void = () => {};

  constructor(topic: string) {
    this.topic = topic;
  }

  push(chunk: string): void {
    if (this.queue.length >= queueMax) this.queue.shift();
    this.queue.push(chunk);
    this.wake();
  }
}

export interface Following<Row extends { id: number }> {
  topic: string;
  /** The id of the last row that the reader has; undefined to start now. */
  after: number | undefined;
  last: () => Promise<number>;
  /** Oldest first. */
  read: (page: { after: number; limit: number }) => Promise<Row[]>;
  chunkOf: (row: Row) => string;
  /** When the credential expires, in milliseconds since 1970; null for never. */
  until: number | null;
  signals: readonly AbortSignal[];
}

/**
 * Streams rows to readers as they are written. Rows are always read from the store in order of their ids, so that
 * announcements that race cause neither gaps nor duplicates; only live chunks are queued in memory.
 */
export function createRowFeed({
  world,
  followersMax = followersMaxDefault,
}: {
  world: Pick<World, 'now' | 'sleep'>;
  followersMax?: number;
}) {
  const followers = new Set<Follower>();
  const closing = new AbortController();
  const of = (topic: string) => [...followers].filter((follower) => follower.topic === topic);

  return {
    /** Announces that a row of this topic was committed. */
    announce(topic: string): void {
      for (const follower of of(topic)) {
        follower.isBehind = true;
        follower.wake();
      }
    },

    /** Announces that rows of any topic may have been committed. */
    readAgain(): void {
      for (const follower of followers) {
        follower.isBehind = true;
        follower.wake();
      }
    },

    /** Sends a chunk to current followers only. */
    publish(topic: string, chunk: string): void {
      for (const follower of of(topic)) follower.push(chunk);
    },

    /** Server-sent events as text, until a signal is aborted. Fails with `unavailable` if there are too many followers. */
    async follow<Row extends { id: number }>(
      following: Following<Row>,
    ): Promise<AsyncGenerator<string, void, undefined>> {
      if (followers.size >= followersMax) {
        throw new ApiError('unavailable', { message: 'Too many follow already.', retryAfterSeconds: 30 });
      }
      const last = await following.last();
      // A position beyond the newest row, as after restoring a backup, would hide all new ones.
      const after = Math.min(following.after ?? last, last);
      return chunks({ following, after, followers, world, closing: closing.signal });
    },

    /** Ends all current and later streams. */
    close: () => closing.abort(),
  };
}

export type RowFeed = ReturnType<typeof createRowFeed>;

interface Reading<Row extends { id: number }> {
  following: Following<Row>;
  after: number;
  followers: Set<Follower>;
  world: Pick<World, 'now' | 'sleep'>;
  closing: AbortSignal;
}

async function* chunks<Row extends { id: number }>({
  following,
  after,
  followers,
  world,
  closing,
}: Reading<Row>): AsyncGenerator<string, void, undefined> {
  const { topic, read, chunkOf, until } = following;
  const follower = new Follower(topic);
  const signals = [...following.signals, closing];
  const end = () => {
    follower.hasEnded = true;
    follower.wake();
  };
  const stopWatching = whenAnyAborted(signals, end);
  followers.add(follower);
  let seen = after;
  try {
    // A comment, which opens the stream; no row is missed after it.
    yield ': following\n\n';
    while (!follower.hasEnded && !signals.some((signal) => signal.aborted)) {
      if (until !== null && until <= world.now()) return;
      if (follower.isBehind) {
        // Cleared before the read, which may miss rows that are written meanwhile.
        follower.isBehind = false;
        const rows = await read({ after: seen, limit: pageSize });
        if (rows.length === pageSize) follower.isBehind = true;
        seen = rows.at(-1)?.id ?? seen;
        if (rows.length > 0) yield rows.map(chunkOf).join('');
      } else if (follower.queue.length > 0) {
        yield follower.queue.splice(0).join('');
      } else {
        await woken(follower, until === null ? undefined : until - world.now(), world);
      }
    }
  } finally {
    followers.delete(follower);
    stopWatching();
  }
}

/** Resolves when there is something to send, or after `ms`. */
async function woken(follower: Follower, ms: number | undefined, world: Pick<World, 'sleep'>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  follower.wake = resolve;
  if (ms === undefined) return await promise;
  const over = new AbortController();
  const late = world.sleep(Math.min(ms, longestSleepMs), over.signal).catch(() => {});
  await Promise.race([promise, late]);
  over.abort();
}
