import { pictureInChat, pictureItem } from '../../../../shared/pictures.ts';
import type { Batch, FinishReason, InferenceEvent } from '../../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import { isObject, type Json } from '../../json.ts';
import type { Dialect } from '../../sse-decoder.ts';
import { unnamedCall } from '../provider-failures.ts';
import { openAiStreamFailure } from './failure.ts';
import { flattenContent, ReasoningCollector, type ReasoningPiece, reasoningOf } from './reasoning.ts';
import { ToolCalls } from './tool-calls.ts';
import { chatTokensIn, finishReasonOf } from './usage.ts';

/** Decodes chunks of the chat format. Only the first choice is converted to events; frames keep all choices. */
export class ChatDialect implements Dialect {
  /** Usage may follow the finish reason, so only `[DONE]` or the last byte ends the answer. */
  readonly isComplete = false;
  readonly #provider: string;
  readonly #model: string;
  readonly #calls = new ToolCalls(() => this.#nextItem());
  #items = 0;
  #message = -1;
  #reasoning: { index: number; collector: ReasoningCollector } | undefined;
  #finish: FinishReason | undefined;
  #hasChoice = false;
  #firstIndex: number | undefined;
  readonly #choicesExpected: number;
  readonly #envelope: Envelope;
  /** Choices with a finish reason. */
  readonly #finishedChoices = new Set<unknown>();
  /** Whether a choice continued after it: some servers send one with every chunk, so that none is known to be the last. */
  #hasLateContent = false;

  constructor(provider: string, model: string, { choices = 1 }: { choices?: number } = {}) {
    this.#provider = provider;
    this.#model = model;
    this.#choicesExpected = choices;
    this.#envelope = new Envelope('chat.completion.chunk');
  }

  get hasFinished(): boolean {
    return this.#finishedChoices.size >= this.#choicesExpected && !this.#hasLateContent;
  }

