import { pageSizeMax } from '../../../shared/contract/site.ts';
import {
  getWhisper,
  listWhispers,
  listWhisperThreads,
  readAllWhispers,
  readWhisper,
  sendWhisper,
  streamWhispers,
} from '../../../shared/contract/whispers.ts';
import { actingUser, type Handler, implement, StreamReply } from '../../base/handler.ts';
import { toReference } from '../profile/index.ts';
import { resumedAfter } from '../row-streams/index.ts';
import { toWhisper, type Whispers } from './whispers.ts';

const pageSizeDefault = 50;

export function whisperHandlers(whispers: Whispers): Handler[] {
  return [
    implement(listWhispers, async ({ caller, query }) => {
      const page = pageIn(query);
      const { records, peer } = await whispers.list(caller, query.with, page);
      return {
        data: records.map(toWhisper),
        meta: { nextCursor: cursorAfter(records, page.limit), with: peer?.handle ?? null },
      };
    }),
    implement(sendWhisper, async ({ caller, body }) => ({
      data: toWhisper(await whispers.send(caller, body)),
    })),
    implement(listWhisperThreads, async ({ caller, query }) => {
      const page = pageIn(query);
      const threads = await whispers.threads(caller, page);
      const data = threads.map(({ peer, last, unread }) => ({
        peer: toReference(peer),
        last: toWhisper(last),
        unread,
      }));
      const lasts = threads.map(({ last }) => last);
      return { data, meta: { nextCursor: cursorAfter(lasts, page.limit) } };
    }),
    implement(streamWhispers, async ({ caller, headers, signal }) => {
      const after = resumedAfter(headers['last-event-id']);
      return new StreamReply({}, await whispers.follow(caller, after, [signal, actingUser(caller).revoked]));
    }),
    implement(getWhisper, async ({ caller, params }) => ({
      data: toWhisper(await whispers.get(caller, params.id)),
    })),
    implement(readWhisper, async ({ caller, params }) => ({
      data: toWhisper(await whispers.markRead(caller, params.id)),
    })),
    implement(readAllWhispers, async ({ caller, query }) => ({
      data: { readCount: await whispers.markAllRead(caller, query.with) },
    })),
  ];
}

function pageIn({ limit = pageSizeDefault, before_id }: { limit?: number; before_id?: number }) {
  return { limit: Math.min(limit, pageSizeMax), before: before_id };
}

/** The cursor after a full page, which may be followed by another. */
function cursorAfter(rows: readonly { id: number }[], limit: number): string | null {
  return rows.length < limit ? null : String(rows.at(-1)?.id);
}
