import {
  createThread,
  deleteThread,
  followThread,
  getThread,
  listThreadMessages,
  listThreads,
  stopThread,
  updateThread,
} from '../../../shared/contract/threads.ts';
import { pageSizeDefault } from '../../../shared/contract/vocabulary.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type Call, type Handler, identified, implement, StreamReply } from '../../handler.ts';
import type { Threads } from './threads.ts';
import type { RunEventRecord } from './threads-store.ts';
import { toEvent, toMessage, toThread } from './views.ts';

export function threadHandlers(threads: Threads): Handler[] {
  return [
    implement(createThread, async ({ caller, body }) => {
      const { workspaceId } = identified(caller);
      return { thread: toThread(await threads.create(workspaceId, body?.title ?? null)) };
    }),
    implement(listThreads, async ({ caller, query }) => {
      const { limit = pageSizeDefault, after } = query;
      const found = await threads.list(identified(caller).workspaceId, { limit: limit + 1, after });
      return pageOf(found.map(toThread), limit);
    }),
    implement(getThread, async ({ caller, params }) => {
      return { thread: toThread(await threads.get(identified(caller).workspaceId, params.id)) };
    }),
    implement(updateThread, async ({ caller, params, body }) => {
      const { workspaceId } = identified(caller);
      return { thread: toThread(await threads.rename(workspaceId, params.id, body.title)) };
    }),
    implement(deleteThread, async ({ caller, params }) => {
      await threads.remove(identified(caller).workspaceId, params.id);
      return { id: params.id, object: 'thread', deleted: true };
    }),
    implement(listThreadMessages, async ({ caller, params, query }) => {
      const { id } = await threads.get(identified(caller).workspaceId, params.id);
      const { limit = pageSizeDefault, after } = query;
      const found = await threads.kept.messages(id, { limit: limit + 1, after });
      if (!found) throw invalid('after', 'There is no such message in this thread.');
      return pageOf(found.map(toMessage), limit);
    }),
    implement(followThread, (call) => followed(threads, call)),
    implement(stopThread, async ({ caller, params }) => {
      return { thread: toThread(await threads.stop(identified(caller).workspaceId, params.id)) };
    }),
  ];
}

/** One more than the page tells whether there is another. */
function pageOf<Item extends { id: string }>(found: Item[], limit: number) {
  const data = found.slice(0, limit);
  const hasMore = found.length > limit;
  return {
    object: 'list' as const,
    data,
    has_more: hasMore,
    next: hasMore ? (data.at(-1)?.id ?? null) : null,
  };
}

async function followed(threads: Threads, call: Call<typeof followThread>): Promise<StreamReply> {
  const { workspaceId, revoked } = identified(call.caller);
  const { id } = await threads.get(workspaceId, call.params.id);
  const after = sequenceOf(call.headers['last-event-id']) ?? call.query.after ?? 0;
  return new StreamReply({}, chunks(threads.follow({ workspaceId, id, after }, [call.signal, revoked])));
}

/** `Last-Event-ID` as a sequence; undefined when it was not sent. */
function sequenceOf(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header);
  throw invalid('last-event-id', 'Last-Event-ID is not an id of this stream.');
}

async function* chunks(batches: AsyncIterable<RunEventRecord[]>): AsyncGenerator<string, void, undefined> {
  for await (const batch of batches) {
    // The empty first batch becomes a comment, which clients skip: it opens the stream at once.
    yield batch.length === 0 ? ': following\n\n' : batch.map(frame).join('');
  }
}

function frame(event: RunEventRecord): string {
  return `id: ${event.sequence}\nevent: ${event.type}\ndata: ${JSON.stringify(toEvent(event))}\n\n`;
}

function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_request', { param, message });
}
