import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import { sseEvent } from '../../../../../shared/http/sse.ts';
import type { RawFrame } from '../../../upstreams/neutral.ts';
import { isBlank } from './validate.ts';

interface PassedBlock {
  /** Its number with us: clients expect blocks to be numbered as they start. */
  index: number;
  type: string;
  /** Its position among the thoughts; undefined for other blocks, and for signed thoughts. */
  unsigned: number | undefined;
}

interface PassOptions {
  /** The start of a message whose provider sends none. */
  start: () => string;
  /** The provider's start with our id and model. */
  labelled: (event: Json) => Json;
  /** The provider's end with what it lacks. */
  completed: (event: Json) => Json;
  /** What the gateway sealed of thoughts, by their position among all thoughts; undefined if nothing. */
  sealed: (position: number) => string | undefined;
}

/** What a delta has, by its type, and whether it may be in a block. */
const deltas = new Map<unknown, { member: string; isOf: (type: string) => boolean }>([
  ['text_delta', { member: 'text', isOf: (type) => type === 'text' }],
  ['thinking_delta', { member: 'thinking', isOf: (type) => type === 'thinking' }],
  ['signature_delta', { member: 'signature', isOf: (type) => type === 'thinking' }],
  ['input_json_delta', { member: 'partial_json', isOf: (type) => type !== 'text' && type !== 'thinking' }],
]);

/**
 * A provider's events for a caller with the same format, including events unknown to us. What clients cannot assemble is
 * corrected or left out: a message that starts twice or never, blocks without a start, an end or a number of their own, and
 * deltas of another type than their block.
 */
export class PassedBlocks {
  readonly #options: PassOptions;
  readonly #open = new Map<unknown, PassedBlock>();
  /** Texts that are blank so far: the format refuses them when they are sent back. */
  readonly #blank = new Map<unknown, RawFrame[]>();
  /** The last delta that was passed on as it is. */
  #passedAs: RawFrame | undefined;
  #hasStarted = false;
  #next = 0;
  #thoughts = 0;
  /** Whether the end of the message was passed on. */
  hasEnd = false;

  constructor(options: PassOptions) {
    this.#options = options;
  }

  pass(frames: readonly RawFrame[]): string {
    let text = '';
    for (const frame of frames) {
      const { raw, like } = frame;
      if (like !== undefined && like === this.#passedAs) text += sseEvent(raw, 'content_block_delta');
      else text += this.#pass(frame);
    }
    return text;
  }

  /** Ends all blocks. */
  close(): string {
    let text = this.#start();
    for (const block of this.#open.values()) text += this.#end(block);
    this.#open.clear();
    this.#blank.clear();
    return text;
  }

  #pass(frame: RawFrame): string {
    const { raw, json } = frame;
    const { type } = json;
    switch (type) {
      case 'content_block_delta':
        return this.#delta(frame);
      case 'message_stop':
        return '';
      case 'message_start':
        if (this.#hasStarted) return '';
        this.#hasStarted = true;
        return show(this.#options.labelled(json), type);
      case 'content_block_start':
        return this.#start() + this.#startBlock(raw, json);
      case 'content_block_stop':
        return this.#stopBlock(json.index);
      case 'message_delta':
        this.hasEnd = true;
        return (
          this.close() +
          (isObject(json.usage) && isObject(json.delta)
            ? sseEvent(raw, type)
            : show(this.#options.completed(json), type))
        );
    }
    return typeof type === 'string' && /^[a-z_]+$/.test(type) ? this.#start() + sseEvent(raw, type) : '';
  }

  #start(): string {
    if (this.#hasStarted) return '';
    this.#hasStarted = true;
    return this.#options.start();
  }

  #startBlock(raw: string, json: Json): string {
    const { content_block: block, index: key } = json;
    const ended = this.#stopBlock(key);
    if (!isObject(block) || typeof block.type !== 'string') return ended;
    if (block.type === 'text' && isBlank(block.text)) {
      this.#blank.set(key, [{ raw, json }]);
      return ended;
    }
    return ended + this.#openBlock(raw, json, block);
  }

  #openBlock(raw: string, json: Json, block: Json): string {
    const index = this.#next++;
    const position = isThought(block) ? this.#thoughts++ : undefined;
    const isUnsigned = block.type === 'thinking' && !block.signature;
    this.#open.set(json.index, {
      index,
      type: String(block.type),
      unsigned: isUnsigned ? position : undefined,
    });
    return numbered(json, raw, index);
  }

  /** Holds back a delta of a text that is still blank; otherwise starts the text with what was held back. */
  #whileBlank(held: RawFrame[], frame: RawFrame, delta: Json): string | undefined {
    if (delta.type === 'text_delta' && isBlank(delta.text)) {
      held.push(frame);
      return undefined;
    }
    this.#blank.delete(frame.json.index);
    const [first, ...deltas] = held as [RawFrame, ...RawFrame[]];
    const block = isObject(first.json.content_block) ? first.json.content_block : {};
    let text = this.#openBlock(first.raw, first.json, block);
    const { index } = this.#open.get(first.json.index) as PassedBlock;
    for (const { raw, json } of deltas) text += numbered(json, raw, index);
    return text;
  }

