import type { Json } from '../../json.ts';
import type { ReasoningPiece } from './reasoning.ts';

const tags = ['think', 'thinking', 'mm:think'] as const;
const openings = tags.map((tag) => `<${tag}>`);

/**
 * Thoughts that are in the text of an answer, between tags at its start, as of models whose server does not take them out. Source:
 * vllm-project/vllm#46042, decolua/9router#2231, BerriAI/litellm#27483.
 */
export class TaggedThoughts {
  #state: 'start' | 'inside' | 'closed' | 'ended' = 'start';
  #tag = '';
  /** What may be the beginning of a tag, or the blank end of the thoughts. */
  #held = '';
  #hasThought = false;

  /** Moves thoughts out of the content of a delta; undefined if there are none. `isLast`: nothing follows. */
  take(delta: Json, { isLast }: { isLast: boolean }): ReasoningPiece | undefined {
    if (this.#state === 'ended') return undefined;
    const { content, reasoning_content, reasoning, reasoning_details, tool_calls } = delta;
    const piece = typeof content === 'string' ? content : '';
    const isOther = Boolean(reasoning_content || reasoning || reasoning_details || tool_calls);
    const text = this.#held + piece;
    if (text === '') {
      if (isOther && this.#state === 'start') this.#state = 'ended';
      return undefined;
    }
    this.#held = '';
    const endsHere = isLast || isOther;
    const [thought, rest] = this.#split(text, endsHere);
    if (endsHere) this.#state = 'ended';
    delta.content = rest;
    if (thought !== '') this.#hasThought = true;
    return thought === '' ? undefined : { text: thought, field: undefined, details: [], tag: this.#tag };
  }

  #split(text: string, endsHere: boolean): [thought: string, rest: string] {
    switch (this.#state) {
      case 'start':
        return this.#start(text, endsHere);
      case 'inside':
        return this.#inside(text, endsHere);
      default:
        return ['', this.#answer(text)];
    }
  }

  #start(text: string, endsHere: boolean): [thought: string, rest: string] {
    const trimmed = text.trimStart();
    const at = openings.findIndex((opening) => trimmed.startsWith(opening));
    if (at >= 0) {
      this.#tag = tags[at] ?? '';
      this.#state = 'inside';
      return this.#inside(trimmed.slice(openings[at]?.length), endsHere);
    }
    if (!endsHere && openings.some((opening) => opening.startsWith(trimmed))) {
      this.#held = text;
      return ['', ''];
    }
    this.#state = 'ended';
    return ['', text];
  }

  #inside(given: string, endsHere: boolean): [thought: string, rest: string] {
    const text = this.#hasThought ? given : given.trimStart();
    const closing = `</${this.#tag}>`;
    const end = text.indexOf(closing);
    if (end >= 0) {
      this.#state = 'closed';
      return [text.slice(0, end).trimEnd(), this.#answer(text.slice(end + closing.length))];
    }
    if (endsHere) return [text, ''];
    const from = startOfEnd(text, closing);
    this.#held = text.slice(from);
    return [text.slice(0, from), ''];
  }

  /** The blank lines before the answer belong to the tags. */
  #answer(text: string): string {
    const answer = text.trimStart();
    if (answer !== '') this.#state = 'ended';
    return answer;
  }
}

/** Where the end of a text begins that is blank or may go on to be the closing tag. */
function startOfEnd(text: string, closing: string): number {
  return text.slice(0, startOfTag(text, closing)).trimEnd().length;
}

/** Where the end of a text begins that may go on to be a tag. */
export function startOfTag(text: string, tag: string): number {
  const last = text.lastIndexOf('<');
  return last >= 0 && tag.startsWith(text.slice(last)) ? last : text.length;
}
