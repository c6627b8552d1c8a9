import { type EventView, streamEvents } from '../../../shared/contract/events.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isoTime } from '../../../shared/time.ts';
import { identified, implement, StreamReply } from '../../handler.ts';
import type { EventFeed } from './event-feed.ts';
import type { FeedEvent } from './follower.ts';

/** Resuming beyond the newest event would hide all that comes, as after a restored backup: it counts as now. */
export const eventHandlers = (feed: EventFeed) => [
  implement(streamEvents, async ({ caller, query, headers, signal }) => {
    const { workspaceId, revoked } = identified(caller);
    const asked = sequenceOf(headers['last-event-id']) ?? query.after;
    const last = await feed.last();
    const after = Math.min(asked ?? last, last);
    return new StreamReply({}, chunks(feed.follow({ workspaceId, after }, [signal, revoked])));
  }),
];

/** `Last-Event-ID` as a sequence; undefined when it was not sent. */
function sequenceOf(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (typeof header !== 'string' || !/^\d{1,15}$/.test(header)) {
    throw new ApiError('invalid_request', {
      param: 'last-event-id',
      message: 'Last-Event-ID is not an id of this stream.',
    });
  }
  return Number(header);
}

async function* chunks(batches: AsyncIterable<FeedEvent[]>): AsyncGenerator<string, void, undefined> {
  // The empty first batch becomes a comment, which clients skip: it opens the stream at once.
  for await (const batch of batches) yield batch.length === 0 ? ': following\n\n' : batch.map(frame).join('');
}

function frame(event: FeedEvent): string {
  const view: EventView = {
    type: event.type,
    sequence: event.sequence,
    created_at: isoTime(event.at),
    data: event.data,
  };
  const id = event.sequence === null ? '' : `id: ${event.sequence}\n`;
  return `${id}event: ${event.type}\ndata: ${JSON.stringify(view)}\n\n`;
}
