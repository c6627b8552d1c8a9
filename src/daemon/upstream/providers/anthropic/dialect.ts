import type { Batch, InferenceEvent, RawFrame, StartedItem } from '../../../features/upstreams/neutral.ts';
import { UpstreamFailure } from '../../../features/upstreams/upstream.ts';
import { countOf, isObject, type Json, objectOf, objectsOf, textOf } from '../../json.ts';
import type { Dialect } from '../../sse-decoder.ts';
import { errorMember, vendorError } from '../../vendor-errors.ts';
import { billedIn } from '../billed.ts';
import { argumentsIn, StreamedArguments, unreadableArguments } from '../call-arguments.ts';
import { CallIds, toolNameIn } from '../call-ids.ts';
import { type Ended, endedWith } from '../finish-reasons.ts';
import { answerId, unnamedCall } from '../provider-failures.ts';
import { servedModelIn } from '../served-model.ts';
import { annotationOf } from './citations.ts';
import { anthropicStreamFailure } from './failure.ts';
import { rightStopReason } from './stop-reason.ts';
import { countUsage, type PromptTokens, promptOf, reportedTokens, shownUsage } from './usage.ts';

/** An open content block: the output item it belongs to, and what is needed when it ends. */
type Block = TextBlock | ThinkingBlock | RedactedBlock | ToolBlock;

interface Opening {
  /** A text in the start of the block, until it is known whether the first delta repeats it. */
  opening: string | undefined;
}

type RedactedBlock = { kind: 'redacted'; index: number; data: string };
/** `start`: where its text starts in the message. */
type TextBlock = { kind: 'text'; index: number; start: number; citations: Json[] } & Opening;
type ThinkingBlock = {
  kind: 'thinking';
  index: number;
  thinking: string;
  signature: string | undefined;
} & Opening;
/** `input` is that of the start, which is used if no deltas follow. */
type ToolBlock = { kind: 'tool'; index: number; name: string; input: unknown; arguments: StreamedArguments };

/** The provider and model, which mark reasoning as their own. */
export interface Origin {
  provider: string;
  model: string;
}

function signsThoughts({ provider, model }: Origin): boolean {
  return provider === 'anthropic' || /claude/i.test(model);
}

