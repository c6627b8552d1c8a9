import { type InputItem, isProviderSealed } from '../../upstreams/neutral.ts';
import { readAnswer } from '../formats/responses/parse-answer.ts';
import { isCompactionTrigger, summaryMessage } from '../formats/responses/parse-input.ts';
import { invalid, isObject, type Json } from '../invalid-request.ts';
import type { ModelCall } from '../pipeline/call-observer.ts';
import { answerWhole, settleWhole } from '../pipeline/relay.ts';
import type { CallDeps, StartedCall } from '../pipeline/start-call.ts';
import { startCall } from '../pipeline/start-call.ts';
import { inputTokens } from '../pricing/cost-bound.ts';
import { summaryAsItem, withItemBefore } from './rewrite-answer.ts';
import { sealedSummaryItem, summaryCall, summaryIn } from './summary-call.ts';

type CreateCall = ModelCall & { body: Parameters<typeof summaryCall>[0]['body'] };

/**
 * Starts a create call and compacts its conversation on request: a trigger as the last item is answered with the summary
 * alone; an input above the threshold is summarized by a separate call first.
 */
export async function startCreate(deps: CallDeps, call: CreateCall): Promise<StartedCall> {
  const { inference, body } = call;
  const { items } = inference;
  const last = items.length - 1;
  const trigger = items.findIndex(isCompactionTrigger);
  if (trigger >= 0 && trigger < last)
    throw invalid('input', 'An item of type compaction_trigger must be the last item of the input.');
  if (trigger >= 0) return await startSummary(deps, call, items.slice(0, last));
  const threshold = thresholdOf(body.context_management);
  const isShort = threshold === undefined || inputTokens(inference).likely <= threshold;
  if (isShort || items.length < 2 || items.some(isProviderSealed)) return await startCall(deps, call);
  const { summary, item } = await summarize(deps, call);
  const shortened = { ...inference, items: afterSummary(items, summary) };
  const started = await startCall(deps, { ...call, inference: shortened });
  return { ...started, answer: withItemBefore(started.answer, item) };
}

/** Starts a call whose answer is one sealed item. */
async function startSummary(deps: CallDeps, call: CreateCall, items: InputItem[]): Promise<StartedCall> {
  if (items.length === 0) throw invalid('input', 'There is nothing to compact.');
  const { stream } = call.inference;
  const started = await startCall(deps, {
    ...call,
    inference: summaryCall({ body: call.body, items, stream }),
  });
  const answer = summaryAsItem(started.answer, {
    makeId: deps.makeId,
    itemOf: (summary) => sealedSummaryItem(deps, call.caller.workspaceId, summary),
    count: (characters) => started.output.count(characters),
  });
  return { ...started, answer };
}

/** Summarizes by a separate call with its own request id, hold and usage. */
async function summarize(deps: CallDeps, call: CreateCall): Promise<{ summary: string; item: Json }> {
  const body = { ...call.body, max_output_tokens: null };
  const inference = summaryCall({ body, items: call.inference.items, stream: false });
  const started = await startCall(deps, { ...call, requestId: deps.makeId('req'), inference });
  return await answerWhole(deps, started, async () => {
    await readAnswer(started);
    const summary = summaryIn(started.output.items);
    const { settled } = await settleWhole(started);
    started.finishRoute({ outputTokens: settled.tokens.output });
    return { summary, item: sealedSummaryItem(deps, call.caller.workspaceId, summary) };
  });
}

/**
 * The input after the summary: system messages, the summary, and the last user message with everything after it. When
 * that would be the whole conversation, only the user message is kept, since the summary covers the rest.
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
  return [...system, summaryMessage(summary), ...withoutOrphanOutputs(items.slice(last))];
}

/** Providers reject tool outputs without their calls; the summary covers them. */
function withoutOrphanOutputs(items: readonly InputItem[]): InputItem[] {
  const calls = new Set(items.map((item) => (item.type === 'function_call' ? item.callId : '')));
  return items.filter((item) => item.type !== 'function_call_output' || calls.has(item.callId));
}

/** The compaction threshold in tokens. Other entries of `context_management` go to providers. */
function thresholdOf(management: unknown): number | undefined {
  if (!Array.isArray(management)) return undefined;
  const entry = management.find((it): it is Json => isObject(it) && it.type === 'compaction');
  return typeof entry?.compact_threshold === 'number' ? entry.compact_threshold : undefined;
}
