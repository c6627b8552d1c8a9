import type { CreateChatCompletionBody } from '../../../../../shared/contract/chat-completions.ts';
import { unixSeconds } from '../../../../../shared/time.ts';
import { RelayReply, StreamReply } from '../../../../handler.ts';
import type { IdempotencySlot } from '../../../idempotency/index.ts';
import type { ThreadRun } from '../../../threads/index.ts';
import { parseChat } from '../../formats/chat-completions/parse.ts';
import { passedUsage, renderCompletion, textsIn } from '../../formats/chat-completions/render.ts';
import { ChatStream } from '../../formats/chat-completions/stream.ts';
import { isObject, type Json } from '../../invalid-request.ts';
import type { ModelCall } from '../../pipeline/call-observer.ts';
import type { Output } from '../../pipeline/output-items.ts';
import { answerHeaders, answerWhole, readWhole, relayStream, settleWhole } from '../../pipeline/relay.ts';
import type { Settled } from '../../pipeline/renderer.ts';
import { parseServiceOptions } from '../../pipeline/service-member.ts';
import type { StartedCall } from '../../pipeline/start-call.ts';
import { startCall } from '../../pipeline/start-call.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { type ChatTurn, chatTurn } from '../thread/chat-turn.ts';
import { firstUserText, inThread, threadIn } from '../thread/in-thread.ts';

/** A call in the chat-completions format. */
export type CompleteCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal' | 'request'> & {
  body: CreateChatCompletionBody;
  /** Set when the call is a run of a thread. */
  run?: ThreadRun;
  /** Where a whole answer is stored for an Idempotency-Key. */
  slot?: IdempotencySlot | undefined;
};

interface Answering {
  started: StartedCall;
  /** Unix seconds */
  created: number;
  /** Set on a call in a thread. */
  turn: ChatTurn | undefined;
}

const endpoint = '/v1/chat/completions';

/** Handles a call in the chat-completions format, from the validated body to the reply. */
export function complete(deps: InferenceDeps, call: CompleteCall): Promise<RelayReply | StreamReply> {
  const { body } = call;
  // `conversation` is not a member of this format, so it goes to the provider.
  const named = threadIn({ model: body.model, service: body.service });
  if (named === undefined) return answer(deps, call);
  const threadCall = { ...call, endpoint, text: firstUserText(body.messages) };
  return inThread(deps, { named, call: threadCall }, (context) => answer(deps, { ...call, ...context }));
}

async function answer(deps: InferenceDeps, call: CompleteCall): Promise<RelayReply | StreamReply> {
  const { body, caller, requestId, signal, request, run } = call;
  const parsed = parseChat(body, (sealed) => deps.sealer.open(caller.workspaceId, sealed));
  const turn = run && (await chatTurn(deps, { run, parsed, workspaceId: caller.workspaceId }));
  const inference = turn?.inference ?? parsed;
  const started = await startCall(deps, {
    caller,
    requestId,
    endpoint,
    inference,
    options: parseServiceOptions(body.service),
    signal,
    request,
    ...(run && { observers: [run] }),
  });
  const created = unixSeconds(deps.world.now());
  const answering = { started, created, turn };
  return inference.stream ? stream(deps, call, answering) : whole(deps, call, answering);
}

function stream(
  deps: InferenceDeps,
  { body, requestId }: CompleteCall,
  { started, created, turn }: Answering,
): StreamReply {
  const renderer = new ChatStream({
    id: chatId(deps),
    created,
    model: started.route.offer.model,
    output: started.output,
    includeUsage: body.stream_options?.include_usage === true,
    requestId,
  });
  const keep = turn && (() => turn.keep(started));
  return new StreamReply(
    answerHeaders(started),
    relayStream(deps, started, { renderer, ...(keep && { keep }) }),
  );
}

function whole(
  deps: InferenceDeps,
  { slot }: CompleteCall,
  { started, created, turn }: Answering,
): Promise<RelayReply> {
  const { answer, output, route } = started;
  const label = { id: chatId(deps), created, model: route.offer.model };
  const render = (settled: Settled) => {
    const body =
      answer.kind === 'json'
        ? relabelled(answer.json, label, settled)
        : renderCompletion({ ...label, output, settled });
    return new RelayReply(answerHeaders(started, settled), JSON.stringify(body));
  };
  return answerWhole(deps, started, async () => {
    await readWhole(started, countText);
    const { settled, reply } = await settleWhole(started, { render, slot });
    await turn?.keep(started);
    started.finishRoute({ outputTokens: settled.tokens.output });
    return reply ?? render(settled);
  });
}

/** A provider's answer in the caller's format, with our id, time, model and cost. */
function relabelled(
  answer: Json,
  label: { id: string; created: number; model: string },
  settled: Settled,
): Json {
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
