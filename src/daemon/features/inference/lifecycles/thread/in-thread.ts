import { asApiError } from '../../../../../shared/errors.ts';
import { invalid, isObject } from '../../../../../shared/faults/invalid-request.ts';
import { sseDone } from '../../../../../shared/http/sse.ts';
import { StreamReply } from '../../../../base/handler.ts';
import type { ModelCall } from '../../../calls/index.ts';
import { type ThreadRun, titleOf } from '../../../threads/index.ts';
import type { InferenceDeps } from '../inference-deps.ts';

/** A thread named in a request, and the member that names it. */
export interface NamedThread {
  id: string;
  param: 'service.thread' | 'conversation';
}

interface NamingBody {
  model: string;
  conversation?: string | { id: string } | null;
  service?: { thread?: string | null } | null | undefined;
  previous_response_id?: string | null;
}

/** The thread that a call runs in; undefined when it names none. */
export function threadIn(body: NamingBody): NamedThread | undefined {
  const { conversation } = body;
  const thread = body.service?.thread ?? undefined;
  if (thread === undefined && (conversation === undefined || conversation === null)) return undefined;
  if (body.previous_response_id)
    throw invalid('previous_response_id', 'A call continues either a thread or a response, not both.');
  if (conversation === undefined || conversation === null)
    return { id: thread ?? '', param: 'service.thread' };
  const id = typeof conversation === 'string' ? conversation : conversation.id;
  if (thread !== undefined && thread !== id)
    throw invalid('service.thread', '`service.thread` and `conversation` name different threads.');
  return { id, param: 'conversation' };
}

interface ThreadCall extends Pick<ModelCall, 'caller' | 'requestId' | 'signal' | 'endpoint'> {
  body: NamingBody;
  /** Text of the first user message, the title of a thread without one. */
  text: string;
}

interface InThreadOptions {
  named: NamedThread;
  call: ThreadCall;
  /** Whether `answer` itself ends a run that has started. */
  isDetached?: boolean;
}

/** Makes a call as a run of a thread. The run ends before the caller gets the end of the answer. */
export async function inThread<Reply>(
  { threads }: Pick<InferenceDeps, 'threads'>,
  { named, call, isDetached = false }: InThreadOptions,
  answer: (context: { run: ThreadRun; signal: AbortSignal }) => Promise<Reply>,
): Promise<Reply | StreamReply> {
  const { caller, requestId, endpoint, body } = call;
  const run = await threads.start({
    caller,
    requestId,
    endpoint,
    threadId: named.id,
    param: named.param,
    model: body.model,
    title: titleOf(call.text),
  });
  try {
    const signal = AbortSignal.any([call.signal, run.stopped]);
    const reply = await answer({ run, signal });
    if (isDetached) return reply;
    if (reply instanceof StreamReply) return new StreamReply(reply.headers, endingRun(reply.chunks, run));
    await run.end();
    return reply;
  } catch (error) {
    const { code, message } = asApiError(error);
    await run.end({ code, message });
    throw error;
  }
}

async function* endingRun(chunks: AsyncIterable<string>, run: ThreadRun): AsyncGenerator<string> {
  try {
    for await (const chunk of chunks) {
      if (chunk.endsWith(sseDone)) await run.end();
      yield chunk;
    }
  } finally {
    await run.end();
  }
}

/** Text of the first user message of either format; empty when there is none. */
export function firstUserText(input: unknown): string {
  if (typeof input === 'string') return input;
  const items = Array.isArray(input) ? input.filter(isObject) : [];
  const content = items.find((item) => item.role === 'user')?.content;
  if (typeof content === 'string') return content;
  const texts = (Array.isArray(content) ? content.filter(isObject) : []).map((part) => part.text);
  return texts.filter((text) => typeof text === 'string').join(' ');
}
