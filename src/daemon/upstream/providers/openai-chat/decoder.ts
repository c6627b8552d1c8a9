import { pictureInChat, pictureItem } from '../../../../shared/formats/pictures.ts';
import type { Tokens } from '../../../../shared/money/money.ts';
import type { Batch, InferenceEvent } from '../../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import { isObject, type Json, objectsOf } from '../../json.ts';
import type { Dialect } from '../../sse-decoder.ts';
import { errorMember } from '../../vendor-errors.ts';
import { billedIn } from '../billed.ts';
import { behindRouter, type Ended, endedWith, matchedStop, saysCall } from '../finish-reasons.ts';
import { openAiTokens } from '../openai-usage.ts';
import { SentText } from '../sent-text.ts';
import { servedModelIn } from '../served-model.ts';
import { addedBy, fillIn, hasContent, indexOf, isPosition } from './deltas.ts';
import { Envelope, isNoText, repairChoice, repairFinish, repairText, withoutNoReason } from './envelope.ts';
import { openAiStreamFailure, vendorStreamFailure } from './failure.ts';
import {
  flattenContent,
  ReasoningCollector,
  type ReasoningPayload,
  type ReasoningPiece,
  reasoningOf,
  signedIn,
} from './reasoning.ts';
import { sourcesIn } from './sources.ts';
import { TaggedThoughts } from './tagged-thoughts.ts';
import { ToolCalls, withFunction } from './tool-calls.ts';
import { chatUsageIn, laterTokens } from './usage.ts';
import { type Callable, WrittenCalls } from './written-calls.ts';

interface ChatOptions {
  choices?: number;
  /** Those whose calls are taken out of the text, with the thoughts between tags; by default the text stays as it is. */
  tools?: Callable | undefined;
  /** The sequences that end the answer. */
  stop?: readonly string[] | undefined;
}

/** Decodes chunks of the chat format. Only the first choice is converted to events; frames keep all choices. */
export class ChatDialect implements Dialect {
  /** Usage may follow the finish reason, so only `[DONE]` or the last byte ends the answer. */
  readonly isComplete = false;
  readonly #provider: string;
  readonly #model: string;
  readonly #calls: ToolCalls;
  #items = 0;
  #message = -1;
  #reasoning: { index: number; collector: ReasoningCollector } | undefined;
  #tokens: Tokens | undefined;
  /** The service tier, which not every server repeats with the usage. */
  #tier: unknown;
  readonly #text = new SentText();
  /** Those that came before the text that they are of. */
  readonly #annotations: Json[] = [];
  /** The pages that the answer is based on, if they have no places in its text. */
  #sources: Json[] | undefined;
  #hasAnnotations = false;
  readonly #thoughts = new SentText();
  /** Whether the text so far is blank. */
  #isBlank = true;
  #hasPictures = false;
  #end: Ended | undefined;
  /** The finish reason that clients were shown. */
  #shownFinish: unknown;
  /** The finish reason of a choice that was not asked for. */
  #otherReason: string | undefined;
  /** The calls of a whole message that follows its deltas. */
  #wholeCalls: Json[] | undefined;
  /** How its calls are written; the deprecated form beside the other repeats it. */
  #callForm: 'tools' | 'deprecated' | undefined;
  /** Whether the provider says that the answer is a call. */
  #saysCall = false;
  /** Whether any choice had a delta; and if none had, whether the messages in its place are pieces or the text so far. */
  #hasDelta = false;
  #messagesArePieces = false;
  #hasChoice = false;
  #firstIndex: number | undefined;
  /** The model that the chunks name. */
  #served: unknown;
  readonly #choicesExpected: number;
  readonly #envelope: Envelope;
  /** Choices with a finish reason. */
  readonly #finishedChoices = new Set<unknown>();
  /** What the last chunk added to the answer, if it did nothing else. */
  #added: { text: string; thought: ReasoningPiece | undefined } | undefined;
  /** Whether a choice continued after it: some servers send one with every chunk, so that none is known to be the last. */
  #hasLateContent = false;

