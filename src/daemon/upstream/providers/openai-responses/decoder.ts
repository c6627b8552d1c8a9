import { providerMembers } from '../../../../shared/formats/response-members.ts';
import { listOf } from '../../../../shared/json/json-object.ts';
import type { Batch, InferenceEvent } from '../../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import { isObject, type Json, objectOf } from '../../json.ts';
import type { Dialect } from '../../sse-decoder.ts';
import { errorMember } from '../../vendor-errors.ts';
import { billedIn } from '../billed.ts';
import { openAiStreamFailure, vendorStreamFailure } from '../openai-chat/failure.ts';
import { answerId } from '../provider-failures.ts';
import { servedModelIn } from '../served-model.ts';
import { isItem, isWholeItem, outcomeOf, repairItem, repairOutput, responsesTokensIn } from './answer.ts';
import { type ItemProgress, ItemStates } from './item-states.ts';
import { argumentsDelta, missingEvents } from './missing-events.ts';

/** Valid event names; anything else could contain a line break and inject events. */
const eventName = /^[\w.:-]{1,100}$/;

const noEvents: Json[] = [];

type TextEvent = Extract<InferenceEvent, { type: 'text' | 'reasoning' }>;

function addedBy([event, ...others]: readonly InferenceEvent[]): TextEvent | undefined {
  if (others.length > 0 || (event?.type !== 'text' && event?.type !== 'reasoning')) return undefined;
  return event.type === 'text' && event.logprobs !== undefined ? undefined : event;
}

/** The status of a response that has none, by the event that ends it. */
const statusByEvent: Record<string, string> = {
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
  'response.cancelled': 'cancelled',
};

/**
 * Decodes the events of a Responses stream. Unknown events are passed on as frames to callers of the same format.
 * Source: the Open Responses specification, streaming; where names differ, OpenAI's are accepted too.
 */
export class ResponsesDialect implements Dialect {
  isComplete = false;
  readonly #provider: string;
  readonly #items: ItemStates;
  /** The id that the start of the response names. */
  #id: unknown;
  /** Whether the current event was corrected. */
  #isChanged = false;
  /** What it added to the answer, if it did nothing else. */
  #added: TextEvent | undefined;

  constructor(provider: string, model: string) {
    this.#provider = provider;
    this.#items = new ItemStates({ provider, model });
  }

  take(json: Json, raw: string, batch: Batch): void {
    const { events, frames } = batch;
    const { length: eventsBefore } = events;
    let missing = noEvents;
    this.#isChanged = false;
    this.#added = undefined;
    switch (json.type) {
      // First, as nearly all events are deltas.
      case 'response.output_text.delta':
      case 'response.function_call_arguments.delta':
        this.#event(json, events);
        break;
      case 'response.created':
        this.#id = answerId(objectOf(json.response)?.id, this.#id, {
          hasBegun: !this.#items.isEmpty,
          provider: this.#provider,
        });
        return;
      case 'response.queued':
      case 'response.in_progress':
      case 'keepalive':
        // Not passed on: on their own they are not an answer, and callers get our snapshots of the response.
        return;
      case 'response.output_item.done':
        this.#isChanged = repairItem(json.item);
        if (!isWholeItem(json.item)) return;
        missing = this.#endItem(json, json.item, events);
        break;
      case 'response.function_call_arguments.done': {
        const before = this.#endArguments(json, events);
        if (before === 'left') return;
        missing = before;
        break;
      }
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
      case 'response.done':
        // Some servers write its members into the event itself.
        missing = this.#endResponse(json.type, json.response ?? json, events);
        break;
      case 'error':
      case 'response.error':
        throw openAiStreamFailure(this.#provider, isObject(json.error) ? json.error : json);
      case 'response.reasoning_part.added':
      case 'response.reasoning_part.done':
        // The name in vLLM for parts of thoughts.
        json.type = json.type.replace('reasoning_part', 'content_part');
        this.#event(json, events);
        this.#isChanged = true;
        break;
      default:
        if (json.type === undefined) this.#failOnError(json);
        this.#event(json, events);
    }
    if (typeof json.type !== 'string' || !eventName.test(json.type)) return;
    this.#added = addedBy(events.slice(eventsBefore));
    if (frames === undefined) return;
    for (const json of missing) frames.push({ raw: JSON.stringify(json), json });
    frames.push({ raw: this.#isChanged ? JSON.stringify(json) : raw, json });
  }

  get addedText(): string | undefined {
    return this.#added?.delta;
  }

  addText(delta: string, events: InferenceEvent[]): boolean {
    const added = this.#added;
    if (added === undefined) return false;
    const { index } = added;
    if (added.type === 'text') events.push({ type: 'text', index, delta });
    else events.push({ type: 'reasoning', index, part: added.part, delta });
    return true;
  }

  finish(): void {
    throw new UpstreamFailure('broken', `${this.#provider} broke off in the middle of its answer`);
  }

  #failOnError(json: Json): void {
    const error = errorMember(json);
    if (error !== undefined) throw openAiStreamFailure(this.#provider, error);
    const failure = vendorStreamFailure(this.#provider, json);
    if (failure) throw failure;
  }

  #event(json: Json, events: InferenceEvent[]): void {
    const items = this.#items;
    switch (json.type) {
      case 'response.output_text.delta':
        if (typeof json.delta === 'string') items.text(json, json.delta, events);
        break;
      case 'response.function_call_arguments.delta':
        this.#addArguments(json, events);
        break;
      case 'response.custom_tool_call_input.delta':
        if (typeof json.delta === 'string') items.input(json, json.delta, events);
        break;
      case 'response.reasoning_summary_text.delta':
        if (typeof json.delta === 'string')
          items.reasoning(json, { delta: json.delta, source: 'summary' }, events);
        break;
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        if (typeof json.delta === 'string')
          items.reasoning(json, { delta: json.delta, source: 'content' }, events);
        break;
      case 'response.refusal.delta':
        if (typeof json.delta === 'string') items.refusal(json, json.delta, events);
        break;
      case 'response.output_text.annotation.added':
        if (isObject(json.annotation)) items.annotation(json, json.annotation, events);
        break;
      case 'response.output_item.added':
        if (isItem(json.item)) this.#isChanged = items.start(json, json.item, events);
        break;
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
        items.startPart(json);
        break;
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done':
      case 'response.custom_tool_call_input.done':
        items.endPart(json);
    }
  }

  #addArguments(json: Json, events: InferenceEvent[]): void {
    const { delta } = json;
    const piece = isObject(delta) ? JSON.stringify(delta) : delta;
    if (typeof piece !== 'string') return;
    const passed = this.#items.arguments(json, piece, events);
    if (passed === delta) return;
    json.delta = passed;
    this.#isChanged = true;
  }

