import type { FallbackReason } from '../../../shared/constants/fallback-reasons.ts';
import { isObject, listOf } from '../../../shared/json/json-object.ts';
import type { Batch, InferenceEvent } from '../upstreams/neutral.ts';
import {
  type JsonAnswer,
  type StreamAnswer,
  type UpstreamAnswer,
  UpstreamFailure,
} from '../upstreams/upstream.ts';

/** An answer of a provider that is not the last: rejects with an UpstreamFailure if the caller wants another one for it. */
export async function wanted(
  answer: UpstreamAnswer,
  {
    provider,
    reasons,
    isStreamed,
  }: { provider: string; reasons: readonly FallbackReason[]; isStreamed: boolean },
): Promise<UpstreamAnswer> {
  const fails = (isFiltered: boolean, isEmpty: boolean) => {
    if (isFiltered && reasons.includes('content_filter'))
      throw new UpstreamFailure('filtered', `${provider} filtered its answer`, { status: 200 });
    if (isEmpty && reasons.includes('empty'))
      throw new UpstreamFailure('empty', `${provider} answered with nothing`, { status: 200 });
  };
  if (answer.kind === 'embeddings') return answer;
  if (answer.kind === 'json') {
    fails(answer.finish === 'content_filter', isEmptyJson(answer));
    return answer;
  }
  if (!isStreamed) return { ...answer, batches: judgedBatches(answer.batches, fails) };
  return await readToContent(answer, fails);
}

type Fails = (isFiltered: boolean, isEmpty: boolean) => void;

function judge({ events }: Batch, isEmpty: boolean, fails: Fails): void {
  const end = events.find((event) => event.type === 'finished');
  if (end) fails(end.reason === 'content_filter', isEmpty && end.reason === 'stop');
}

/** The batches of an answer of which nothing is sent before its end, where it fails. */
async function* judgedBatches(batches: AsyncIterable<Batch>, fails: Fails): AsyncGenerator<Batch> {
  let isEmpty = true;
  for await (const batch of batches) {
    isEmpty &&= !hasAny(batch);
    judge(batch, isEmpty, fails);
    yield batch;
  }
}

/** Reads a stream to what the caller would see first: until then another provider can still answer. */
async function readToContent(answer: StreamAnswer, fails: Fails): Promise<StreamAnswer> {
  const batches = answer.batches[Symbol.asyncIterator]();
  const ahead: Batch[] = [];
  while (!isStarted(ahead.at(-1))) {
    const next = await batches.next();
    if (next.done) break;
    ahead.push(next.value);
  }
  const last = ahead.at(-1);
  try {
    // What ends an answer may come with its only content.
    if (last) judge(last, !hasAny(last), fails);
  } catch (error) {
    await batches.return?.();
    throw error;
  }
  return { ...answer, batches: continued(ahead, batches) };
}

async function* continued(ahead: Batch[], rest: AsyncIterator<Batch>): AsyncGenerator<Batch> {
  try {
    yield* ahead;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

function isStarted(batch: Batch | undefined): boolean {
  return batch !== undefined && (batch.events.some(isVisible) || hasOtherChoices(batch));
}

function hasAny(batch: Batch): boolean {
  return batch.events.some(isContent) || hasOtherChoices(batch);
}

/** Further choices have no events. */
function hasOtherChoices({ frames }: Batch): boolean {
  const isOther = (choice: unknown) => isObject(choice) && !!choice.index;
  return frames?.some(({ json }) => listOf(json.choices).some(isOther)) ?? false;
}

function isVisible(event: InferenceEvent): boolean {
  return 'delta' in event ? event.delta !== '' : isContent(event) || event.type === 'finished';
}

/** Whether an event is part of an answer, as its reasoning alone is not. */
function isContent(event: InferenceEvent): boolean {
  if (event.type === 'reasoning') return false;
  if ('delta' in event) return event.delta.trim() !== '';
  if (event.type !== 'item-started') return event.type === 'annotation';
  return event.item.kind === 'function_call' || event.item.kind === 'opaque';
}

/** Whether a document of any format has neither text nor anything else, but for reasoning. */
function isEmptyJson({ json, finish }: JsonAnswer): boolean {
  if (finish !== 'stop') return false;
  const parts = [...listOf(json.choices), ...listOf(json.output), ...listOf(json.content)];
  return parts.every((part) => !hasContent(part));
}

const reasoning = /reason|thinking/;
const ofContent = ['message', 'content', 'text', 'refusal', 'tool_calls', 'function_call', 'audio', 'images'];

function hasContent(part: unknown): boolean {
  if (typeof part === 'string') return part.trim() !== '';
  if (Array.isArray(part)) return part.some(hasContent);
  if (!isObject(part)) return false;
  const { type } = part;
  if (typeof type === 'string' && reasoning.test(type)) return false;
  const isKnown = type === undefined || /^(message|text|output_text|refusal|function)$/.test(String(type));
  return !isKnown || type === 'function' || ofContent.some((name) => hasContent(part[name]));
}

/** Whether a provider refused a request because of its content. */
export function isFiltered({ details }: UpstreamFailure): boolean {
  const { exactCode = '', providerCode = '', publicMessage = '' } = details;
  return (
    /content_policy|content_filter|moderation|flagged/.test(`${exactCode} ${providerCode}`) ||
    /\bcontent (filter|filtering|management) policy\b|\bflagged\b.{0,40}\bmoderation\b/i.test(publicMessage)
  );
}
