import { invalid } from '../../../../../shared/faults/invalid-request.ts';
import type { RelayReply, StreamReply } from '../../../../base/handler.ts';
import {
  type AnsweredCall,
  defaultsOf,
  readLabels,
  type ServiceOptions,
  streamCall,
  wholeCall,
} from '../../../calls/index.ts';
import { prepareCreate } from '../../compaction/prepare-create.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { firstUserText, inThread, threadIn } from '../thread/in-thread.ts';
import { type RespondCall, readRequest } from './read-request.ts';
import { failedSession, ResponseSession, startSession } from './response-session.ts';

export const responsesEndpoint = '/v1/responses';

/** Handles a call in the Responses format, from the validated body to the reply. */
export async function respond(deps: InferenceDeps, call: RespondCall): Promise<RelayReply | StreamReply> {
  if (call.body.background === true)
    throw invalid('background', 'Background responses can only be created with POST /v1/responses.');
  const named = threadIn(call.body);
  if (named === undefined) return answerResponse(deps, call);
  return inThread(deps, { named, call: threadCallOf(call) }, (context) =>
    answerResponse(deps, { ...call, ...context }),
  );
}

/** The part of a call that the run of a thread records. */
export function threadCallOf(call: RespondCall) {
  const { caller, requestId, signal, body } = call;
  return { caller, requestId, signal, body, endpoint: responsesEndpoint, text: firstUserText(body.input) };
}

async function answerResponse(deps: InferenceDeps, call: RespondCall): Promise<RelayReply | StreamReply> {
  const { body, caller, requestId, signal, request, run } = call;
  const { inference, options, ownItems, firstResponseId } = await readRequest(deps, call);
  const { call: modelCall, rewrite } = await prepareCreate(deps, {
    body,
    caller,
    requestId,
    endpoint: responsesEndpoint,
    inference,
    options,
    labels: readLabels(call.headers ?? request?.headers ?? {}, body, firstResponseId),
    signal,
    request,
    ...(run && { observers: [run] }),
  });
  const start = startSession(deps, call, ownItems);
  const sessionOf = (answered: AnsweredCall) => new ResponseSession(deps, start, answered);
  if (inference.stream) {
    const serviceEvents = wantsServiceEvents(call, options);
    const { strictEvents, isOnSocket = false } = call;
    const streaming = { serviceEvents, strictEvents, errorStatus: isOnSocket };
    return streamCall(deps, modelCall, (answered) => sessionOf(answered).stream(streaming), {
      rewrite,
      // Sockets have pings.
      ...(!isOnSocket && {
        renderFailedStart: (failure, settled) =>
          failedSession(deps, start, { failure, settled, serviceEvents }),
      }),
    });
  }
  return wholeCall(deps, modelCall, (answered) => sessionOf(answered).whole(), { rewrite, slot: call.slot });
}

/** Whether a stream of this call carries `service:*` events. */
export function wantsServiceEvents({ strictEvents, caller }: RespondCall, options: ServiceOptions): boolean {
  return !strictEvents && (options.events ?? defaultsOf(caller)?.events ?? true);
}
