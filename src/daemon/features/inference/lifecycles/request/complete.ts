import type { CreateChatCompletionBody } from '../../../../../shared/contract/chat-completions.ts';
import { unixSeconds } from '../../../../../shared/time.ts';
import { RelayReply, StreamReply } from '../../../../handler.ts';
import type { AnswerPlace } from '../../../idempotency/index.ts';
import type { ThreadRun } from '../../../threads/index.ts';
import type { Json } from '../../fault.ts';
import { parseChat } from '../../formats/chat-completions/parse.ts';
import { wholeChat } from '../../formats/chat-completions/render.ts';
import { ChatStream } from '../../formats/chat-completions/stream.ts';
import { wordsIn } from '../../formats/chat-completions/words.ts';
import type { Output } from '../../pipeline/output.ts';
import { answerHeaders, drain, relayStream, settleWhole, wholeAnswer } from '../../pipeline/relay.ts';
import type { Settled } from '../../pipeline/renderer.ts';
import { parseServiceOptions } from '../../pipeline/service-member.ts';
import {
  type InferenceDeps,
  type ModelCall,
  type StartedCall,
  startCall,
} from '../../pipeline/start-call.ts';
import type { JsonAnswer } from '../../upstream.ts';
import { type ChatTurn, chatTurn } from '../thread/chat-turn.ts';
import { firstWords } from '../thread/first-words.ts';
import { inThread, threadIn } from '../thread/in-thread.ts';

export type CompleteCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal'> & {
  body: CreateChatCompletionBody;
  /** The run of a thread that the call is. */
  run?: ThreadRun;
  /** Where a whole answer is kept for an Idempotency-Key. */
  place?: AnswerPlace | undefined;
};

interface Answering {
  started: StartedCall;
  created: number;
  /** Set on a call in a thread. */
  turn: ChatTurn | undefined;
}

const endpoint = '/v1/chat/completions';

/** One call in the chat-completions format, from the validated body to the reply. */
export async function complete(deps: InferenceDeps, call: CompleteCall): Promise<RelayReply | StreamReply> {
  const { body } = call;
  // `conversation` is no member of this format: it is passed on.
  const named = threadIn({ model: body.model, service: body.service });
  if (named === undefined) return answer(deps, call);
  const asked = { ...call, endpoint, says: firstWords(body.messages) };
  return inThread(deps, { named, call: asked }, (parts) => answer(parts.deps, { ...call, ...parts }));
}

async function answer(deps: InferenceDeps, call: CompleteCall): Promise<RelayReply | StreamReply> {
  const { body, caller, requestId, signal } = call;
  const parsed = parseChat(body, (sealed) => deps.sealer.open(caller.workspaceId, sealed));
  const turn = call.run && (await chatTurn(deps, { run: call.run, parsed, workspaceId: caller.workspaceId }));
  const inference = turn?.inference ?? parsed;
  const options = parseServiceOptions(body.service);
  const started = await startCall(deps, { caller, requestId, endpoint, inference, options, signal });
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
  { place }: CompleteCall,
  { started, created, turn }: Answering,
): Promise<RelayReply> {
  const { answer, meter, output, route } = started;
  const id = answer.kind === 'json' ? '' : chatId(deps);
  const render = (settled: Settled) => {
    const body =
      answer.kind === 'json'
        ? spliced(answer, settled)
        : JSON.stringify(wholeChat({ id, created, model: route.offer.model, output, settled }));
    return new RelayReply(answerHeaders(started, settled), body);
  };
  return wholeAnswer(deps, started, async () => {
    if (answer.kind === 'json') {
      if (answer.tokens) meter.report(answer.tokens);
      else countWords(answer.json, output);
      meter.finish = answer.finish;
    } else await drain(started);
    const { settled, reply } = await settleWhole(started, { render, place });
    await turn?.keep(started);
    started.finishRoute({ outputTokens: settled.tokens.output });
    return reply ?? render(settled);
  });
}

const brace = 0x7d;

/** The provider's own bytes with our member `service` at the end: nothing that it says is lost or written again. */
function spliced(answer: JsonAnswer, settled: Settled): Uint8Array {
  const end = answer.bytes.lastIndexOf(brace);
  const service = Buffer.from(`,"service":${JSON.stringify(settled.service)}}`);
  return Buffer.concat([answer.bytes.subarray(0, end), service]);
}

/** What the choices say, thoughts and arguments included: the base of an estimate where no usage was told. */
function countWords({ choices }: Json, output: Output): void {
  for (const choice of Array.isArray(choices) ? choices : []) {
    for (const text of wordsIn(choice?.message)) output.count(text.length);
  }
}

/** Chat ids have a hyphen where all others have an underscore. */
function chatId({ makeId }: InferenceDeps): string {
  return makeId('chatcmpl').replace('_', '-');
}