  /** Set where thoughts and calls in the text become reasoning and calls. */
  readonly #tagged: TaggedThoughts | undefined;
  readonly #written: WrittenCalls | undefined;
  readonly #stop: readonly string[] | undefined;
  #stopSequence: string | undefined;

  constructor(provider: string, model: string, { choices = 1, tools, stop }: ChatOptions = {}) {
    this.#provider = provider;
    this.#model = model;
    this.#tagged = tools && new TaggedThoughts();
    this.#written = tools && new WrittenCalls(tools);
    this.#stop = stop;
    this.#choicesExpected = choices;
    this.#envelope = new Envelope('chat.completion.chunk');
    this.#calls = new ToolCalls({
      provider,
      nextItem: () => this.#nextItem(),
      sign: (callId, members, events) => this.#sign({ calls: { [callId]: members } }, events),
    });
  }

  get hasFinished(): boolean {
    return this.#finishedChoices.size >= this.#choicesExpected && !this.#hasLateContent;
  }

  take(json: Json, raw: string, batch: Batch): void {
    if (json.error || json.object === 'error') {
      const error = errorMember(json) ?? (json.object === 'error' ? json : undefined);
      if (error !== undefined) throw openAiStreamFailure(this.#provider, error);
    }
    if (json.base_resp !== undefined || !Array.isArray(json.choices)) this.#failOnVendorError(json);
    let isChanged = false;
    const { choices } = json;
    const { length: eventsBefore } = batch.events;
    this.#added = undefined;
    if (Array.isArray(choices)) {
      const known = this.#knownOf(choices);
      if (known !== choices) {
        json.choices = known;
        isChanged = true;
      }
      for (const choice of known) {
        if (isObject(choice.error)) throw openAiStreamFailure(this.#provider, choice.error);
        if (this.#renumber(choice)) isChanged = true;
        if (withoutNoReason(choice)) isChanged = true;
        this.#hasChoice = true;
        if (indexOf(choice) === 0 ? this.#takeChoice(choice, json, batch) : this.#takeOther(choice))
          isChanged = true;
        if (this.#envelope.repairRole(choice.index, choice.delta)) isChanged = true;
        this.#trackFinish(choice);
      }
    }
    const usage = chatUsageIn(json);
    this.#tier = json.service_tier ?? this.#tier;
    this.#served ??= json.model;
    this.#sources = sourcesIn(json) ?? this.#sources;
    if (usage !== undefined) this.#takeUsage(usage, batch.events);
    if (!Array.isArray(choices)) {
      // Clients validate each line: anything that is not a chunk is dropped, and usage alone is made into one.
      if (usage === undefined) return;
      json.choices = [];
      isChanged = true;
    }
    if (this.#envelope.repair(json)) isChanged = true;
    if (!isChanged && this.#finishedChoices.size === 0)
      this.#added = addedBy(json, batch.events.slice(eventsBefore));
    batch.frames?.push({ raw: isChanged ? JSON.stringify(json) : raw, json });
  }

  get addedText(): string | undefined {
    return this.#added?.text;
  }

  addText(text: string, events: InferenceEvent[]): boolean {
    const thought = this.#added?.thought;
    if (thought !== undefined) this.#takeReasoning({ ...thought, text }, events);
    else if (this.#written?.mayAdd(text) === false || this.#text.missingOfPiece(text) !== undefined)
      return false;
    else this.#takeText(text, undefined, events);
    return true;
  }

  #takeUsage(usage: Json, events: InferenceEvent[]): void {
    const reported = openAiTokens(usage);
    if (reported === undefined) return;
    this.#tokens = laterTokens(this.#tokens, reported);
    events.push({ type: 'usage', tokens: this.#tokens, ...billedIn(usage, this.#tier) });
  }

  #failOnVendorError(json: Json): void {
    const failure = vendorStreamFailure(this.#provider, json);
    if (failure) throw failure;
  }

  finish(batch: Batch, at: 'done-mark' | 'last-byte'): void {
    const name = this.#provider;
    const { events } = batch;
    const end = this.#end ?? this.#otherEnd();
    if (end === undefined) {
      if (at === 'last-byte')
        throw new UpstreamFailure('broken', `${name} broke off in the middle of its answer`);
      if (!this.#hasChoice) throw new UpstreamFailure('broken', `${name} ended its stream without an answer`);
      // Most SDKs fail here, too: where servers stop half-way, this is all that tells.
      throw new UpstreamFailure('broken', `${name} ended its stream without a finish reason`);
    }
    this.#endReasoning(events);
    if (this.#message >= 0 && !this.#hasAnnotations) this.#annotateEnd(events);
    this.#endCalls(events, end);
    const items = this.#calls.items();
    if (this.#message >= 0) items.push(this.#message);
    for (const index of items.sort((a, b) => a - b)) events.push({ type: 'item-done', index });
    const stopSequence = this.#stopSequence;
    const served = servedModelIn(this.#served);
    events.push({ type: 'finished', ...end, ...served, ...(stopSequence !== undefined && { stopSequence }) });
  }

  #otherEnd(): Ended | undefined {
    if (this.#otherReason === undefined) return undefined;
    return endedWith(this.#otherReason, { provider: this.#provider, isUsable: this.#isUsable });
  }

  #endCalls(events: InferenceEvent[], { reason }: Ended): Json[] {
    const mustCall = this.#saysCall || !this.#isUsable;
    return this.#calls.finish(events, { isCut: reason !== 'stop', mustCall });
  }

  get #isUsable(): boolean {
    return !this.#isBlank || this.#hasPictures || !this.#calls.isEmpty;
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
    return this.#choicesExpected > 1
      ? isPosition(index)
      : index === this.#firstIndex || this.#hasCallsToAdd(choice);
  }

  /** Some servers write the text and the calls of one message as two choices. */
  #hasCallsToAdd(choice: Json): boolean {
    const { finish_reason: reason } = choice;
    if (typeof reason === 'string' && !isNoText(reason)) this.#otherReason ??= reason;
    const part = isObject(choice.delta) ? choice.delta : choice.message;
    if (!isObject(part) || !Array.isArray(part.tool_calls)) return false;
    const { tool_calls } = part;
    Object.assign(choice, { delta: { tool_calls }, message: undefined, finish_reason: null });
    return true;
  }

  /** Where one choice was asked for, all are parts of it, whatever their numbers. */
  #renumber(choice: Json): boolean {
    if (this.#choicesExpected > 1 || (this.#firstIndex === 0 && indexOf(choice) === 0)) return false;
    choice.index = 0;
    return true;
  }

  #trackFinish({ index, delta, finish_reason: reason }: Json): void {
    if (this.#finishedChoices.size > 0 && this.#finishedChoices.has(index) && hasContent(delta))
      this.#hasLateContent = true;
    if (typeof reason === 'string') this.#finishedChoices.add(index);
  }

  /** Takes a piece of a further choice, which only callers with the same format get. Returns whether it was changed. */
  #takeOther(choice: Json): boolean {
    const { finish_reason: reason } = choice;
    if (typeof reason !== 'string') return false;
    const { reason: finish } = endedWith(reason, { provider: this.#provider, isUsable: true });
    return repairFinish(choice, { finish, hasCalls: undefined });
  }

  /** Takes a piece of the first choice. Returns whether the chunk was changed. */
  #takeChoice(choice: Json, chunk: Json, batch: Batch): boolean {
    let isChanged = false;
    if (!isObject(choice.message)) this.#hasDelta = true;
    else {
      this.#deltaOfMessage(choice, choice.message);
      isChanged = true;
    }
    if (repairChoice(choice)) isChanged = true;
    const { delta } = choice;
    const reason = choice.finish_reason;
    const isLast = typeof reason === 'string';
    if (isObject(delta)) {
      if (this.#takeDelta(delta, { logprobs: choice.logprobs, isLast }, batch.events)) isChanged = true;
      if (this.#wholeCalls !== undefined) this.#takeWholeCalls(delta, this.#wholeCalls, batch.events);
    }
    if (!isLast) return isChanged;
    if (saysCall(reason)) this.#saysCall = true;
    if (this.#stop) this.#stopSequence ??= matchedStop(choice, this.#stop);
    const isUsable = this.#isUsable;
    const word = isUsable ? reason : behindRouter(reason, choice.native_finish_reason);
    this.#end = endedWith(word, { provider: this.#provider, isUsable });
    const hasCalls = !this.#calls.isEmpty && (this.#callForm === 'deprecated' ? 'deprecated' : true);
    if (repairFinish(choice, { finish: this.#end.reason, hasCalls })) isChanged = true;
    if (choice.finish_reason === this.#shownFinish) {
      // Some servers repeat it with usage, others with every chunk.
      choice.finish_reason = null;
      isChanged = true;
    } else this.#shownFinish = choice.finish_reason;
    const missingPieces = this.#endCalls(batch.events, this.#end);
    const late = missingPieces.filter((piece) => !fillIn(delta, piece));
    if (late.length > 0 && batch.frames !== undefined) {
      const choices = [{ index: 0, delta: { tool_calls: late }, finish_reason: null }];
      const json = { ...chunk, choices, usage: chunk.usage === undefined ? undefined : null };
      batch.frames.push({ raw: JSON.stringify(json), json });
    }
    return isChanged || late.length < missingPieces.length;
  }

  /**
   * Some servers end a stream with the whole message, or send it with every delta: what the deltas have not said becomes the
   * delta. Others write `message` for `delta`. Clients would take either for the answer itself.
   */
  #deltaOfMessage(choice: Json, message: Json): void {
    const delta = isObject(choice.delta) ? choice.delta : undefined;
    choice.message = undefined;
    if (delta !== undefined && hasContent(delta)) this.#hasDelta = true;
    else choice.delta = this.#hasDelta || !this.#isPiece(message) ? this.#missingOf(message) : message;
  }

  /** Whether a message in a stream without deltas is a piece of the answer, because it does not repeat what was sent. */
  #isPiece({ content, reasoning_content: thoughts }: Json): boolean {
    const isOther = (whole: unknown, sent: SentText) =>
      typeof whole === 'string' && whole !== '' && sent.missingOf(whole) === undefined;
    this.#messagesArePieces ||= isOther(content, this.#text) || isOther(thoughts, this.#thoughts);
    return this.#messagesArePieces;
  }

  /** What a whole message has that was not sent. */
  #missingOf(message: Json): Json {
    const delta: Json = { ...message };
    flattenContent(delta);
    this.#keepMissing(delta);
    if (Array.isArray(delta.tool_calls) && !this.#calls.isEmpty) {
      this.#wholeCalls = delta.tool_calls.filter(isObject);
      delta.tool_calls = undefined;
    }
    return delta;
  }

  #takeWholeCalls(delta: Json, calls: readonly Json[], events: InferenceEvent[]): void {
    this.#wholeCalls = undefined;
    const missing = calls.flatMap((call, position) => this.#calls.takeWhole(call, position, events) ?? []);
    if (missing.length > 0) delta.tool_calls = missing;
  }

  #keepMissing(delta: Json): void {
    const keep = (name: string, sent: SentText) => {
      const whole = delta[name];
      if (typeof whole !== 'string' || sent.isEmpty) return;
      delta[name] = sent.missingOf(whole) || undefined;
    };
    keep('content', this.#text);
    for (const name of ['reasoning_content', 'reasoning']) keep(name, this.#thoughts);
    if (!this.#thoughts.isEmpty) delta.reasoning_details = undefined;
  }

  #takeDelta(
    delta: Json,
    { logprobs, isLast }: { logprobs: unknown; isLast: boolean },
    events: InferenceEvent[],
  ): boolean {
    let isChanged = false;
    const flat = typeof delta.content === 'object' ? flattenContent(delta) : undefined;
    if (flat !== undefined) isChanged = true;
    if (repairText(delta)) isChanged = true;
    const tagged = this.#tagged?.take(delta, { isLast });
    this.#written?.take(delta, { isLast });
    const piece = tagged ?? (flat?.text ? flat : reasoningOf(delta));
    if (piece !== undefined) this.#takeReasoning(piece, events);
    const signed = signedIn(delta);
    if (signed !== undefined) {
      this.#endReasoning(events);
      this.#sign({ message: signed }, events);
    }
    const { refusal } = delta;
    let { content } = delta;
    if (typeof content === 'string' && content !== '') {
      const missing = this.#text.missingOfPiece(content, { isLast });
      if (missing !== undefined) {
        content = missing;
        delta.content = missing;
        isChanged = true;
      }
    }
    if (typeof content === 'string' && content !== '') this.#takeText(content, logprobs, events);
    if (typeof refusal === 'string' && refusal !== '') {
      this.#isBlank = false;
      events.push({ type: 'refusal', index: this.#messageIndex(events), delta: refusal });
    }
    for (const annotation of objectsOf(delta.annotations)) this.#annotations.push(annotation);
    if (this.#annotations.length > 0 && !this.#text.isEmpty) this.#annotate(events);
    if (Array.isArray(delta.images)) this.#takeImages(delta.images, events);
    if (isObject(delta.tool_calls)) {
      delta.tool_calls = [delta.tool_calls];
      isChanged = true;
    }
    if (Array.isArray(delta.tool_calls) && this.#takeCalls(delta, delta.tool_calls, events)) isChanged = true;
    // The deprecated form, with one call and no id.
    if (isObject(delta.function_call)) this.#takeDeprecated(delta.function_call, events);
    return isChanged;
  }

  #takeDeprecated(call: Json, events: InferenceEvent[]): void {
    if (this.#callForm !== 'tools') this.#calls.take({ index: 0, function: call }, events);
    this.#callForm ??= 'deprecated';
  }

  #takeText(delta: string, logprobs: unknown, events: InferenceEvent[]): void {
    this.#text.add(delta);
    if (this.#isBlank && delta.trim() !== '') this.#isBlank = false;
    const index = this.#messageIndex(events);
    const tokens = isObject(logprobs) ? logprobs.content : undefined;
    if (Array.isArray(tokens)) events.push({ type: 'text', index, delta, logprobs: tokens });
    else events.push({ type: 'text', index, delta });
  }

  #takeCalls(delta: Json, pieces: unknown[], events: InferenceEvent[]): boolean {
    let isChanged = false;
    const sent: Json[] = [];
    this.#calls.startList();
    for (const piece of pieces) {
      if (!isObject(piece)) continue;
      this.#callForm = 'tools';
      this.#endReasoning(events);
      if (withFunction(piece)) isChanged = true;
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
      this.#hasPictures = true;
      const index = this.#nextItem();
      events.push({ type: 'item-started', index, item: { kind: 'opaque', json: pictureItem(picture) } });
      events.push({ type: 'item-done', index });
    }
  }

  #annotate(events: InferenceEvent[]): void {
    this.#hasAnnotations = true;
    for (const annotation of this.#annotations.splice(0)) {
      // The chat format nests what the Responses format has next to the type.
      const inner = annotation.url_citation;
      const flat = isObject(inner) ? { type: 'url_citation', ...inner } : annotation;
      events.push({ type: 'annotation', index: this.#messageIndex(events), annotation: flat });
    }
  }

  #annotateEnd(events: InferenceEvent[]): void {
    const { length: end } = this.#text;
    for (const source of this.#sources ?? []) {
      const annotation = { ...source, start_index: end, end_index: end };
      events.push({ type: 'annotation', index: this.#message, annotation });
    }
  }

  #takeReasoning(piece: ReasoningPiece, events: InferenceEvent[]): void {
    if (this.#reasoning === undefined) {
      this.#reasoning = { index: this.#nextItem(), collector: new ReasoningCollector() };
      events.push({ type: 'item-started', index: this.#reasoning.index, item: { kind: 'reasoning' } });
    }
    const { index, collector } = this.#reasoning;
    collector.add(piece);
    this.#thoughts.add(piece.text);
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

  /** What the provider wants to see again with its calls or its text is kept in a reasoning item, which every format can carry. */
  #sign(payload: ReasoningPayload, events: InferenceEvent[]): void {
    const index = this.#nextItem();
    const origin = { provider: this.#provider, model: this.#model, payload };
    events.push({ type: 'item-started', index, item: { kind: 'reasoning' } });
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
