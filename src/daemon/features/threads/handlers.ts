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
import { ApiError } from '../../../shared/errors.ts';
import { type Call, type Handler, identified, implement, StreamReply } from '../../base/handler.ts';
import { type PageRequest, pageOf } from '../../base/replies.ts';
import { resumedAfter, rowEvent } from '../row-streams/index.ts';
import type { Threads } from './threads.ts';
import type { RunEventRecord } from './threads-store.ts';
import { toEvent, toMessage, toThread } from './views.ts';

export function threadHandlers(threads: Threads): Handler[] {
  return [
    implement(createThread, async ({ caller, body }) => {
      return { thread: toThread(await threads.create(identified(caller), body?.title ?? null)) };
    }),
    implement(listThreads, async ({ caller, query }) => {
      const { workspaceId } = identified(caller);
      return await pageOf(query, (page) => threads.list(workspaceId, page), { view: toThread, idOf });
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
      return await pageOf(query, (page) => messagesOf(threads, id, page), { view: toMessage, idOf });
    }),
    implement(followThread, (call) => followed(threads, call)),
    implement(stopThread, async ({ caller, params }) => {
      return { thread: toThread(await threads.stop(identified(caller).workspaceId, params.id)) };
    }),
  ];
}

const idOf = ({ id }: { id: string }) => id;

async function messagesOf(threads: Threads, id: string, page: PageRequest) {
  const found = await threads.reads.messages(id, page);
  if (found) return found;
  const message = 'There is no such message in this thread.';
  throw new ApiError('invalid_request', { param: 'after', message });
}

async function followed(threads: Threads, call: Call<typeof followThread>): Promise<StreamReply> {
  const { workspaceId, revoked } = identified(call.caller);
  const { id } = await threads.get(workspaceId, call.params.id);
  const after = resumedAfter(call.headers['last-event-id']) ?? call.query.after ?? 0;
  return new StreamReply({}, chunks(threads.follow({ workspaceId, id, after }, [call.signal, revoked])));
}

async function* chunks(batches: AsyncIterable<RunEventRecord[]>): AsyncGenerator<string, void, undefined> {
  for await (const batch of batches) {
    // The empty first batch becomes a comment, which clients skip; it opens the stream immediately.
    yield batch.length === 0 ? ': following\n\n' : batch.map(frame).join('');
  }
}

function frame(event: RunEventRecord): string {
  return rowEvent(event.type, toEvent(event), event.sequence);
}