  take(json: Json, raw: string, batch: Batch): void {
    if ((json.error !== undefined && json.error !== null) || json.object === 'error') {
      throw openAiStreamFailure(this.#provider, json.error ?? json);
    }
    let isChanged = false;
    const { choices } = json;
    if (Array.isArray(choices)) {
      const known = this.#knownOf(choices);
      if (known !== choices) {
        json.choices = known;
        isChanged = true;
      }
      for (const choice of known) {
        if (this.#renumber(choice)) isChanged = true;
        this.#hasChoice = true;
        if (indexOf(choice) === 0 && this.#takeChoice(choice, json, batch)) isChanged = true;
        if (indexOf(choice) !== 0 && repairFinish(choice, { hasCalls: false })) isChanged = true;
        if (this.#envelope.repairRole(choice.index, choice.delta)) isChanged = true;
        this.#trackFinish(choice);
      }
    }
    const tokens = chatTokensIn(json);
    if (tokens !== undefined) batch.events.push({ type: 'usage', tokens });
    if (!Array.isArray(choices)) {
      // Clients validate each line: anything that is not a chunk is dropped, and usage alone is made into one.
      if (tokens === undefined) return;
      json.choices = [];
      isChanged = true;
    }
    if (batch.frames === undefined) return;
    if (this.#envelope.repair(json)) isChanged = true;
    batch.frames.push({ raw: isChanged ? JSON.stringify(json) : raw, json });
  }

  finish(batch: Batch, at: 'done-mark' | 'last-byte'): void {
    const name = this.#provider;
    if (at === 'last-byte' && this.#finish === undefined) {
      throw new UpstreamFailure('broken', `${name} broke off in the middle of its answer`);
    }
    if (!this.#hasChoice) throw new UpstreamFailure('broken', `${name} ended its stream without an answer`);
    if (this.#calls.hasUnnamed) throw unnamedCall(name);
    const { events } = batch;
    this.#endReasoning(events);
    this.#calls.finish(events);
    const items = this.#calls.items();
    if (this.#message >= 0) items.push(this.#message);
    for (const index of items.sort((a, b) => a - b)) events.push({ type: 'item-done', index });
    events.push({ type: 'finished', reason: this.#finish ?? 'stop' });
  }

  /** The same list if all choices are known, as there is one list for each token. */
  #knownOf(choices: unknown[]): Json[] {
    for (const choice of choices)
      if (!this.#isKnown(choice)) return choices.filter((each) => this.#isKnown(each));
    return choices as Json[];
  }

  /** Clients number the choices of their array by the index, so that one they cannot have is left out. */
  #isKnown(choice: unknown): choice is Json {
    if (!isObject(choice)) return false;
    const index = indexOf(choice);
    this.#firstIndex ??= index;
    return this.#isOnly ? index === this.#firstIndex : isPosition(index);
  }

  /** Whether there is one choice, and its provider does not number it 0. */
  get #isOnly(): boolean {
    return this.#choicesExpected === 1 && this.#firstIndex !== 0;
  }

  #renumber(choice: Json): boolean {
    if (!this.#isOnly) return false;
    choice.index = 0;
    return true;
  }

  #trackFinish({ index, delta, finish_reason: reason }: Json): void {
    if (this.#finishedChoices.size > 0 && this.#finishedChoices.has(index) && hasContent(delta))
      this.#hasLateContent = true;
    if (typeof reason === 'string' && reason !== '') this.#finishedChoices.add(index);
  }

  /** Takes a piece of the first choice. Returns whether the chunk was changed. */
  #takeChoice(choice: Json, chunk: Json, batch: Batch): boolean {
    let isChanged = repairChoice(choice);
    const { delta } = choice;
    if (isObject(delta) && this.#takeDelta(delta, choice.logprobs, batch.events)) isChanged = true;
    const reason = choice.finish_reason;
    if (typeof reason !== 'string' || reason === '') return isChanged;
    const finish = finishReasonOf(reason);
    if (finish === undefined) {
      throw new UpstreamFailure('server', `${this.#provider} ended its answer with the reason "error"`);
    }
    this.#finish = finish;
    if (repairFinish(choice, { hasCalls: !this.#calls.isEmpty })) isChanged = true;
    const missingPieces = this.#calls.finish(batch.events);
    const late = missingPieces.filter((piece) => !fillIn(delta, piece));
    if (late.length > 0 && batch.frames !== undefined) {
      const choices = [{ index: 0, delta: { tool_calls: late }, finish_reason: null }];
      const json = { ...chunk, choices, usage: chunk.usage === undefined ? undefined : null };
      batch.frames.push({ raw: JSON.stringify(json), json });
    }
    return isChanged || late.length < missingPieces.length;
  }

  #takeDelta(delta: Json, logprobs: unknown, events: InferenceEvent[]): boolean {
    let isChanged = false;
    const flat = typeof delta.content === 'object' ? flattenContent(delta) : undefined;
    if (flat !== undefined) isChanged = true;
    if (withoutUnreadable(delta)) isChanged = true;
    const piece: ReasoningPiece | undefined = flat?.thinking
      ? { text: flat.thinking, field: 'thinking', details: [] }
      : reasoningOf(delta);
    if (piece !== undefined) this.#takeReasoning(piece, events);
    const { content, refusal } = delta;
    if (typeof content === 'string' && content !== '') {
      const index = this.#messageIndex(events);
      const tokens = isObject(logprobs) ? logprobs.content : undefined;
      if (Array.isArray(tokens)) events.push({ type: 'text', index, delta: content, logprobs: tokens });
      else events.push({ type: 'text', index, delta: content });
    }
    if (typeof refusal === 'string' && refusal !== '') {
      events.push({ type: 'refusal', index: this.#messageIndex(events), delta: refusal });
    }
    if (Array.isArray(delta.annotations)) this.#takeAnnotations(delta.annotations, events);
    if (Array.isArray(delta.images)) this.#takeImages(delta.images, events);
    if (Array.isArray(delta.tool_calls) && this.#takeCalls(delta, delta.tool_calls, events)) isChanged = true;
    // The deprecated form, with one call and no id.
    if (isObject(delta.function_call)) this.#calls.take({ index: 0, function: delta.function_call }, events);
    return isChanged;
  }

  #takeCalls(delta: Json, pieces: unknown[], events: InferenceEvent[]): boolean {
    let isChanged = false;
    const sent: Json[] = [];
    for (const piece of pieces) {
      if (!isObject(piece)) continue;
      this.#endReasoning(events);
      const fate = this.#calls.take(piece, events);
      if (fate !== 'held-back') sent.push(piece);
      if (fate !== 'intact') isChanged = true;
    }
    if (sent.length < pieces.length) delta.tool_calls = sent.length > 0 ? sent : undefined;
    return isChanged;
  }

  #takeImages(images: unknown[], events: InferenceEvent[]): void {
    for (const image of images) {
      const picture = pictureInChat(image);
      if (picture === undefined) continue;
      this.#endReasoning(events);
      const index = this.#nextItem();
      events.push({ type: 'item-started', index, item: { kind: 'opaque', json: pictureItem(picture) } });
      events.push({ type: 'item-done', index });
    }
  }

  #takeAnnotations(annotations: unknown[], events: InferenceEvent[]): void {
    for (const annotation of annotations) {
      if (!isObject(annotation)) continue;
      // The chat format nests what the Responses format has next to the type.
      const inner = annotation.url_citation;
      const flat = isObject(inner) ? { type: 'url_citation', ...inner } : annotation;
      events.push({ type: 'annotation', index: this.#messageIndex(events), annotation: flat });
    }
  }

  #takeReasoning(piece: ReasoningPiece, events: InferenceEvent[]): void {
    if (this.#reasoning === undefined) {
      this.#reasoning = { index: this.#nextItem(), collector: new ReasoningCollector() };
      events.push({ type: 'item-started', index: this.#reasoning.index, item: { kind: 'reasoning' } });
    }
    const { index, collector } = this.#reasoning;
    collector.add(piece);
    if (piece.text !== '') events.push({ type: 'reasoning', index, part: 0, delta: piece.text });
  }

  /** Thoughts end where the answer starts; later ones become another item. */
  #endReasoning(events: InferenceEvent[]): void {
    if (this.#reasoning === undefined) return;
    const { index, collector } = this.#reasoning;
    this.#reasoning = undefined;
    const origin = { provider: this.#provider, model: this.#model, payload: collector.payload() };
    events.push({ type: 'item-done', index, origin });
  }

  #messageIndex(events: InferenceEvent[]): number {
    if (this.#reasoning !== undefined) this.#endReasoning(events);
    if (this.#message < 0) {
      this.#message = this.#nextItem();
      events.push({ type: 'item-started', index: this.#message, item: { kind: 'message' } });
    }
    return this.#message;
  }

  #nextItem(): number {
    const index = this.#items;
    this.#items += 1;
    return index;
  }
}

/** OpenAI's limit. */
const choicesMax = 128;

/** A missing index means that there is only one choice. */
function indexOf({ index }: Json): number {
  return typeof index === 'number' ? index : 0;
}

function isPosition(index: number): boolean {
  return Number.isInteger(index) && index >= 0 && index < choicesMax;
}

/** Clients require a delta, index and role in each choice, which some servers omit or leave empty. */
function repairChoice(choice: Json): boolean {
  let isChanged = false;
  if (!isObject(choice.delta)) {
    choice.delta = isObject(choice.message) ? choice.message : {};
    isChanged = true;
  }
  if (typeof choice.index !== 'number') {
    choice.index = 0;
    isChanged = true;
  }
  const delta = choice.delta as Json;
  if (delta.role === '') {
    delta.role = undefined;
    isChanged = true;
  }
  return isChanged;
}

/** Removes content that is no text, which clients would join to the text. Returns whether there was any. */
function withoutUnreadable(delta: Json): boolean {
  let isChanged = false;
  for (const name of ['content', 'refusal']) {
    const value = delta[name];
    if (value === undefined || value === null || typeof value === 'string') continue;
    delta[name] = undefined;
    isChanged = true;
  }
  return isChanged;
}

/** Whether a delta contains more than a role. */
function hasContent(delta: unknown): boolean {
  if (!isObject(delta)) return false;
  const { role: _role, ...rest } = delta;
  return Object.values(rest).some((value) =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value),
  );
}

/** Adds missing arguments to a call that started in this delta; false if it started earlier. */
function fillIn(delta: unknown, missing: Json): boolean {
  const pieces = isObject(delta) && Array.isArray(delta.tool_calls) ? delta.tool_calls : [];
  const piece = pieces.find((each) => isObject(each) && each.index === missing.index);
  if (piece === undefined) return false;
  piece.function = { ...piece.function, arguments: '{}' };
  return true;
}

const finishReasons = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);

/**
 * Corrects what a provider leaves out around the content of its answer, and clients validate: `object` and the role. The
 * id, time and model are the gateway's own, and set later. An answer without such a fault is not changed.
 */
export class Envelope {
  readonly #object: 'chat.completion' | 'chat.completion.chunk';
  /** The choices that have a role. */
  readonly #withRole = new Set<unknown>();

  constructor(object: 'chat.completion' | 'chat.completion.chunk') {
    this.#object = object;
  }

  /** Returns whether anything was changed. */
  repair(json: Json): boolean {
    if (json.object === this.#object) return false;
    json.object = this.#object;
    return true;
  }

  /** Adds the role to the first piece of a choice, or to its whole message. */
  repairRole(index: unknown, message: unknown): boolean {
    if (this.#withRole.has(index) || !isObject(message)) return false;
    this.#withRole.add(index);
    if (isText(message.role)) return false;
    message.role = 'assistant';
    return true;
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/**
 * Corrects the finish reason of a choice: some servers send `stop` after tool calls, at which clients would end their
 * tool loop, or reasons of their own, such as `eos`. Returns whether it was wrong.
 */
export function repairFinish(choice: Json, { hasCalls }: { hasCalls: boolean }): boolean {
  const { finish_reason: reason } = choice;
  if (typeof reason !== 'string' || reason === '') return false;
  const right = rightFinish(reason, hasCalls);
  if (right === reason) return false;
  choice.finish_reason = right;
  return true;
}

function rightFinish(reason: string, hasCalls: boolean): string {
  if (hasCalls && (reason === 'stop' || reason === 'function_call')) return 'tool_calls';
  if (finishReasons.has(reason)) return reason;
  const finish = finishReasonOf(reason);
  if (finish === 'max_output_tokens') return 'length';
  if (finish === 'content_filter') return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}

/** Adds the total to a usage without one. Returns whether it was missing. */
export function repairUsage({ usage }: Json): boolean {
  if (!isObject(usage) || typeof usage.total_tokens === 'number') return false;
  const { prompt_tokens: prompt = 0, completion_tokens: completion = 0 } = usage;
  if (typeof prompt !== 'number' || typeof completion !== 'number') return false;
  Object.assign(usage, {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  });
  return true;
}
