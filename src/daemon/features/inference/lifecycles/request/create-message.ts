import type { CreateMessageBody } from '../../../../../shared/contract/messages.ts';
import { invalid, isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { RelayReply, type StreamReply } from '../../../../base/handler.ts';
import {
  type AnsweredCall,
  type ModelCall,
  type Output,
  parseServiceOptions,
  readLabels,
  type StartedFailure,
  streamCall,
  type WholeFormat,
  wholeCall,
} from '../../../calls/index.ts';
import type { IdempotencySlot } from '../../../idempotency/index.ts';
import type { ReasoningOrigin } from '../../../upstreams/neutral.ts';
import { type MessageHeaders, parseMessagesCall, wantsThinking } from '../../formats/messages/parse.ts';
import { distinctCallIds, type MessageLabel, renderMessage } from '../../formats/messages/render.ts';
import { failedEvents, MessagesStream } from '../../formats/messages/stream.ts';
import type { InferenceDeps } from '../inference-deps.ts';

/** A call in the Messages format. */
export type CreateMessageCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal' | 'request'> & {
  body: CreateMessageBody;
  headers: MessageHeaders;
  /** Where a whole answer is stored for an Idempotency-Key. */
  slot?: IdempotencySlot | undefined;
};

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
  const call: ModelCall = {
    caller,
    requestId,
    endpoint: '/v1/messages',
    inference,
    options: parseServiceOptions(body.service),
    labels: readLabels(headers, body),
    signal,
    request,
  };
  const seal = (origin: ReasoningOrigin) => deps.sealer.seal(caller.workspaceId, origin);
  const label = ({ model }: AnsweredCall): MessageLabel => ({ id: deps.makeId('msg'), model });
  const distinctId = distinctCallIds(inference.items, deps.makeId);
  const showsThoughts = wantsThinking(body);
  if (inference.stream) {
    const formatOf = (answered: AnsweredCall) => {
      const { output } = answered;
      const tokens = () => answered.tokens();
      const options = { ...label(answered), output, requestId, tokens, showsThoughts, distinctId };
      return { renderer: new MessagesStream(options) };
    };
    const renderFailedStart = (failure: StartedFailure) => failedEvents(failure, requestId);
    return streamCall(deps, call, formatOf, { renderFailedStart });
  }
  const wholeMessage = (answered: AnsweredCall): WholeFormat<RelayReply> => {
    const { document, output } = answered;
    const labelled = label(answered);
    return {
      countText: (json) => countText(json, output),
      render(settled) {
        const message = document
          ? { ...withSeals(document, answered, seal), ...labelled }
          : renderMessage({ label: labelled, output, settled, showsThoughts, distinctId });
        return new RelayReply(answered.headers(settled), JSON.stringify(message));
      },
    };
  };
  return wholeCall(deps, call, wholeMessage, { slot });
}

/** Thoughts that their provider does not sign get our seal, with which they come back to it. */
function withSeals(
  document: Json,
  { provider, providerModel: model }: AnsweredCall,
  seal: (origin: ReasoningOrigin) => string,
): Json {
  const { content } = document;
  if (!Array.isArray(content) || !content.some(isUnsigned)) return document;
  const sealed = content.map((block) =>
    isUnsigned(block)
      ? {
          ...block,
          signature: seal({ provider, model, payload: { thinking: block.thinking, signature: '' } }),
        }
      : block,
  );
  return { ...document, content: sealed };
}

function isUnsigned(block: unknown): block is Json {
  return isObject(block) && block.type === 'thinking' && block.signature === '' && !!block.thinking;
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
