import { isObject, type Json } from '../../../../../shared/faults/invalid-request.ts';
import type { RawFrame } from '../../../upstreams/neutral.ts';

/** An item that has started and not ended. */
interface OpenItem {
  type: string;
  /** How many parts of its content, and of its summary, have started. */
  parts: number;
  summaryParts: number;
}

/** The types of items that known events belong to. */
const ownersOf = new Map([
  ['response.output_text', new Set(['message'])],
  ['response.refusal', new Set(['message'])],
  ['response.function_call_arguments', new Set(['function_call'])],
  ['response.custom_tool_call_input', new Set(['custom_tool_call'])],
  ['response.reasoning_summary_text', new Set(['reasoning'])],
  ['response.reasoning_summary_part', new Set(['reasoning'])],
  ['response.reasoning_text', new Set(['reasoning'])],
  ['response.reasoning', new Set(['reasoning'])],
  ['response.output_text.annotation', new Set(['message'])],
  ['response.content_part', new Set(['message', 'reasoning'])],
]);

/** Events of these groups are of a part of the content. */
const inParts = new Set(['response.output_text', 'response.refusal', 'response.reasoning_text']);

/**
 * Checks that a provider's frames are a stream from which clients can assemble the answer: items are numbered as they start,
 * and what is known of an item comes while it is open. Events unknown to us may come at any time.
 */
export class FrameOrder {
  readonly #open = new Map<unknown, OpenItem>();
  /** The position of items by their provider's id. */
  readonly #positions = new Map<unknown, number>();
  #started = 0;
  /** The last frame that was not like another one. */
  #accepted: RawFrame | undefined;

  accepts(frames: readonly RawFrame[]): boolean {
    for (const frame of frames) {
      if (frame.like !== undefined && frame.like === this.#accepted) continue;
      if (!this.#accepts(frame.json)) return false;
      this.#accepted = frame.like ?? frame;
    }
    return true;
  }

  /** Those of the items in their order whose end was not passed on. */
  openOf<Item>(items: readonly Item[]): Item[] {
    return items.filter((_item, index) => this.#open.has(index));
  }

  #accepts(json: Json): boolean {
    const type = String(json.type);
    if (type === 'response.output_item.added') return this.#start(json);
    if (type === 'response.output_item.done')
      return isTyped(json.item) && this.#open.delete(json.output_index);
    const end = type.lastIndexOf('.');
    const group = type.slice(0, end);
    const owners = ownersOf.get(group);
    return owners === undefined || this.#isInItem(json, owners, group, type.slice(end + 1));
  }

  #start({ item, output_index: index }: Json): boolean {
    if (index !== this.#started || !isTyped(item)) return false;
    const { type, id, name } = item;
    const isCall = type === 'function_call' || type === 'custom_tool_call';
    if (isCall && (typeof name !== 'string' || name === '')) return false;
    if (typeof id === 'string') {
      if (this.#positions.has(id)) return false;
      this.#positions.set(id, index);
    }
    this.#open.set(index, { type, parts: 0, summaryParts: 0 });
    this.#started += 1;
    return true;
  }

  #isInItem(json: Json, owners: ReadonlySet<string>, group: string, what: string): boolean {
    const { output_index: index, item_id: id, content_index: part, summary_index: summaryPart } = json;
    const item = this.#open.get(index);
    if (!item || !owners.has(item.type) || typeof id !== 'string' || id === '') return false;
    if ((this.#positions.get(id) ?? index) !== index) return false;
    if (what === 'delta' && typeof json.delta !== 'string') return false;
    if (inParts.has(group)) return isBelow(part, item.parts);
    if (group === 'response.reasoning_summary_text') return isBelow(summaryPart, item.summaryParts);
    if (what !== 'added') return true;
    if (group === 'response.content_part') return part === item.parts++;
    return group !== 'response.reasoning_summary_part' || summaryPart === item.summaryParts++;
  }
}

function isBelow(position: unknown, count: number): boolean {
  return typeof position === 'number' && position >= 0 && position < count;
}

function isTyped(item: unknown): item is Json & { type: string } {
  return isObject(item) && typeof item.type === 'string';
}
