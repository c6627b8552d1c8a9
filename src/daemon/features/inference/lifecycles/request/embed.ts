import type { CreateEmbeddingBody } from '../../../../../shared/contract/embeddings.ts';
import { RelayReply } from '../../../../handler.ts';
import type { IdempotencySlot } from '../../../idempotency/index.ts';
import { parseEmbeddings, renderEmbeddings } from '../../formats/embeddings.ts';
import type { ModelCall } from '../../pipeline/call-observer.ts';
import { answerHeaders, answerWhole, settleWhole } from '../../pipeline/relay.ts';
import type { Settled } from '../../pipeline/renderer.ts';
import { parseServiceOptions } from '../../pipeline/service-member.ts';
import { startCall } from '../../pipeline/start-call.ts';
import { noTokens } from '../../pricing/cost-bound.ts';
import type { InferenceDeps } from '../inference-deps.ts';

/** A call for embeddings. */
export type EmbedCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal' | 'request'> & {
  body: CreateEmbeddingBody;
  /** Where the answer is stored for an Idempotency-Key. */
  slot?: IdempotencySlot | undefined;
};

/** Handles a call for embeddings, from the validated body to the reply. */
export async function embed(
  deps: InferenceDeps,
  { caller, requestId, signal, body, slot, request }: EmbedCall,
): Promise<RelayReply> {
  const started = await startCall(deps, {
    caller,
    requestId,
    endpoint: '/v1/embeddings',
    inference: parseEmbeddings(body),
    options: parseServiceOptions(body.service),
    signal,
    request,
  });
  const { answer, meter, route } = started;
  return answerWhole(deps, started, async () => {
    if (answer.kind !== 'embeddings') throw new TypeError('embeddings were requested');
    const { vectors, inputTokens } = answer;
    if (inputTokens !== undefined) meter.report({ ...noTokens, input: inputTokens });
    const label = { model: route.offer.model, format: body.encoding_format };
    const render = (settled: Settled) =>
      new RelayReply(
        answerHeaders(started, settled),
        JSON.stringify(renderEmbeddings(vectors, label, settled)),
      );
    const { settled, reply } = await settleWhole(started, { render, slot });
    started.finishRoute({});
    return reply ?? render(settled);
  });
}