  /** Returns the delta that is missing before the end of arguments, as clients assemble them from deltas. */
  #endArguments(json: Json, events: InferenceEvent[]): Json[] | 'left' {
    const ended = this.#items.endArguments(json, events);
    if (ended === 'left') return ended;
    this.#items.endPart(json);
    if (ended === undefined) return noEvents;
    if (json.arguments !== ended.text) {
      json.arguments = ended.text;
      this.#isChanged = true;
    }
    return ended.missing === '' ? noEvents : [argumentsDelta(json, ended.missing)];
  }

  /** Returns events that are missing before this one. */
  #endItem(json: Json, item: Json, events: InferenceEvent[]): Json[] {
    const progress = this.#items.progressOf(json, item);
    const { arguments: args, name } = item;
    const missing = this.#items.end(json, item, events);
    json.output_index = progress.outputIndex;
    if (item.arguments !== args || item.name !== name) this.#isChanged = true;
    if (progress.isDone) return noEvents;
    if (missing !== '' && progress.hasContent)
      return [argumentsDelta({ item_id: item.id, output_index: progress.outputIndex }, missing)];
    return missingEvents(progress);
  }

  /** Handles the last event, which repeats every item. Returns events that are missing before it. */
  #endResponse(type: string, response: unknown, events: InferenceEvent[]): Json[] {
    if (!isObject(response) || (response.type === type && !this.#items.areAllDone && !response.output))
      throw new UpstreamFailure('broken', `${this.#provider} ended its answer without a response`);
    const tokens = responsesTokensIn(response);
    // Usage is billed even if the answer failed.
    if (tokens !== undefined)
      events.push({ type: 'usage', tokens, ...billedIn(objectOf(response.usage), response.service_tier) });
    // Some servers leave it out, or forget to change it.
    if (isRunning(response.status)) response.status = statusByEvent[type] ?? 'completed';
    const end = outcomeOf(response, this.#provider);
    const listed = listOf(response.output);
    repairOutput(this.#items.areNone ? response : {}, listed);
    const output = listed.filter(isWholeItem);
    const unfinished = this.#items.progressOfAll(output).filter(({ isDone }) => !isDone);
    this.#items.endAll(output, events, { isCut: end.reason !== 'stop' });
    const members = providerMembers(response);
    const served = servedModelIn(response.model);
    events.push({ type: 'finished', ...end, ...served, ...(members && { members }) });
    this.isComplete = true;
    return unfinished.flatMap((each) => [...missingEvents(each), doneEvent(each)]);
  }
}

function isRunning(status: unknown): boolean {
  return status === undefined || status === null || status === 'in_progress' || status === 'queued';
}

function doneEvent({ item, outputIndex: output_index }: ItemProgress): Json {
  return { type: 'response.output_item.done', output_index, item };
}

/** Converts a whole response to the batch that a stream with only its last event would give. */
export function responseAsBatch(response: Json, name: string, dialect: Dialect): Batch {
  const hasFailed = response.status === 'failed' || errorMember(response) !== undefined;
  if (!hasFailed && !Array.isArray(response.output))
    throw new UpstreamFailure('broken', `${name} answered without output`);
  const batch: Batch = { events: [], frames: undefined };
  dialect.take({ type: 'response.completed', response }, '', batch);
  return batch;
}
