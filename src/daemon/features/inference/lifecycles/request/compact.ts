import type { CreateResponseBody } from '../../../../../shared/contract/responses.ts';
import { invalid, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { unixSeconds } from '../../../../../shared/time/time.ts';
import { RelayReply } from '../../../../base/handler.ts';
import { type ModelCall, readLabels, wholeCall } from '../../../calls/index.ts';
import type { InputItem, MessageItem } from '../../../upstreams/neutral.ts';
import { sealedSummaryItem, summaryCall, summaryFormat } from '../../compaction/summary-call.ts';
import { isCompactionTrigger } from '../../formats/responses/parse-input.ts';
import { showInputPart, showUsage } from '../../formats/responses/render.ts';
import type { InferenceDeps } from '../inference-deps.ts';
import { readRequest } from './read-request.ts';

type CompactCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal' | 'request'> & {
  body: CreateResponseBody;
};

/** Compacts a conversation to its user, developer and system messages and a sealed summary of all of it. */
export async function compact(deps: InferenceDeps, call: CompactCall): Promise<RelayReply> {
  const { caller, requestId, signal, request } = call;
  const body = { ...call.body, stream: false, background: false };
  const { inference, options } = await readRequest(deps, { body, caller });
  const items = inference.items.filter((item) => !isCompactionTrigger(item));
  if (items.length === 0) throw invalid('input', 'There is nothing to compact.');
  const modelCall: ModelCall = {
    caller,
    requestId,
    endpoint: '/v1/responses/compact',
    inference: summaryCall({ body, items, stream: false }),
    options,
    labels: readLabels(request?.headers ?? {}, body),
    signal,
    request,
  };
  return await wholeCall(deps, modelCall, (answered) => {
    const id = deps.makeId('resp');
    return {
      ...summaryFormat(answered, (summary, settled) => {
        const compacted = {
          id,
          object: 'response.compaction',
          created_at: unixSeconds(settled.completedAt),
          output: [...keptMessages(deps, items), sealedSummaryItem(deps, caller.workspaceId, summary)],
          usage: showUsage(settled.tokens),
          service: settled.service,
        };
        return new RelayReply(answered.headers(settled), JSON.stringify(compacted));
      }),
      responseId: id,
    };
  });
}

/** All messages but the assistant's and earlier summaries, which the new summary includes. */
function keptMessages(deps: InferenceDeps, items: readonly InputItem[]): Json[] {
  return items
    .filter((item): item is MessageItem => item.type === 'message')
    .filter(({ role, isSummary }) => role !== 'assistant' && !isSummary)
    .map(({ id, role, content }) => ({
      id: id ?? deps.makeId('msg'),
      type: 'message',
      status: 'completed',
      role,
      content: content.map(showInputPart),
    }));
}
