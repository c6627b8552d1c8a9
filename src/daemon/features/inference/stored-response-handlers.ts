import type { Input } from '../../../shared/contract/endpoint.ts';
import type { ResponseResource } from '../../../shared/contract/response-resource.ts';
import {
  cancelResponse,
  deleteResponse,
  getResponse,
  listInputItems,
  listResponses,
} from '../../../shared/contract/stored-responses.ts';
import { ApiError } from '../../../shared/errors.ts';
import { invalid, isObject, type Json } from '../../../shared/faults/invalid-request.ts';
import { missing } from '../../../shared/faults/not-found.ts';
import { unixSeconds } from '../../../shared/time/time.ts';
import { type Call, type Handler, identified, implement, StreamReply } from '../../base/handler.ts';
import { type PageRequest, pageOf } from '../../base/replies.ts';
import type { Background } from './lifecycles/background/background.ts';
import { withoutUnknownEvents } from './lifecycles/background/event-log.ts';
import type { InferenceDeps } from './lifecycles/inference-deps.ts';
import { wantsStrictEvents } from './lifecycles/request/read-request.ts';

export function storedResponseHandlers(deps: InferenceDeps, background: Background): Handler[] {
  const { responses, world } = deps;
  return [
    implement(getResponse, async (call) => {
      const { workspaceId } = identified(call.caller);
      const { id } = call.params;
      if (call.query.stream) return followed(deps, background, call);
      const stored = await responses.byId(workspaceId, id, world.now());
      const found = stored
        ? (JSON.parse(stored.body) as ResponseResource)
        : ((await background.find(workspaceId, id)) as ResponseResource | undefined);
      if (!found) throw noResponse(id);
      return found;
    }),

    implement(deleteResponse, async ({ caller, params }) => {
      const { workspaceId } = identified(caller);
      await background.stop(workspaceId, params.id);
      if (!(await responses.remove(workspaceId, params.id))) throw noResponse(params.id);
      return { id: params.id, object: 'response', deleted: true };
    }),

    implement(cancelResponse, async ({ caller, params }) => {
      const { workspaceId } = identified(caller);
      return (await background.cancel(workspaceId, params.id)) as ResponseResource;
    }),

    implement(listResponses, async ({ caller, query }) => {
      const { workspaceId } = identified(caller);
      const read = (page: PageRequest) => responses.list({ workspaceId, at: world.now(), ...page });
      return await pageOf(query, read, {
        view: ({ id, createdAt, status, model, isBackground, isRunning }) => ({
          id,
          object: 'response' as const,
          created_at: unixSeconds(createdAt),
          status: isRunning ? background.statusOf(workspaceId, id) : status,
          model,
          background: isBackground,
        }),
        idOf: ({ id }) => id,
      });
    }),

    implement(listInputItems, async ({ caller, params, query }) => {
      const { workspaceId } = identified(caller);
      const stored = await responses.byId(workspaceId, params.id, world.now());
      const input = stored?.input ?? (await background.inputOf(workspaceId, params.id));
      if (input === undefined) throw noResponse(params.id);
      return pageOfInput(input, query);
    }),
  ];
}

/** Sent immediately, as the first event may take long: the client then knows that it is connected. */
const connected = ': following\n\n';

async function followed(
  { responses, world }: InferenceDeps,
  background: Background,
  { caller, params, query, headers, signal }: Call<typeof getResponse>,
): Promise<StreamReply> {
  const { workspaceId, revoked } = identified(caller);
  const { id } = params;
  const after = query.starting_after ?? -1;
  const events = await background.follow({ workspaceId, id, after, signal, revoked });
  if (!events) {
    if (!(await responses.byId(workspaceId, id, world.now())) && !(await background.find(workspaceId, id)))
      throw noResponse(id);
    throw invalid('stream', 'Only a response created with `background` and `stream` can be followed.');
  }
  return new StreamReply({}, filtered(events, { isStrict: wantsStrictEvents(headers) }));
}

async function* filtered(
  events: AsyncIterable<string>,
  { isStrict }: { isStrict: boolean },
): AsyncGenerator<string> {
  yield connected;
  for await (const text of events) yield isStrict ? withoutUnknownEvents(text) : text;
}

function noResponse(id: string): ApiError {
  return new ApiError('not_found', {
    message: `${missing('stored response', id)} Responses with \`store: false\` are not kept.`,
  });
}

type Query = Input<typeof listInputItems>['query'];

/** A page of a response's input items (JSON text), newest first by default, as in OpenAI's API. */
function pageOfInput(input: string, { order = 'desc', after, limit = 20 }: Query) {
  const items = (JSON.parse(input) as Json[]).map(showInputItem);
  if (order === 'desc') items.reverse();
  const start = after === undefined ? 0 : items.findIndex((item) => item.id === after) + 1;
  if (after !== undefined && start === 0) throw invalid('after', 'No input item has this id.');
  const data = items.slice(start, start + limit);
  return {
    object: 'list' as const,
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: start + limit < items.length,
  };
}

/** Fills in the members that callers may omit. */
function showInputItem(item: Json): Json {
  const type = item.type ?? 'message';
  if (type !== 'message') return { ...item, type };
  const { content } = item;
  const textType = item.role === 'assistant' ? 'output_text' : 'input_text';
  return {
    status: 'completed',
    ...item,
    type,
    content: typeof content === 'string' ? [{ type: textType, text: content }] : content,
  };
}

function idOf(item: Json | undefined): string | null {
  return isObject(item) && typeof item.id === 'string' ? item.id : null;
}
