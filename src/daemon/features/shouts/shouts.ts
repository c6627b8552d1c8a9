import { defaultZone, type Shout } from '../../../shared/contract/shouts.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import { isoTime, parseTime } from '../../../shared/time/time.ts';
import type { Caller } from '../../base/handler.ts';
import type { World } from '../../base/world.ts';
import { type People, toReference } from '../profile/index.ts';
import { expiryOf, type RowFeed, rowEvent } from '../row-streams/index.ts';
import type { ShoutRecord, ShoutsStore } from './store.ts';

export interface ShoutsDeps {
  store: ShoutsStore;
  people: Pick<People, 'of'>;
  feed: RowFeed;
  world: Pick<World, 'now' | 'elapsed'>;
}

const perMinute = 30;
const windowMs = 60_000;
const trackedMax = 10_000;
const dayMs = 24 * 60 * 60 * 1000;
const topic = 'shouts';

/** Public messages, by zone. */
export function createShouts({ store, people, feed, world }: ShoutsDeps) {
  const limit = rateLimit({ perMinute, elapsed: () => world.elapsed() });

  const find = async (id: number): Promise<ShoutRecord> => {
    const record = await store.find(id);
    if (!record) throw new ApiError('not_found');
    return record;
  };

  return {
    /** Fails with `rate_limited` after 30 per person and minute. */
    async post(caller: Caller, { body, zone = '' }: { body: string; zone?: string }): Promise<ShoutRecord> {
      const author = await people.of(caller);
      wellFormed(body, 'body');
      if (body.trim() === '') throw inputFault('body', 'must not be blank');
      const waitSeconds = limit.take(author.number);
      if (waitSeconds > 0) {
        const message = `At most ${perMinute} shouts per minute.`;
        throw new ApiError('rate_limited', { message, retryAfterSeconds: waitSeconds });
      }
      const id = await store.insert({
        author: author.number,
        body,
        zone: zoneOf(zone) ?? defaultZone,
        at: world.now(),
      });
      feed.announce(topic);
      return await find(id);
    },

    async list(
      { zone, since }: { zone: string | undefined; since: string | undefined },
      page: { limit: number; before: number | undefined },
    ): Promise<ShoutRecord[]> {
      const from = since === undefined ? undefined : parseTime(since);
      if (since !== undefined && from === undefined) {
        throw inputFault('since', 'must be a time in UTC, like 2027-01-31T00:00:00Z');
      }
      return await store.list({ zone: zoneOf(zone), since: from }, page);
    },

    find,

    /** Fails with `permission` unless the caller is the author. */
    async remove(caller: Caller, id: number): Promise<void> {
      const me = await people.of(caller);
      const { author } = await find(id);
      if (author.number !== me.number) throw new ApiError('permission');
      if (!(await store.remove(id, me.number))) throw new ApiError('not_found');
    },

    zones: (limit: number) => store.zones(world.now() - dayMs, limit),

    follow: (
      caller: Caller,
      { zone, after }: { zone: string | undefined; after: number | undefined },
      signals: readonly AbortSignal[],
    ) =>
      feed.follow<ShoutRecord>({
        topic,
        after,
        last: store.last,
        read: (page) => store.after(zoneOf(zone), page),
        chunkOf: (record) => rowEvent('shout.created', toShout(record), record.id),
        until: expiryOf(caller),
        signals,
      }),
  };
}

export type Shouts = ReturnType<typeof createShouts>;

/** Zones are in lower case; empty means none. */
function zoneOf(zone: string | undefined): string | undefined {
  return zone === undefined || zone === '' ? undefined : zone.toLowerCase();
}

export function toShout(record: ShoutRecord): Shout {
  return {
    author: toReference(record.author),
    body: record.body,
    createdAt: isoTime(record.createdAt),
    id: record.id,
    updatedAt: isoTime(record.updatedAt),
    visibility: 'public',
    zone: record.zone,
  };
}

/** Limits each person to `perMinute`. `take` returns 0, or the seconds to wait. */
function rateLimit({ perMinute, elapsed }: { perMinute: number; elapsed: () => number }) {
  const taken = new RecentMap<number, number[]>(trackedMax);
  return {
    take(person: number): number {
      const at = elapsed();
      const recent = (taken.get(person) ?? []).filter((time) => time > at - windowMs);
      const oldest = recent.at(-perMinute);
      // Deleted first, so that the map is ordered by last use.
      taken.delete(person);
      taken.set(person, oldest === undefined ? [...recent, at] : recent);
      return oldest === undefined ? 0 : Math.max(1, Math.ceil((oldest + windowMs - at) / 1000));
    },
  };
}
