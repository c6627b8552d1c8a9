import { wholeAnswer } from '../answer.ts';
import { type Begun, begin, type InferenceNeeds, type ModelCall } from '../begin.ts';
import { inputTokens } from '../bounds.ts';
import { invalid, isObject, type Json } from '../fault.ts';
import type { InputItem } from '../neutral.ts';
import { readWhole } from '../responses/read-whole.ts';
import { isForeign, isTrigger, summaryMessage } from './compaction-item.ts';
import { summaryAsItem, withItemBefore } from './rewrite-answer.ts';
import { summaryCall, summaryIn } from './summary-call.ts';

type CreateCall = ModelCall & { body: Parameters<typeof summaryCall>[0]['body'] };

/**
 * Begins a create call, and makes its conversation short where that is asked for: by a trigger as the last item, which
 * is answered by the summary alone, or by a threshold that the input passes, which costs a call of its own.
 */
export async function beginCreate(needs: InferenceNeeds, call: CreateCall): Promise<Begun> {
  const { inference, body } = call;
  const { items } = inference;
  const last = items.length - 1;
  const place = items.findIndex(isTrigger);
  if (place >= 0 && place < last)
    throw invalid('input', 'An item of type compaction_trigger stands at the end of the input.');
  if (place >= 0) return await beginSummary(needs, call, items.slice(0, last));
  const threshold = thresholdOf(body.context_management);
  const isShort = threshold === undefined || inputTokens(inference).likely <= threshold;
  if (isShort || items.length < 2 || items.some(isForeign)) return await begin(needs, call);
  const { summary, item } = await summarised(needs, call);
  const shortened = { ...inference, items: afterSummary(items, summary) };
  const begun = await begin(needs, { ...call, inference: shortened });
  return { ...begun, answer: withItemBefore(begun.answer, item) };
}

/** The answer to it is one sealed item. */
async function beginSummary(needs: InferenceNeeds, call: CreateCall, items: InputItem[]): Promise<Begun> {
  if (items.length === 0) throw invalid('input', 'There is nothing to compact.');
  const { stream } = call.inference;
  const begun = await begin(needs, { ...call, inference: summaryCall({ body: call.body, items, stream }) });
  const answer = summaryAsItem(begun.answer, {
    makeId: needs.makeId,
    itemOf: (summary) => sealedItem(needs, call.caller.workspaceId, summary),
    count: (characters) => begun.output.count(characters),
  });
  return { ...begun, answer };
}

/** A call of its own, with its own request id, hold and usage. */
async function summarised(needs: InferenceNeeds, call: CreateCall): Promise<{ summary: string; item: Json }> {
  const body = { ...call.body, max_output_tokens: null };
  const inference = summaryCall({ body, items: call.inference.items, stream: false });
  const begun = await begin(needs, { ...call, requestId: needs.makeId('req'), inference });
  return await wholeAnswer(needs, begun, async () => {
    const { meter, output, finishRoute } = begun;
    await readWhole(begun);
    const summary = summaryIn(output.items);
    const settled = await meter.settle({ status: meter.finish === 'stop' ? 'completed' : 'incomplete' });
    finishRoute({ outputTokens: settled.tokens.output });
    return { summary, item: sealedItem(needs, call.caller.workspaceId, summary) };
  });
}

/** A summary as an item of the Responses format. */
export function sealedItem(needs: InferenceNeeds, workspaceId: string, summary: string): Json {
  const sealed = needs.sealer.sealSummary(workspaceId, summary);
  return { id: needs.makeId('cmp'), type: 'compaction', encrypted_content: sealed };
}

/**
 * What is asked once the conversation was summed up: the summary, and the user's last message with what came after it.
 * Where that is the whole conversation, what came after it is in the summary.
 */
function afterSummary(items: readonly InputItem[], summary: string): InputItem[] {
  const last = items.findLastIndex(
    (item) => item.type === 'message' && item.role === 'user' && !item.isSummary,
  );
  const [request] = last < 0 ? [] : items.slice(last, last + 1);
  const system = items.filter(
    (item, index) =>
      index < last && item.type === 'message' && (item.role === 'system' || item.role === 'developer'),
  );
  if (!request || last === system.length) {
    return [...system, ...(request ? [request] : []), summaryMessage(summary)];
  }
  return [...system, summaryMessage(summary), ...answerable(items.slice(last))];
}

/** Without outputs whose calls are gone: providers refuse them, and the summary tells of them. */
function answerable(items: readonly InputItem[]): InputItem[] {
  const calls = new Set(items.map((item) => (item.type === 'function_call' ? item.callId : '')));
  return items.filter((item) => item.type !== 'function_call_output' || calls.has(item.callId));
}

/** In tokens. Other ways to manage the context belong to providers. */
function thresholdOf(management: unknown): number | undefined {
  if (!Array.isArray(management)) return undefined;
  const entry = management.find((it): it is Json => isObject(it) && it.type === 'compaction');
  return typeof entry?.compact_threshold === 'number' ? entry.compact_threshold : undefined;
}
