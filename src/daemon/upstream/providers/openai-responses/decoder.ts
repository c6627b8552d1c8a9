import type { Batch, InferenceEvent, RawFrame } from '../../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../../features/inference/upstream.ts';
import { isObject } from '../../answer-bodies.ts';
import type { Dialect } from '../../sse-decoder.ts';
import type { Json } from '../json-value.ts';
import { openAiStreamFailure } from '../openai-chat/failure.ts';
import { isEmpty, outcomeOf, responsesTokensIn } from './answer.ts';
import { ItemStates } from './item-states.ts';

/** What names an event in a stream; anything else could hold a line end and with it events of its own. */
const eventName = /^[\w.:-]{1,100}$/;

/**
 * Events of the Responses format as neutral events. Source: the Open Responses specification, streaming; where names
 * differ, OpenAI's are read too. What is not known passes as a frame for callers of the same format.
 */
export class ResponsesDialect implements Dialect {
  isComplete = false;
  readonly #provider: string;
  readonly #items: ItemStates;
  /** Snapshots before the first item: they alone are no answer yet, so they wait for what comes after them. */
  #held: RawFrame[] = [];

  constructor(provider: string, model: string) {
    this.#provider = provider;
    this.#items = new ItemStates({ provider, model });
  }

  take(json: Json, raw: string, batch: Batch): void {
    const { events, frames } = batch;
    switch (json.type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        if (frames !== undefined) this.#held.push({ raw, json });
        return;
      case 'keepalive':
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.#end(json.response, events);
        break;
      case 'error':
        throw openAiStreamFailure(this.#provider, isObject(json.error) ? json.error : json);
      default:
        if (json.type === undefined && json.error) throw openAiStreamFailure(this.#provider, json.error);
        this.#event(json, events);
    }
    if (frames === undefined || typeof json.type !== 'string' || !eventName.test(json.type)) return;
    if (this.#held.length > 0) frames.push(...this.#held.splice(0));
    const isFilled = fillArguments(json);
    // Clients put arguments together from their deltas.
    if (isFilled && json.type === 'response.function_call_arguments.done') {
      const { item_id, output_index } = json;
      const delta = { type: 'response.function_call_arguments.delta', item_id, output_index, delta: '{}' };
      frames.push({ raw: JSON.stringify(delta), json: delta });
    }
    frames.push({ raw: isFilled ? JSON.stringify(json) : raw, json });
  }

  finish(): void {
    throw new UpstreamFailure('broken', `${this.#provider} broke off in the middle of its answer`);
  }

  #event(json: Json, events: InferenceEvent[]): void {
    const items = this.#items;
    switch (json.type) {
      case 'response.output_text.delta':
        if (typeof json.delta === 'string') items.text(json, json.delta, events);
        break;
      case 'response.function_call_arguments.delta':
        if (typeof json.delta === 'string') items.arguments(json, json.delta, events);
        break;
      case 'response.reasoning_summary_text.delta':
        if (typeof json.delta === 'string')
          items.thought(json, { delta: json.delta, from: 'summary' }, events);
        break;
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        if (typeof json.delta === 'string')
          items.thought(json, { delta: json.delta, from: 'content' }, events);
        break;
      case 'response.refusal.delta':
        if (typeof json.delta === 'string') items.refusal(json, json.delta, events);
        break;
      case 'response.output_text.annotation.added':
        if (isObject(json.annotation)) items.annotation(json, json.annotation, events);
        break;
      case 'response.output_item.added':
        if (isObject(json.item)) items.start(json, json.item, events);
        break;
      case 'response.output_item.done':
        if (isObject(json.item)) items.end(json, json.item, events);
        break;
    }
  }

  /** The last event: it holds every item once more, in case the stream left one out. */
  #end(response: unknown, events: InferenceEvent[]): void {
    if (!isObject(response))
      throw new UpstreamFailure('broken', `${this.#provider} ended its answer without it`);
    const tokens = responsesTokensIn(response);
    // What was used is owed even when the answer failed.
    if (tokens !== undefined) events.push({ type: 'usage', tokens });
    const reason = outcomeOf(response, this.#provider);
    this.#items.endAll(Array.isArray(response.output) ? response.output.filter(isObject) : [], events);
    events.push({ type: 'finished', reason });
    this.isComplete = true;
  }
}

/** A whole response as what a stream of nothing but its last event would have told. */
export function responseAsBatch(response: Json, dialect: Dialect): Batch {
  const batch: Batch = { events: [], frames: undefined };
  dialect.take({ type: 'response.completed', response }, '', batch);
  return batch;
}

/** Gives a call without arguments the text of an empty object, in the events that tell it as finished. */
function fillArguments(json: Json): boolean {
  if (json.type === 'response.function_call_arguments.done' && isEmpty(json.arguments)) {
    json.arguments = '{}';
    return true;
  }
  const { item } = json;
  if (json.type !== 'response.output_item.done' || !isObject(item)) return false;
  if (item.type !== 'function_call' || !isEmpty(item.arguments)) return false;
  item.arguments = '{}';
  return true;
}
