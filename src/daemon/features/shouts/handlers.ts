import {
  deleteShout,
  getShout,
  listShouts,
  listZones,
  postShout,
  streamShouts,
} from '../../../shared/contract/shouts.ts';
import { pageSizeMax } from '../../../shared/contract/site.ts';
import { type Caller, type Handler, implement, StreamReply } from '../../base/handler.ts';
import { resumedAfter } from '../row-streams/index.ts';
import { type Shouts, toShout } from './shouts.ts';

const pageSizeDefault = 50;
const zones = { default: 20, max: 100 };

export function shoutHandlers(shouts: Shouts): Handler[] {
  return [
    implement(listShouts, async ({ query }) => {
      const { zone, since, limit: wanted = pageSizeDefault, before_id: before } = query;
      const limit = Math.min(wanted, pageSizeMax);
      const records = await shouts.list({ zone, since }, { limit, before });
      const nextCursor = records.length < limit ? null : String(records.at(-1)?.id);
      return { data: records.map(toShout), meta: { nextCursor } };
    }),
    implement(postShout, async ({ caller, body }) => ({ data: toShout(await shouts.post(caller, body)) })),
    implement(listZones, async ({ query }) => {
      const found = await shouts.zones(Math.min(query.limit ?? zones.default, zones.max));
      return { data: found.map(({ zone, count }) => ({ zone, count24h: count })) };
    }),
    implement(streamShouts, async ({ caller, query, headers, signal }) => {
      const after = resumedAfter(headers['last-event-id']);
      const ends = [signal, ...revocationOf(caller)];
      return new StreamReply({}, await shouts.follow(caller, { zone: query.zone, after }, ends));
    }),
    implement(getShout, async ({ params }) => ({ data: toShout(await shouts.find(params.id)) })),
    implement(deleteShout, async ({ caller, params }) => {
      await shouts.remove(caller, params.id);
      return { data: { deleted: true } };
    }),
  ];
}

/** Anonymous callers have nothing to revoke. */
function revocationOf(caller: Caller): AbortSignal[] {
  return caller.kind === 'anonymous' ? [] : [caller.revoked];
}
