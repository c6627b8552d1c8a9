import { sseDone } from '../../../../../shared/sse.ts';
import { StreamReply } from '../../../../handler.ts';
import { type ThreadRun, titleOf } from '../../../threads/index.ts';
import { invalid, isObject } from '../../fault.ts';
import { asApiError, type InferenceDeps, type ModelCall } from '../../pipeline/start-call.ts';

/** A thread that a call names, and where it does. */
export interface NamedThread {
  id: string;
  param: 'service.thread' | 'conversation';
}

interface NamingBody {
  model: string;
  conversation?: unknown;
  service?: { thread?: string | null } | undefined;
  previous_response_id?: string | null;
}

/** The thread that a call is to be a run of, if it names one. */
export function threadIn(body: NamingBody): NamedThread | undefined {
  const { conversation } = body;
  const thread = body.service?.thread ?? undefined;
  if (thread === undefined && (conversation === undefined || conversation === null)) return undefined;
  if (body.previous_response_id)
    throw invalid('previous_response_id', 'A call continues either a thread or a response.');
  if (conversation === undefined || conversation === null)
    return { id: thread ?? '', param: 'service.thread' };
  const id = isObject(conversation) ? conversation.id : conversation;
  if (typeof id !== 'string' || id === '' || id.length > 64)
    throw invalid('conversation', 'This must be the id of a thread, or an object with that `id`.');
  if (thread !== undefined && thread !== id)
    throw invalid('service.thread', 'This and `conversation` name different threads.');
  return { id, param: 'conversation' };
}

interface RunCall extends Pick<ModelCall, 'caller' | 'requestId' | 'signal' | 'endpoint'> {
  body: NamingBody;
  /** What the first message of a user says, for a thread without a title. */
  says: string;
}

/** What a run of a thread is made with: the same, and the run is told of what becomes of the call. */
export interface RunParts<Deps extends InferenceDeps> {
  deps: Deps;
  run: ThreadRun;
  signal: AbortSignal;
}

/**
 * Makes a call as the run of a thread. The run has ended before its caller sees the end of the answer. With `isDetached`
 * whoever makes the answer ends the run of one that has started.
 */
export async function inThread<Deps extends InferenceDeps, Reply>(
  deps: Deps,
  { named, call, isDetached = false }: { named: NamedThread; call: RunCall; isDetached?: boolean },
  make: (parts: RunParts<Deps>) => Promise<Reply>,
): Promise<Reply | StreamReply> {
  const { caller, requestId, endpoint, body } = call;
  const run = await deps.threads.start({
    caller,
    requestId,
    endpoint,
    threadId: named.id,
    param: named.param,
    model: body.model,
    title: titleOf(call.says),
  });
  try {
    const signal = AbortSignal.any([call.signal, run.stopped]);
    const reply = await make({ deps: telling(deps, run), run, signal });
    if (isDetached) return reply;
    if (reply instanceof StreamReply) return new StreamReply(reply.headers, thenEnd(reply.chunks, run));
    await run.end();
    return reply;
  } catch (error) {
    const { code, message } = asApiError(error);
    await run.end({ code, message });
    throw error;
  }
}

function telling<Deps extends InferenceDeps>(deps: Deps, run: ThreadRun): Deps {
  return {
    ...deps,
    publish(event) {
      if (event.type === 'request.routed') {
        const { model, provider, attempt } = event.data;
        run.routed({ model, provider, attempt });
      }
      deps.publish(event);
    },
    onSettled(usage, settledMs) {
      run.settled(usage);
      deps.onSettled(usage, settledMs);
    },
  };
}

async function* thenEnd(chunks: AsyncIterable<string>, run: ThreadRun): AsyncGenerator<string> {
  try {
    for await (const chunk of chunks) {
      if (chunk.endsWith(sseDone)) await run.end();
      yield chunk;
    }
  } finally {
    await run.end();
  }
}
