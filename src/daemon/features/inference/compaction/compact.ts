import type { CreateResponseBody } from '../../../../shared/contract/responses.ts';
import { unixSeconds } from '../../../../shared/time.ts';
import { RelayReply } from '../../../handler.ts';
import { answerHeaders, wholeAnswer } from '../answer.ts';
import { begin, type InferenceNeeds, type ModelCall } from '../begin.ts';
import { invalid, type Json } from '../fault.ts';
import type { InputItem, MessageItem } from '../neutral.ts';
import { readWhole } from '../responses/read-whole.ts';
import { showUsage } from '../responses/resource.ts';
import { understand } from '../responses/respond.ts';
import { showInputPart } from '../show-items.ts';
import { isTrigger } from './compaction-item.ts';
import { summaryCall, summaryIn } from './summary-call.ts';
import { sealedItem } from './within-create.ts';

export const compactEndpoint = '/v1/responses/compact';

type CompactCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal'> & { body: CreateResponseBody };

/** A conversation made short: what user, developer and system said, and a sealed summary of all of it. */
export async function compact(needs: InferenceNeeds, call: CompactCall): Promise<RelayReply> {
  const { caller, requestId, signal } = call;
  const body = { ...call.body, stream: false, background: false };
  const { inference, wishes } = await understand(needs, { body, caller });
  const items = inference.items.filter((item) => !isTrigger(item));
  if (items.length === 0) throw invalid('input', 'There is nothing to compact.');
  const begun = await begin(needs, {
    caller,
    requestId,
    endpoint: compactEndpoint,
    inference: summaryCall({ body, items, stream: false }),
    wishes,
    signal,
  });
  return await wholeAnswer(needs, begun, async () => {
    const { meter, output, finishRoute } = begun;
    const id = needs.makeId('resp');
    meter.responseId = id;
    await readWhole(begun);
    const summary = summaryIn(output.items);
    const settled = await meter.settle({ status: meter.finish === 'stop' ? 'completed' : 'incomplete' });
    finishRoute({ outputTokens: settled.tokens.output });
    const compacted = {
      id,
      object: 'response.compaction',
      created_at: unixSeconds(settled.completedAt),
      output: [...keptMessages(needs, items), sealedItem(needs, caller.workspaceId, summary)],
      usage: showUsage(settled.tokens),
      service: settled.service,
    };
    return new RelayReply(answerHeaders(begun, settled), JSON.stringify(compacted));
  });
}

/** All that was not said by the assistant; earlier summaries are part of the new one. */
function keptMessages(needs: InferenceNeeds, items: readonly InputItem[]): Json[] {
  return items
    .filter((item): item is MessageItem => item.type === 'message')
    .filter(({ role, isSummary }) => role !== 'assistant' && !isSummary)
    .map(({ id, role, content }) => ({
      id: id ?? needs.makeId('msg'),
      type: 'message',
      status: 'completed',
      role,
      content: content.map(showInputPart),
    }));
}
