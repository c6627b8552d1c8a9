import type { CreateEmbeddingBody } from '../../../../../shared/contract/embeddings.ts';
import { RelayReply } from '../../../../base/handler.ts';
import {
  type AnsweredCall,
  type ModelCall,
  parseServiceOptions,
  readLabels,
  type WholeFormat,
  wholeCall,
} from '../../../calls/index.ts';
import type { IdempotencySlot } from '../../../idempotency/index.ts';
import { parseEmbeddings, renderEmbeddings } from '../../formats/embeddings.ts';
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
  const call: ModelCall = {
    caller,
    requestId,
    endpoint: '/v1/embeddings',
    inference: parseEmbeddings(body),
    options: parseServiceOptions(body.service),
    labels: readLabels(request?.headers ?? {}, body),
    signal,
    request,
  };
  const embeddings = (answered: AnsweredCall): WholeFormat<RelayReply> => {
    const { vectors, model } = answered;
    const label = { model, format: body.encoding_format };
    return {
      render: (settled) =>
        new RelayReply(answered.headers(settled), JSON.stringify(renderEmbeddings(vectors, label, settled))),
    };
  };
  return wholeCall(deps, call, embeddings, { slot });
}
