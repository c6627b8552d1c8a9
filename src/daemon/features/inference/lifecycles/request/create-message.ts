import type { CreateMessageBody } from '../../../../../shared/contract/messages.ts';
import { RelayReply, StreamReply } from '../../../../handler.ts';
import type { IdempotencySlot } from '../../../idempotency/index.ts';
import { type MessageHeaders, parseMessagesCall, wantsThinking } from '../../formats/messages/parse.ts';
import {
  type DistinctId,
  distinctCallIds,
  type MessageLabel,
  renderMessage,
} from '../../formats/messages/render.ts';
import { MessagesStream } from '../../formats/messages/stream.ts';
import { invalid, isObject, type Json } from '../../invalid-request.ts';
import type { ModelCall } from '../../pipeline/call-observer.ts';
import type { Output } from '../../pipeline/output-items.ts';
import { answerHeaders, answerWhole, readWhole, relayStream, settleWhole } from '../../pipeline/relay.ts';
import type { Settled } from '../../pipeline/renderer.ts';
import { parseServiceOptions } from '../../pipeline/service-member.ts';
import type { StartedCall } from '../../pipeline/start-call.ts';
import { startCall } from '../../pipeline/start-call.ts';
import type { InferenceDeps } from '../inference-deps.ts';

/** A call in the Messages format. */
export type CreateMessageCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal' | 'request'> & {
  body: CreateMessageBody;
  headers: MessageHeaders;
  /** Where a whole answer is stored for an Idempotency-Key. */
  slot?: IdempotencySlot | undefined;
};

interface Answering {
  label: MessageLabel;
  requestId: string;
  /** Whether the caller asked for thoughts. */
  showsThoughts: boolean;
  distinctId: DistinctId;
  slot: IdempotencySlot | undefined;
}

/** Handles a call in the Messages format, from the validated body to the reply. */
export async function createMessageReply(
  deps: InferenceDeps,
  { body, headers, caller, requestId, signal, slot, request }: CreateMessageCall,
): Promise<RelayReply | StreamReply> {
  if (body.service?.thread)
    throw invalid('service.thread', 'Threads take calls in the Responses and chat formats only.');
  const inference = parseMessagesCall(body, headers, (sealed) =>
    deps.sealer.open(caller.workspaceId, sealed),
  );
  const started = await startCall(deps, {
    caller,
    requestId,
    endpoint: '/v1/messages',
    inference,
    options: parseServiceOptions(body.service),
    signal,
    request,
  });
  const label = { id: deps.makeId('msg'), model: started.route.offer.model };
  const distinctId = distinctCallIds(inference.items, deps.makeId);
  const answering = { label, requestId, showsThoughts: wantsThinking(body), distinctId, slot };
  return inference.stream ? stream(deps, started, answering) : whole(deps, started, answering);
}

function stream(
  deps: InferenceDeps,
  started: StartedCall,
  { label, requestId, showsThoughts, distinctId }: Answering,
): StreamReply {
  const { output, meter } = started;
  const tokens = () => meter.tokens();
  const renderer = new MessagesStream({ ...label, output, requestId, tokens, showsThoughts, distinctId });
  return new StreamReply(answerHeaders(started), relayStream(deps, started, { renderer }));
}

function whole(
  deps: InferenceDeps,
  started: StartedCall,
  { label, showsThoughts, distinctId, slot }: Answering,
): Promise<RelayReply> {
  const { answer, output } = started;
  const render = (settled: Settled) => {
    const body =
      answer.kind === 'json'
        ? { ...answer.json, ...label }
        : renderMessage({ label, output, settled, showsThoughts, distinctId });
    return new RelayReply(answerHeaders(started, settled), JSON.stringify(body));
  };
  return answerWhole(deps, started, async () => {
    await readWhole(started, countText);
    const { settled, reply } = await settleWhole(started, { render, slot });
    started.finishRoute({ outputTokens: settled.tokens.output });
    return reply ?? render(settled);
  });
}

/** Counts the text of all blocks, for the estimate of an answer without usage. */
function countText({ content }: Json, output: Output): void {
  for (const block of Array.isArray(content) ? content : []) {
    if (!isObject(block)) continue;
    const { text, thinking, input } = block;
    for (const each of [text, thinking]) if (typeof each === 'string') output.count(each.length);
    if (isObject(input)) output.count(JSON.stringify(input).length);
  }
}
