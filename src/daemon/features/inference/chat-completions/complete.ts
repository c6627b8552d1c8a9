import type { CreateChatCompletionBody } from '../../../../shared/contract/chat-completions.ts';
import { unixSeconds } from '../../../../shared/time.ts';
import { RelayReply, StreamReply } from '../../../handler.ts';
import type { AnswerPlace } from '../../idempotency/index.ts';
import type { ThreadRun } from '../../threads/index.ts';
import { answerHeaders, drain, relayStream, settleWhole, wholeAnswer } from '../answer.ts';
import { type Begun, begin, type InferenceNeeds, type ModelCall } from '../begin.ts';
import type { Json } from '../fault.ts';
import { inThread, threadIn } from '../in-thread.ts';
import type { Output } from '../output.ts';
import type { Settled } from '../renderer.ts';
import { firstWords } from '../responses/first-words.ts';
import { parseWishes } from '../service-member.ts';
import type { JsonAnswer } from '../upstream.ts';
import { type ChatTurn, chatTurn } from './chat-turn.ts';
import { parseChat } from './parse.ts';
import { ChatStream } from './stream.ts';
import { wholeChat } from './whole.ts';
import { wordsIn } from './words.ts';

export type CompleteCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal'> & {
  body: CreateChatCompletionBody;
  /** The run of a thread that the call is. */
  run?: ThreadRun;
  /** Where a whole answer is kept for an Idempotency-Key. */
  place?: AnswerPlace | undefined;
};

interface Answering {
  begun: Begun;
  created: number;
  /** Set on a call in a thread. */
  turn: ChatTurn | undefined;
}

const endpoint = '/v1/chat/completions';

/** One call in the chat-completions format, from the validated body to the reply. */
export async function complete(needs: InferenceNeeds, call: CompleteCall): Promise<RelayReply | StreamReply> {
  const { body } = call;
  // `conversation` is no member of this format: it is passed on.
  const named = threadIn({ model: body.model, service: body.service });
  if (named === undefined) return answer(needs, call);
  const asked = { ...call, endpoint, says: firstWords(body.messages) };
  return inThread(needs, { named, call: asked }, (parts) => answer(parts.needs, { ...call, ...parts }));
}

async function answer(needs: InferenceNeeds, call: CompleteCall): Promise<RelayReply | StreamReply> {
  const { body, caller, requestId, signal } = call;
  const parsed = parseChat(body, (sealed) => needs.sealer.open(caller.workspaceId, sealed));
  const turn =
    call.run && (await chatTurn(needs, { run: call.run, parsed, workspaceId: caller.workspaceId }));
  const inference = turn?.inference ?? parsed;
  const wishes = parseWishes(body.service);
  const begun = await begin(needs, { caller, requestId, endpoint, inference, wishes, signal });
  const created = unixSeconds(needs.world.now());
  const answering = { begun, created, turn };
  return inference.stream ? stream(needs, call, answering) : whole(needs, call, answering);
}

function stream(
  needs: InferenceNeeds,
  { body, requestId }: CompleteCall,
  { begun, created, turn }: Answering,
): StreamReply {
  const renderer = new ChatStream({
    id: chatId(needs),
    created,
    model: begun.route.offer.model,
    output: begun.output,
    includeUsage: body.stream_options?.include_usage === true,
    requestId,
  });
  const keep = turn && (() => turn.keep(begun));
  return new StreamReply(
    answerHeaders(begun),
    relayStream(needs, begun, { renderer, ...(keep && { keep }) }),
  );
}

function whole(
  needs: InferenceNeeds,
  { place }: CompleteCall,
  { begun, created, turn }: Answering,
): Promise<RelayReply> {
  const { answer, meter, output, route } = begun;
  const id = answer.kind === 'json' ? '' : chatId(needs);
  const render = (settled: Settled) => {
    const body =
      answer.kind === 'json'
        ? spliced(answer, settled)
        : JSON.stringify(wholeChat({ id, created, model: route.offer.model, output, settled }));
    return new RelayReply(answerHeaders(begun, settled), body);
  };
  return wholeAnswer(needs, begun, async () => {
    if (answer.kind === 'json') {
      if (answer.tokens) meter.report(answer.tokens);
      else countWords(answer.json, output);
      meter.finish = answer.finish;
    } else await drain(begun);
    const { settled, reply } = await settleWhole(begun, { render, place });
    await turn?.keep(begun);
    begun.finishRoute({ outputTokens: settled.tokens.output });
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
function chatId({ makeId }: InferenceNeeds): string {
  return makeId('chatcmpl').replace('_', '-');
}
