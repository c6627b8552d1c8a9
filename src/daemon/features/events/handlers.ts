import { type EventView, streamEvents } from '../../../shared/contract/events.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type ActingUser, actingUser, implement, keyOrLogin, StreamReply } from '../../base/handler.ts';
import type { World } from '../../base/world.ts';
import { resumedAfter, rowEvent } from '../row-streams/index.ts';
import { digested } from './call-digest.ts';
import type { EventFeed } from './event-feed.ts';
import type { FeedEvent } from './follower.ts';
import { hostEvents } from './store.ts';

interface EventsDeps {
  feed: EventFeed;
  world: Pick<World, 'now' | 'sleep'>;
  isDaemonOwner(user: ActingUser): Promise<boolean>;
}

export const eventHandlers = ({ feed, world, isDaemonOwner }: EventsDeps) => [
  implement(streamEvents, async ({ caller, query, headers, signal }) => {
    const reader = keyOrLogin(caller);
    const { workspaceId, revoked } = reader;
    const workspaceIds: [string, ...string[]] = [workspaceId];
    if (await isDaemonOwner(actingUser(reader))) workspaceIds.push(hostEvents);
    const asked = resumedAfter(headers['last-event-id']) ?? query.after;
    const last = await feed.last();
    // A position beyond the newest event, as after restoring a backup, would hide all new ones.
    const after = Math.min(asked ?? last, last);
    const isGone = asked !== undefined && (await feed.isGone(after));
    const gap = isGone ? frame(gapAfter(workspaceId, after, feed.now())) : '';
    const batches = feed.follow({ workspaceIds, after }, [signal, revoked]);
    const isWanted = filterOf(query);
    const { digest: everyMs, rows = rowsDefault } = query;
    if (everyMs === undefined) return new StreamReply({}, chunks(batches, { gap, isWanted }));
    const digests = digested(batches, { everyMs, rows, isWanted, workspaceId, world });
    return new StreamReply({}, chunks(digests, { gap, isWanted: () => true }));
  }),
];

const rowsDefault = 50;

/** Sent first to a client that resumes after events which are no longer stored. */
function gapAfter(workspaceId: string, after: number, at: number): FeedEvent {
  return { type: 'events.gap', workspaceId, at, data: { after }, sequence: null };
}

/** Filters by type, where `request.*` matches all events of requests, and by key; `events.*` always match. */
function filterOf({ type, key }: { type?: string; key?: string }): (event: FeedEvent) => boolean {
  const types = type?.split(',');
  const isOfType = (name: string) =>
    types === undefined ||
    types.some((asked) => (asked.endsWith('.*') ? name.startsWith(asked.slice(0, -1)) : name === asked));
  return ({ type: name, data }) =>
    name.startsWith('events.') || (isOfType(name) && (key === undefined || data.key === key));
}

interface ChunkOptions {
  gap: string;
  isWanted: (event: FeedEvent) => boolean;
}

async function* chunks(
  batches: AsyncIterable<FeedEvent[]>,
  { gap, isWanted }: ChunkOptions,
): AsyncGenerator<string, void, undefined> {
  for await (const batch of batches) {
    // The empty first batch becomes a comment, which opens the stream immediately.
    yield batch.length === 0 ? `: following\n\n${gap}` : batch.filter(isWanted).map(frame).join('');
  }
}

/** Rendered once for all followers. */
const frames = new WeakMap<FeedEvent, string>();

function frame(event: FeedEvent): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const view: EventView = {
    type: event.type,
    sequence: event.sequence,
    created_at: isoTime(event.at),
    data: event.data,
  };
  const text = rowEvent(event.type, view, event.sequence ?? undefined);
  frames.set(event, text);
  return text;
}
