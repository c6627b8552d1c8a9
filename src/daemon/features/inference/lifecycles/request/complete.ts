import type { CreateChatCompletionBody } from '../../../../../shared/contract/chat-completions.ts';
import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { unixSeconds } from '../../../../../shared/time/time.ts';
import { RelayReply, type StreamReply } from '../../../../base/handler.ts';
import {
  type AnsweredCall,
  type ModelCall,
  type Output,
  parseServiceOptions,
  readLabels,
  type Settled,
  type StartedFailure,
  streamCall,
  type WholeFormat,
  wholeCall,
} from '../../../calls/index.ts';
import type { IdempotencySlot } from '../../../idempotency/index.ts';
import type { ThreadRun } from '../../../threads/index.ts';
import { parseChat } from '../../formats/chat-completions/parse.ts';
import { passedUsage, renderCompletion, textsIn } from '../../formats/chat-completions/render.ts';
import { ChatStream, failedChunks } from '../../formats/chat-completions/stream.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { chatTurn } from '../thread/chat-turn.ts';
import { firstUserText, inThread, threadIn } from '../thread/in-thread.ts';

/** A call in the chat-completions format. */
export type CompleteCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal' | 'request'> & {
  body: CreateChatCompletionBody;
  /** Set when the call is a run of a thread. */
  run?: ThreadRun;
  /** Where a whole answer is stored for an Idempotency-Key. */
  slot?: IdempotencySlot | undefined;
};

const endpoint = '/v1/chat/completions';

/** Handles a call in the chat-completions format, from the validated body to the reply. */
export function complete(deps: InferenceDeps, call: CompleteCall): Promise<RelayReply | StreamReply> {
  const { body } = call;
  // `conversation` is not a member of this format, so it goes to the provider.
  const named = threadIn({ model: body.model, service: body.service });
  if (named === undefined) return answerCompletion(deps, call);
  const threadCall = { ...call, endpoint, text: firstUserText(body.messages) };
  return inThread(deps, { named, call: threadCall }, (context) =>
    answerCompletion(deps, { ...call, ...context }),
  );
}

async function answerCompletion(deps: InferenceDeps, call: CompleteCall): Promise<RelayReply | StreamReply> {
  const { body, caller, requestId, signal, request, run, slot } = call;
  const parsed = parseChat(body, (sealed) => deps.sealer.open(caller.workspaceId, sealed));
  const turn = run && (await chatTurn(deps, { run, parsed, workspaceId: caller.workspaceId }));
  const inference = turn?.inference ?? parsed;
  const modelCall: ModelCall = {
    caller,
    requestId,
    endpoint,
    inference,
    options: parseServiceOptions(body.service),
    labels: readLabels(request?.headers ?? {}, body),
    signal,
    request,
    ...(run && { observers: [run] }),
  };
  const keepOf = (answered: AnsweredCall) => turn && { keep: () => turn.keep(answered) };
  const label = ({ model }: AnsweredCall) => ({
    id: chatId(deps),
    created: unixSeconds(deps.world.now()),
    model,
  });
  if (inference.stream) {
    const includeUsage = body.stream_options?.include_usage === true;
    const formatOf = (answered: AnsweredCall) => ({
      renderer: new ChatStream({ ...label(answered), output: answered.output, includeUsage, requestId }),
      ...keepOf(answered),
    });
    const renderFailedStart = (failure: StartedFailure) => failedChunks(failure, requestId);
    return streamCall(deps, modelCall, formatOf, { renderFailedStart });
  }
  return wholeCall(deps, modelCall, (answered) => wholeChat(answered, label(answered), keepOf(answered)), {
    slot,
  });
}

interface ChatLabel {
  id: string;
  /** Unix seconds */
  created: number;
  model: string;
}

function wholeChat(
  answered: AnsweredCall,
  label: ChatLabel,
  keep: Pick<WholeFormat<RelayReply>, 'keep'> | undefined,
): WholeFormat<RelayReply> {
  const { document, output } = answered;
  return {
    countText: (json) => countText(json, output),
    render(settled) {
      const body = document
        ? relabelled(document, label, settled)
        : renderCompletion({ ...label, output, settled });
      return new RelayReply(answered.headers(settled), JSON.stringify(body));
    },
    ...keep,
  };
}

/** A provider's answer in the caller's format, with our id, time, model and cost. */
function relabelled(answer: Json, label: ChatLabel, settled: Settled): Json {
  const usage = passedUsage(isObject(answer.usage) ? answer.usage : undefined, settled);
  return { ...answer, ...label, usage, service: settled.service };
}

/** Counts the text of all choices, for the estimate of an answer without usage. */
function countText({ choices }: Json, output: Output): void {
  for (const choice of Array.isArray(choices) ? choices : []) {
    for (const text of textsIn(choice?.message)) output.count(text.length);
  }
}

/** OpenAI writes chat ids with a hyphen. */
function chatId({ makeId }: InferenceDeps): string {
  return `chatcmpl-${makeId('chatcmpl').slice('chatcmpl_'.length)}`;
}
