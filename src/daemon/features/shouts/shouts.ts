import { defaultZone, type Shout } from '../../../shared/contract/shouts.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/input-faults.ts';
import { isoTime, parseTime } from '../../../shared/time.ts';
import type { Caller } from '../../handler.ts';
import type { World } from '../../world.ts';
import { type Persons, toReference } from '../profile/index.ts';
import { endOf, type RowFeed, rowEvent } from '../row-streams/index.ts';
import { pace } from './pace.ts';
import type { ShoutRecord, ShoutsStore } from './shouts-store.ts';

export interface ShoutsNeeds {
  store: ShoutsStore;
  persons: Pick<Persons, 'of'>;
  feed: RowFeed;
  world: Pick<World, 'now' | 'elapsed'>;
}

const perMinute = 30;
const dayMs = 24 * 60 * 60 * 1000;
const topic = 'shouts';

/** Public messages, by zone. */
export function shouts({ store, persons, feed, world }: ShoutsNeeds) {
  const paced = pace({ perMinute, elapsed: () => world.elapsed() });

  const find = async (id: number): Promise<ShoutRecord> => {
    const record = await store.find(id);
    if (!record) throw new ApiError('not_found');
    return record;
  };

  return {
    /** Fails with `rate_limited` after 30 of one person within a minute. */
    async post(caller: Caller, { body, zone = '' }: { body: string; zone?: string }): Promise<ShoutRecord> {
      const author = await persons.of(caller);
      wellFormed(body, 'body');
      if (body.trim() === '') throw inputFault('body', 'must not be blank');
      const waitSeconds = paced.take(author.number);
      if (waitSeconds > 0) {
        const message = `At most ${perMinute} shouts a minute.`;
        throw new ApiError('rate_limited', { message, retryAfterSeconds: waitSeconds });
      }
      const placed = zoneOf(zone) ?? defaultZone;
      const id = await store.insert({ author: author.number, body, zone: placed, at: world.now() });
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

    /** Fails with `permission` for whoever is not its author. */
    async remove(caller: Caller, id: number): Promise<void> {
      const me = await persons.of(caller);
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
        until: endOf(caller),
        signals,
      }),
  };
}

export type Shouts = ReturnType<typeof shouts>;

/** Zones are in lower case; an empty one is none. */
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
