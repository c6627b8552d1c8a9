import { ApiError } from '../../../shared/errors.ts';
import type { World } from '../../world.ts';

/** How many rows are read at a time. */
const pageSize = 200;
/** How many live events wait for one slow reader; the oldest give way. */
const liveMax = 1000;
const followersMaxDefault = 2000;
const longestSleepMs = 60_000;

/** One reader of a topic. */
class Follower {
  readonly topic: string;
  /** Whether there may be rows that it has not read. */
  isBehind = true;
  hasEnded = false;
  live: string[] = [];
  wake: () => void = () => {};

  constructor(topic: string) {
    this.topic = topic;
  }

  take(chunk: string): void {
    if (this.live.length >= liveMax) this.live.shift();
    this.live.push(chunk);
    this.wake();
  }
}

export interface Following<Row extends { id: number }> {
  topic: string;
  /** The id of the last row that the reader has; undefined to begin now. */
  after: number | undefined;
  last: () => Promise<number>;
  /** Oldest first. */
  read: (page: { after: number; limit: number }) => Promise<Row[]>;
  chunkOf: (row: Row) => string;
  /** When the credential ends, in milliseconds since 1970; null: never. */
  until: number | null;
  signals: readonly AbortSignal[];
}

/**
 * Tells readers of rows as they are written. A row is always read from the store in the order of ids, so that none is missed or
 * told twice however announcements race; what is told live only waits in memory.
 */
export function rowFeed({
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
    /** Says that a row of this topic has been committed. */
    announce(topic: string): void {
      for (const follower of of(topic)) {
        follower.isBehind = true;
        follower.wake();
      }
    },

    /** Tells those who follow right now, and nobody later. */
    publish(topic: string, chunk: string): void {
      for (const follower of of(topic)) follower.take(chunk);
    },

    /** Text of server-sent events until a signal is aborted. Fails with `unavailable` when too many follow. */
    async follow<Row extends { id: number }>(
      following: Following<Row>,
    ): Promise<AsyncGenerator<string, void, undefined>> {
      if (followers.size >= followersMax) {
        throw new ApiError('unavailable', { message: 'Too many follow already.', retryAfterSeconds: 30 });
      }
      const last = await following.last();
      // Resuming beyond the newest row would hide all that comes, as after a restored backup: it counts as now.
      const after = Math.min(following.after ?? last, last);
      return chunks({ following, after, followers, world, closing: closing.signal });
    },

    /** Ends every reader's stream, and those that begin later. */
    close: () => closing.abort(),
  };
}

export type RowFeed = ReturnType<typeof rowFeed>;

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
  for (const signal of signals) signal.addEventListener('abort', end);
  followers.add(follower);
  let seen = after;
  try {
    // A comment, which clients skip: it opens the stream, and whoever has it misses nothing from then on.
    yield ': following\n\n';
    while (!follower.hasEnded && !signals.some((signal) => signal.aborted)) {
      if (until !== null && until <= world.now()) return;
      if (follower.isBehind) {
        // Cleared before the read: what is announced during it may be missing from it.
        follower.isBehind = false;
        const rows = await read({ after: seen, limit: pageSize });
        if (rows.length === pageSize) follower.isBehind = true;
        seen = rows.at(-1)?.id ?? seen;
        if (rows.length > 0) yield rows.map(chunkOf).join('');
      } else if (follower.live.length > 0) {
        yield follower.live.splice(0).join('');
      } else {
        await woken(follower, until === null ? undefined : until - world.now(), world);
      }
    }
  } finally {
    followers.delete(follower);
    for (const signal of signals) signal.removeEventListener('abort', end);
  }
}

/** Resolves when there is something to tell, or after so long. */
async function woken(follower: Follower, ms: number | undefined, world: Pick<World, 'sleep'>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  follower.wake = resolve;
  if (ms === undefined) return await promise;
  const over = new AbortController();
  const late = world.sleep(Math.min(ms, longestSleepMs), over.signal).catch(() => {});
  await Promise.race([promise, late]);
  over.abort();
}
