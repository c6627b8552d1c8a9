import type { Batch, InferenceEvent, RawFrame } from '../../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../../features/inference/upstream.ts';
import { isObject, type Json } from '../../json.ts';
import type { Dialect } from '../../sse-decoder.ts';
import { openAiStreamFailure } from '../openai-chat/failure.ts';
import { isEmpty, outcomeOf, responsesTokensIn } from './answer.ts';
import { ItemStates, type ToldOfItem } from './item-states.ts';
import { eventsLeftOut } from './missing-events.ts';

/** What names an event in a stream; anything else could hold a line end and with it events of its own. */
const eventName = /^[\w.:-]{1,100}$/;

const none: Json[] = [];

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
    let leftOut = none;
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
        leftOut = this.#end(json.response, events);
        break;
      case 'error':
        throw openAiStreamFailure(this.#provider, isObject(json.error) ? json.error : json);
      default:
        if (json.type === undefined && json.error) throw openAiStreamFailure(this.#provider, json.error);
        leftOut = this.#event(json, events);
    }
    if (frames === undefined || typeof json.type !== 'string' || !eventName.test(json.type)) return;
    if (this.#held.length > 0) for (const frame of this.#held.splice(0)) frames.push(frame);
    for (const json of leftOut) frames.push({ raw: JSON.stringify(json), json });
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

  /** Gives the events left out before this one. */
  #event(json: Json, events: InferenceEvent[]): Json[] {
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
        return isObject(json.item) ? this.#endItem(json, json.item, events) : none;
      case 'response.content_part.added':
      case 'response.reasoning_summary_part.added':
        items.startPart(json);
        break;
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done':
      case 'response.function_call_arguments.done':
        items.endPart(json);
    }
    return none;
  }

  #endItem(json: Json, item: Json, events: InferenceEvent[]): Json[] {
    const told = this.#items.toldOf(json, item);
    this.#items.end(json, item, events);
    json.output_index = told.place;
    return told.isDone ? none : eventsLeftOut(told);
  }

  /** The last event: it holds every item once more, in case the stream left one out. Gives the events left out. */
  #end(response: unknown, events: InferenceEvent[]): Json[] {
    if (!isObject(response))
      throw new UpstreamFailure('broken', `${this.#provider} ended its answer without it`);
    const tokens = responsesTokensIn(response);
    // What was used is owed even when the answer failed.
    if (tokens !== undefined) events.push({ type: 'usage', tokens });
    const reason = outcomeOf(response, this.#provider);
    const output = Array.isArray(response.output) ? response.output.filter(isObject) : [];
    const unfinished = this.#items.toldOfAll(output).filter(({ isDone }) => !isDone);
    this.#items.endAll(output, events);
    events.push({ type: 'finished', reason });
    this.isComplete = true;
    return unfinished.flatMap((each) => [...eventsLeftOut(each), endOf(each)]);
  }
}

function endOf({ item, place: output_index }: ToldOfItem): Json {
  const event = { type: 'response.output_item.done', output_index, item };
  fillArguments(event);
  return event;
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
