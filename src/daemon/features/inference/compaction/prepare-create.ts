import { invalid, isObject, type Json } from '../../../../shared/faults/invalid-request.ts';
import {
  type CallDeps,
  inputTokens,
  type ModelCall,
  type RewriteAnswer,
  wholeCall,
} from '../../calls/index.ts';
import { calledBy, callIn, type InputItem, isProviderSealed } from '../../upstreams/neutral.ts';
import { isCompactionTrigger, summaryMessage } from '../formats/responses/parse-input.ts';
import { summaryAsItem, withItemBefore } from './rewrite-answer.ts';
import { sealedSummaryItem, summaryCall, summaryFormat } from './summary-call.ts';

type CreateCall = ModelCall & { body: Parameters<typeof summaryCall>[0]['body'] };

/** A call to make, and how its answer is changed. */
interface PreparedCall {
  call: ModelCall;
  rewrite?: RewriteAnswer;
}

/**
 * Prepares a create call and compacts its conversation on request: a trigger as the last item is answered with the summary
 * alone; an input above the threshold is summarized by a separate call first.
 */
export async function prepareCreate(deps: CallDeps, create: CreateCall): Promise<PreparedCall> {
  const { body, ...call } = create;
  const { inference } = call;
  const { items } = inference;
  const last = items.length - 1;
  const trigger = items.findIndex(isCompactionTrigger);
  if (trigger >= 0 && trigger < last)
    throw invalid('input', 'An item of type compaction_trigger must be the last item of the input.');
  if (trigger >= 0) return summaryAlone(deps, create, items.slice(0, last));
  const threshold = thresholdOf(body.context_management);
  const isShort = threshold === undefined || inputTokens(inference).likely <= threshold;
  if (isShort || items.length < 2 || items.some(isProviderSealed)) return { call };
  const { summary, item } = await summarize(deps, create);
  const shortened = { ...inference, items: afterSummary(items, summary) };
  return {
    call: { ...call, inference: shortened },
    rewrite: (answer) => withItemBefore(answer, item),
  };
}

/** A call whose answer is one sealed item. */
function summaryAlone(deps: CallDeps, { body, ...call }: CreateCall, items: InputItem[]): PreparedCall {
  if (items.length === 0) throw invalid('input', 'There is nothing to compact.');
  const { stream } = call.inference;
  return {
    call: { ...call, inference: summaryCall({ body, items, stream }) },
    rewrite: (answer, output) =>
      summaryAsItem(answer, {
        makeId: deps.makeId,
        itemOf: (summary) => sealedSummaryItem(deps, call.caller.workspaceId, summary),
        count: (characters) => output.count(characters),
      }),
  };
}

/** Summarizes by a separate call with its own request id, hold and usage. */
function summarize(deps: CallDeps, create: CreateCall): Promise<{ summary: string; item: Json }> {
  const { body, ...call } = create;
  const inference = summaryCall({
    body: { ...body, max_output_tokens: null },
    items: call.inference.items,
    stream: false,
  });
  return wholeCall(deps, { ...call, requestId: deps.makeId('req'), inference }, (answered) =>
    summaryFormat(answered, (summary) => ({
      summary,
      item: sealedSummaryItem(deps, call.caller.workspaceId, summary),
    })),
  );
}

/**
 * The input after the summary: system messages and tools, the summary, and the last user message with everything after it. When
 * that would be the whole conversation, only the user message is kept, since the summary covers the rest.
 */
function afterSummary(items: readonly InputItem[], summary: string): InputItem[] {
  const last = items.findLastIndex(
    (item) => item.type === 'message' && item.role === 'user' && !item.isSummary,
  );
  const [request] = last < 0 ? [] : items.slice(last, last + 1);
  const system = items.filter((item, index) => index < last && isLasting(item));
  if (!request || last === system.length) {
    return [...system, ...(request ? [request] : []), summaryMessage(summary)];
  }
  return [...system, summaryMessage(summary), ...withoutOrphanOutputs(items.slice(last))];
}

function isLasting(item: InputItem): boolean {
  if (item.type === 'opaque') return item.json.type === 'additional_tools';
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

/** Providers reject tool outputs without their calls; the summary covers them. */
function withoutOrphanOutputs(items: readonly InputItem[]): InputItem[] {
  const calls = new Set(items.map(calledBy));
  return items.filter((item) => {
    if (item.type === 'function_call_output') return calls.has(item.callId);
    const answered = item.type === 'opaque' ? callIn(item.json, '_call_output', '_search_output') : undefined;
    return answered === undefined || calls.has(answered);
  });
}

/** The compaction threshold in tokens. Other entries of `context_management` go to providers. */
function thresholdOf(management: unknown): number | undefined {
  if (!Array.isArray(management)) return undefined;
  const entry = management.find((it): it is Json => isObject(it) && it.type === 'compaction');
  return typeof entry?.compact_threshold === 'number' ? entry.compact_threshold : undefined;
}