/** Takes the events of a Messages stream, and corrects those whose content clients could not read. */
export class MessagesDialect implements Dialect {
  isComplete = false;
  readonly #origin: Origin;
  readonly #blocks = new Map<unknown, Block>();
  readonly #callIds = new CallIds();
  #items = 0;
  /** The message that further text blocks continue, until another item starts. */
  #message: number | undefined;
  /** The length of its text. */
  #textLength = 0;
  /** Counts so far: each event with usage replaces only the counts it contains. */
  #usage: Json = {};
  /** The prompt's token counts, until they are emitted. */
  #prompt: PromptTokens | undefined;
  #end: Ended | undefined;
  #hasCalls = false;
  /** Whether there is anything but thoughts and blanks. */
  #isUsable = false;
  /** The tool of a call whose arguments cannot be read, which is no fault of an answer that was cut. */
  #unreadable: string | undefined;
  /** Whether content came after the stop reason. */
  #hasLateContent = false;
  /** The id and the model that the start of the message names. */
  #id: unknown;
  #served: unknown;
  #stopSequence: string | undefined;
  #refusal: string | undefined;
  /** Frames before the first block: until then, another provider can still answer. */
  #held: RawFrame[] | undefined = [];
  /** Whether the current event was corrected, and deltas that are missing before it. */
  #isChanged = false;
  #missing: Json[] | undefined;
  /** What the current event added to the answer, if it did nothing else. */
  #added: { text: string; block: TextBlock | ThinkingBlock } | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  get hasFinished(): boolean {
    return this.#end !== undefined && !this.#hasLateContent;
  }

  take(event: Json, raw: string, { events, frames }: Batch): void {
    const { length } = events;
    const wasStopped = this.#end !== undefined;
    this.#isChanged = false;
    this.#take(event, events);
    this.#added = this.#addedBy(event, events.slice(length));
    if (wasStopped && events.length > length) this.#hasLateContent = true;
    if (frames !== undefined) this.#relayAll(event, raw, frames);
    if (this.#prompt === undefined || events.length === 0) return;
    events.push({ type: 'prompt-counted', tokens: this.#prompt });
    this.#prompt = undefined;
  }

  get addedText(): string | undefined {
    return this.#added?.text;
  }

  addText(text: string, events: InferenceEvent[]): boolean {
    const block = this.#added?.block;
    if (block === undefined) return false;
    if (block.kind === 'text') this.#addText(block.index, text, events);
    else this.#addThought(block, text, events);
    return true;
  }

  #addedBy(
    { type, index }: Json,
    [event, ...others]: readonly InferenceEvent[],
  ): { text: string; block: TextBlock | ThinkingBlock } | undefined {
    const block = type === 'content_block_delta' ? this.#blocks.get(index) : undefined;
    if (others.length > 0 || (event?.type !== 'text' && event?.type !== 'reasoning')) return undefined;
    return block?.kind === 'text' || block?.kind === 'thinking' ? { text: event.delta, block } : undefined;
  }

  #relayAll(json: Json, raw: string, frames: RawFrame[]): void {
    if (this.#missing !== undefined) {
      for (const delta of this.#missing) this.#relay({ raw: JSON.stringify(delta), json: delta }, frames);
      this.#missing = undefined;
    }
    this.#relay({ raw: this.#isChanged ? JSON.stringify(json) : raw, json }, frames);
  }

  #relay(frame: RawFrame, frames: RawFrame[]): void {
    if (this.#held !== undefined) {
      const { type } = frame.json;
      if (type !== 'content_block_start' && type !== 'content_block_delta' && type !== 'message_delta') {
        this.#held.push(frame);
        return;
      }
      frames.push(...this.#held);
      this.#held = undefined;
    }
    frames.push(frame);
  }

  #take(event: Json, events: InferenceEvent[]): void {
    switch (event.type) {
      case 'content_block_delta':
        this.#addDelta(event.index, objectOf(event.delta) ?? {}, events);
        break;
      case 'message_start':
        this.#id = answerId(objectOf(event.message)?.id, this.#id, {
          hasBegun: this.#items > 0 || this.#isUsable,
          provider: this.#origin.provider,
        });
        // Its output count is not final. Its input count is emitted with the first block, since the call may still fail
        // until then.
        countUsage(this.#usage, objectOf(event.message)?.usage);
        this.#served = objectOf(event.message)?.model;
        this.#prompt = promptOf(this.#usage);
        break;
      case 'content_block_start':
        this.#startBlock(event.index, objectOf(event.content_block) ?? {}, events);
        break;
      case 'content_block_stop':
        this.#endBlock(event.index, events);
        break;
      case 'message_delta':
        this.#endAnswer(event, events);
        break;
      case 'message_stop':
        this.#close(events);
        break;
      default:
        if (event.type === 'error' || errorMember(event) !== undefined || vendorError(event))
          throw anthropicStreamFailure(this.#origin.provider, event);
    }
  }

  /** An answer with a stop reason is complete even without message_stop. */
  finish({ events }: Batch): void {
    if (this.#end === undefined) {
      throw new UpstreamFailure('broken', `${this.#origin.provider} closed the stream before message_stop`);
    }
    this.#close(events);
  }

  #startBlock(key: unknown, block: Json, events: InferenceEvent[]): void {
    if (block.type === 'text') {
      if (this.#message === undefined) {
        this.#message = this.#items++;
        this.#textLength = 0;
        events.push({ type: 'item-started', index: this.#message, item: { kind: 'message' } });
      }
      this.#blocks.set(key, {
        kind: 'text',
        index: this.#message,
        start: this.#textLength,
        citations: objectsOf(block.citations),
        opening: this.#openingOf(block, 'text'),
      });
      return;
    }
    if (block.type === 'thinking') {
      const index = this.#startItem({ kind: 'reasoning' }, events);
      const signature = textOf(block.signature) || undefined;
      const opening = this.#openingOf(block, 'thinking');
      this.#blocks.set(key, { kind: 'thinking', index, thinking: '', signature, opening });
    } else if (block.type === 'redacted_thinking') {
      const index = this.#startItem({ kind: 'reasoning' }, events);
      this.#blocks.set(key, { kind: 'redacted', index, data: textOf(block.data) ?? '' });
    } else if (block.type === 'tool_use') this.#startCall(key, block, events);
    // Blocks of server tools, which only callers of this format request, have no neutral form.
    else if (typeof block.type === 'string') this.#isUsable = true;
  }

  #startCall(key: unknown, block: Json, events: InferenceEvent[]): void {
    // Some servers with this format send no ids, or the same one twice.
    const callId = this.#callIds.unique(block.id);
    const name = toolNameIn(block.name);
    if (name === '') throw unnamedCall(this.#origin.provider);
    const index = this.#startItem({ kind: 'function_call', callId, name }, events);
    const { input } = block;
    this.#blocks.set(key, { kind: 'tool', index, name, input, arguments: new StreamedArguments() });
    this.#hasCalls = true;
    this.#isUsable = true;
    if (block.id === callId && block.name === name && isObject(input)) return;
    block.id = callId;
    block.name = name;
    if (!isObject(input)) block.input = {};
    this.#isChanged = true;
  }

  /** A text in the start of a block, which clients get as a delta. */
  #openingOf(block: Json, name: 'text' | 'thinking'): string | undefined {
    const text = textOf(block[name]);
    if (!text) return undefined;
    block[name] = '';
    this.#isChanged = true;
    return text;
  }

  #startItem(item: StartedItem, events: InferenceEvent[]): number {
    this.#endMessage(events);
    const index = this.#items++;
    events.push({ type: 'item-started', index, item });
    return index;
  }

  #addDelta(key: unknown, delta: Json, events: InferenceEvent[]): void {
    // Some servers send text or thoughts without starting a block.
    if (!this.#blocks.has(key)) {
      if (delta.type === 'text_delta') this.#startBlock(key, { type: 'text' }, events);
      if (delta.type === 'thinking_delta') this.#startBlock(key, { type: 'thinking' }, events);
    }
    const block = this.#blocks.get(key);
    if (block?.kind === 'text' && delta.type === 'citations_delta') {
      if (isObject(delta.citation)) block.citations.push(delta.citation);
    } else if (block?.kind === 'text') {
      const text = textOf(delta.text);
      if (block.opening !== undefined) this.#open(key, block, text, events);
      this.#continueText(key, block, text, events);
    } else if (block?.kind === 'thinking') {
      if (delta.type === 'signature_delta') block.signature = textOf(delta.signature);
      else {
        const text = textOf(delta.thinking);
        if (block.opening !== undefined) this.#open(key, block, text, events);
        this.#addThought(block, text, events);
      }
    } else if (block?.kind === 'tool') this.#addArguments(block, delta, events);
  }

  /** Sends the text in the start of a block, unless its first delta repeats it. */
  #open(
    key: unknown,
    block: TextBlock | ThinkingBlock,
    first: string | undefined,
    events: InferenceEvent[],
  ): void {
    const { opening } = block;
    if (opening === undefined || first === '') return;
    block.opening = undefined;
    if (first?.startsWith(opening)) return;
    if (block.kind === 'text') this.#addText(block.index, opening, events);
    else this.#addThought(block, opening, events);
    const delta =
      block.kind === 'text'
        ? { type: 'text_delta', text: opening }
        : { type: 'thinking_delta', thinking: opening };
    this.#addMissing(key, delta);
  }

  #addMissing(index: unknown, delta: Json): void {
    this.#missing ??= [];
    this.#missing.push({ type: 'content_block_delta', index, delta });
  }

  #addArguments(block: ToolBlock, delta: Json, events: InferenceEvent[]): void {
    const { partial_json: piece } = delta;
    const json = isObject(piece) ? JSON.stringify(piece) : textOf(piece);
    if (!json) return;
    const passed = block.arguments.add(json);
    if (passed !== '') events.push({ type: 'arguments', index: block.index, delta: passed });
    if (passed === piece) return;
    delta.partial_json = passed;
    this.#isChanged = true;
  }

  /** Text after another item continues in a new message. */
  #continueText(key: unknown, { index }: Block, text: string | undefined, events: InferenceEvent[]): void {
    if (index === this.#message) this.#addText(index, text, events);
    else {
      this.#startBlock(key, { type: 'text' }, events);
      this.#addText(this.#message ?? index, text, events);
    }
  }

  #addText(index: number, text: string | undefined, events: InferenceEvent[]): void {
    if (!text) return;
    if (!this.#isUsable && text.trim() !== '') this.#isUsable = true;
    this.#textLength += text.length;
    events.push({ type: 'text', index, delta: text });
  }

  #addThought(block: ThinkingBlock, text: string | undefined, events: InferenceEvent[]): void {
    if (!text) return;
    block.thinking += text;
    events.push({ type: 'reasoning', index: block.index, part: 0, delta: text });
  }

  #endBlock(key: unknown, events: InferenceEvent[]): void {
    const block = this.#blocks.get(key);
    this.#blocks.delete(key);
    if (!block) return;
    if (block.kind === 'text' || block.kind === 'thinking') this.#open(key, block, undefined, events);
    if (block.kind === 'text') {
      this.#endText(block, events);
      return;
    }
    const { index } = block;
    if (block.kind === 'tool') {
      this.#endArguments(key, block, events);
      events.push({ type: 'item-done', index });
      return;
    }
    const payload = this.#payloadOf(block);
    events.push({ type: 'item-done', index, ...(payload && { origin: { ...this.#origin, payload } }) });
  }

  /** Citations may come before the text that they are of. */
  #endText({ index, start, citations }: TextBlock, events: InferenceEvent[]): void {
    if (index !== this.#message) return;
    for (const citation of citations) {
      const annotation = annotationOf(citation, { start, end: this.#textLength });
      if (annotation) events.push({ type: 'annotation', index, annotation });
    }
  }

  /** What the provider must see again. Claude would refuse thoughts without its signature; servers that sign none want them. */
  #payloadOf(block: ThinkingBlock | RedactedBlock): Json | undefined {
    if (block.kind === 'redacted') return { data: block.data };
    const { thinking, signature } = block;
    if (signature !== undefined) return { thinking, signature };
    return thinking === '' || signsThoughts(this.#origin) ? undefined : { thinking, signature: '' };
  }

  #endArguments(
    key: unknown,
    { index, name, input, arguments: args }: ToolBlock,
    events: InferenceEvent[],
  ): void {
    const inStart = args.sent === '' ? argumentsIn(input) : '{}';
    const isInStart = inStart !== '{}';
    const rest = isInStart ? inStart : args.end();
    if (rest === undefined) {
      if (!args.mayBeCut) throw unreadableArguments(this.#origin.provider, name);
      this.#unreadable ??= name;
    }
    const delta = rest ?? args.cut();
    if (delta === '') return;
    events.push({ type: 'arguments', index, delta });
    // Clients take an object from the start.
    if (!(isInStart && isObject(input)))
      this.#addMissing(key, { type: 'input_json_delta', partial_json: delta });
  }

  #endMessage(events: InferenceEvent[]): void {
    if (this.#message !== undefined) events.push({ type: 'item-done', index: this.#message });
    this.#message = undefined;
  }

  #endAnswer(event: Json, events: InferenceEvent[]): void {
    const delta = objectOf(event.delta);
    const word = textOf(delta?.stop_reason);
    const { provider } = this.#origin;
    if (word !== undefined) this.#end = endedWith(word, { provider, isUsable: this.#isUsable });
    if (delta) {
      const { reason: finish } = this.#end ?? { reason: 'stop' };
      const right = rightStopReason(word, { finish, hasCalls: this.#hasCalls });
      if (right !== word) this.#isChanged = true;
      delta.stop_reason = right;
    }
    this.#stopSequence = textOf(delta?.stop_sequence) ?? this.#stopSequence;
    this.#refusal = textOf(objectOf(delta?.stop_details)?.explanation) ?? this.#refusal;
    countUsage(this.#usage, event.usage);
    const usage = objectOf(event.usage);
    if (usage === undefined) return;
    event.usage = shownUsage(usage, this.#usage);
    if (event.usage !== usage) this.#isChanged = true;
    // Otherwise only the count at the start is known, which is not the answer's.
    if (countOf(usage.output_tokens) === undefined) return;
    const tokens = reportedTokens(this.#usage);
    if (tokens) events.push({ type: 'usage', tokens, ...billedIn(this.#usage) });
  }

  #close(events: InferenceEvent[]): void {
    this.isComplete = true;
    for (const key of [...this.#blocks.keys()]) this.#endBlock(key, events);
    const end = this.#end ?? { reason: 'stop' };
    if (this.#unreadable !== undefined && end.reason === 'stop')
      throw unreadableArguments(this.#origin.provider, this.#unreadable);
    // After a text, clients would take it for more of the text.
    if (end.reason === 'content_filter' && this.#refusal && !this.#isUsable) {
      const index = this.#startItem({ kind: 'message' }, events);
      events.push({ type: 'refusal', index, delta: this.#refusal }, { type: 'item-done', index });
    } else this.#endMessage(events);
    const stopSequence = this.#stopSequence;
    const served = servedModelIn(this.#served);
    events.push({ type: 'finished', ...end, ...served, ...(stopSequence !== undefined && { stopSequence }) });
  }
}
