import { invalid, isObject, type Json } from '../fault.ts';
import { readWhole } from '../formats/responses/read-whole.ts';
import type { InputItem } from '../neutral.ts';
import { wholeAnswer } from '../pipeline/relay.ts';
import { type InferenceDeps, type ModelCall, type StartedCall, startCall } from '../pipeline/start-call.ts';
import { inputTokens } from '../pricing/cost-bound.ts';
import { isForeign, isTrigger, summaryMessage } from './compaction-item.ts';
import { summaryAsItem, withItemBefore } from './rewrite-answer.ts';
import { summaryCall, summaryIn } from './summary-call.ts';

type CreateCall = ModelCall & { body: Parameters<typeof summaryCall>[0]['body'] };

/**
 * Begins a create call, and makes its conversation short where that is asked for: by a trigger as the last item, which
 * is answered by the summary alone, or by a threshold that the input passes, which costs a call of its own.
 */
export async function startCreate(deps: InferenceDeps, call: CreateCall): Promise<StartedCall> {
  const { inference, body } = call;
  const { items } = inference;
  const last = items.length - 1;
  const place = items.findIndex(isTrigger);
  if (place >= 0 && place < last)
    throw invalid('input', 'An item of type compaction_trigger stands at the end of the input.');
  if (place >= 0) return await startSummary(deps, call, items.slice(0, last));
  const threshold = thresholdOf(body.context_management);
  const isShort = threshold === undefined || inputTokens(inference).likely <= threshold;
  if (isShort || items.length < 2 || items.some(isForeign)) return await startCall(deps, call);
  const { summary, item } = await summarised(deps, call);
  const shortened = { ...inference, items: afterSummary(items, summary) };
  const started = await startCall(deps, { ...call, inference: shortened });
  return { ...started, answer: withItemBefore(started.answer, item) };
}

/** The answer to it is one sealed item. */
async function startSummary(deps: InferenceDeps, call: CreateCall, items: InputItem[]): Promise<StartedCall> {
  if (items.length === 0) throw invalid('input', 'There is nothing to compact.');
  const { stream } = call.inference;
  const started = await startCall(deps, {
    ...call,
    inference: summaryCall({ body: call.body, items, stream }),
  });
  const answer = summaryAsItem(started.answer, {
    makeId: deps.makeId,
    itemOf: (summary) => sealedItem(deps, call.caller.workspaceId, summary),
    count: (characters) => started.output.count(characters),
  });
  return { ...started, answer };
}

/** A call of its own, with its own request id, hold and usage. */
async function summarised(deps: InferenceDeps, call: CreateCall): Promise<{ summary: string; item: Json }> {
  const body = { ...call.body, max_output_tokens: null };
  const inference = summaryCall({ body, items: call.inference.items, stream: false });
  const started = await startCall(deps, { ...call, requestId: deps.makeId('req'), inference });
  return await wholeAnswer(deps, started, async () => {
    const { meter, output, finishRoute } = started;
    await readWhole(started);
    const summary = summaryIn(output.items);
    const settled = await meter.settle({ status: meter.finish === 'stop' ? 'completed' : 'incomplete' });
    finishRoute({ outputTokens: settled.tokens.output });
    return { summary, item: sealedItem(deps, call.caller.workspaceId, summary) };
  });
}

/** A summary as an item of the Responses format. */
export function sealedItem(deps: InferenceDeps, workspaceId: string, summary: string): Json {
  const sealed = deps.sealer.sealSummary(workspaceId, summary);
  return { id: deps.makeId('cmp'), type: 'compaction', encrypted_content: sealed };
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