  #stopBlock(key: unknown): string {
    if (this.#blank.size > 0) this.#blank.delete(key);
    const block = this.#open.get(key);
    return block && this.#open.delete(key) ? this.#end(block) : '';
  }

  /** Thoughts that their provider does not sign get our seal, with which they come back to it. */
  #end({ index, unsigned }: PassedBlock): string {
    const signature = unsigned === undefined ? undefined : this.#options.sealed(unsigned);
    if (signature === undefined) return stop(index);
    const delta = { type: 'signature_delta', signature };
    return show({ type: 'content_block_delta', index, delta }, 'content_block_delta') + stop(index);
  }

  #delta(frame: RawFrame): string {
    const { raw, json } = frame;
    const { delta, index: key } = json;
    if (!isObject(delta)) return '';
    const known = deltas.get(delta.type);
    if (known ? typeof delta[known.member] !== 'string' : typeof delta.type !== 'string') return '';
    let start = '';
    const type =
      delta.type === 'text_delta' ? 'text' : delta.type === 'thinking_delta' ? 'thinking' : undefined;
    if (type !== undefined && !this.#open.has(key) && !this.#blank.has(key)) start = this.#startOf(type, key);
    const held = this.#blank.size > 0 ? this.#blank.get(key) : undefined;
    if (held !== undefined) {
      const opened = this.#whileBlank(held, frame, delta);
      if (opened === undefined) return start;
      start += opened;
    }
    const block = this.#open.get(key);
    if (block === undefined || known?.isOf(block.type) === false) return '';
    if (delta.type === 'signature_delta' && delta.signature) block.unsigned = undefined;
    if (block.index === key) this.#passedAs = frame.like ?? frame;
    return start + numbered(json, raw, block.index);
  }

  /** Some servers send text or thoughts without starting a block. */
  #startOf(type: 'text' | 'thinking', key: unknown): string {
    const content_block = type === 'text' ? { type, text: '' } : { type, thinking: '', signature: '' };
    const json = { type: 'content_block_start', index: key, content_block };
    return this.#start() + this.#startBlock(JSON.stringify(json), json);
  }
}

/** An event of a block with our number. */
function numbered(json: Json, raw: string, index: number): string {
  const type = String(json.type);
  return json.index === index ? sseEvent(raw, type) : show({ ...json, index }, type);
}

function isThought({ type }: Json): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function stop(index: number): string {
  return show({ type: 'content_block_stop', index }, 'content_block_stop');
}

function show(json: Json, type: string): string {
  return sseEvent(JSON.stringify(json), type);
}
