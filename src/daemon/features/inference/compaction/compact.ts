import type { CreateResponseBody } from '../../../../shared/contract/responses.ts';
import { unixSeconds } from '../../../../shared/time.ts';
import { RelayReply } from '../../../handler.ts';
import { invalid, type Json } from '../fault.ts';
import { readWhole } from '../formats/responses/read-whole.ts';
import { showUsage } from '../formats/responses/resource.ts';
import { showInputPart } from '../formats/responses/show-items.ts';
import { understand } from '../lifecycles/request/respond.ts';
import type { InputItem, MessageItem } from '../neutral.ts';
import { answerHeaders, wholeAnswer } from '../pipeline/relay.ts';
import { type InferenceDeps, type ModelCall, startCall } from '../pipeline/start-call.ts';
import { isTrigger } from './compaction-item.ts';
import { summaryCall, summaryIn } from './summary-call.ts';
import { sealedItem } from './within-create.ts';

export const compactEndpoint = '/v1/responses/compact';

type CompactCall = Pick<ModelCall, 'caller' | 'requestId' | 'signal'> & { body: CreateResponseBody };

/** A conversation made short: what user, developer and system said, and a sealed summary of all of it. */
export async function compact(deps: InferenceDeps, call: CompactCall): Promise<RelayReply> {
  const { caller, requestId, signal } = call;
  const body = { ...call.body, stream: false, background: false };
  const { inference, options } = await understand(deps, { body, caller });
  const items = inference.items.filter((item) => !isTrigger(item));
  if (items.length === 0) throw invalid('input', 'There is nothing to compact.');
  const started = await startCall(deps, {
    caller,
    requestId,
    endpoint: compactEndpoint,
    inference: summaryCall({ body, items, stream: false }),
    options,
    signal,
  });
  return await wholeAnswer(deps, started, async () => {
    const { meter, output, finishRoute } = started;
    const id = deps.makeId('resp');
    meter.responseId = id;
    await readWhole(started);
    const summary = summaryIn(output.items);
    const settled = await meter.settle({ status: meter.finish === 'stop' ? 'completed' : 'incomplete' });
    finishRoute({ outputTokens: settled.tokens.output });
    const compacted = {
      id,
      object: 'response.compaction',
      created_at: unixSeconds(settled.completedAt),
      output: [...keptMessages(deps, items), sealedItem(deps, caller.workspaceId, summary)],
      usage: showUsage(settled.tokens),
      service: settled.service,
    };
    return new RelayReply(answerHeaders(started, settled), JSON.stringify(compacted));
  });
}

/** All that was not said by the assistant; earlier summaries are part of the new one. */
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
