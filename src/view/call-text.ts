import type { TraceContent } from '../shared/contract/content.ts';

export type TextPart = 'request' | 'answer';

/** A request or an answer, as far as it was read: the daemon gives long ones page by page. */
export interface CallText {
  text: string;
  /** Of the whole text. */
  bytes: number;
  /** The character at which the next page begins; `null` if there is none. */
  next: number | null;
  /** Whether parts of it were deleted. */
  isPartial: boolean;
}

type Page = Pick<TraceContent, TextPart>;

/** The text after one more page; `undefined` if nothing is kept. */
export function textWith(page: Page, part: TextPart, before?: CallText): CallText | undefined {
  const body = page[part]?.body;
  // It was deleted meanwhile.
  if (!body) return before && { ...before, next: null, isPartial: true };
  const { text, bytes, next, is_partial: isPartial } = body;
  // A host that repeats itself would never come to an end.
  const isFurther = next !== null && next > (before?.next ?? -1);
  return { text: (before?.text ?? '') + text, bytes, next: isFurther ? next : null, isPartial };
}

interface ReadOptions {
  /** Stops after so many characters. */
  max?: number;
  /** Gets what is known after each page. */
  onPage?: (text: CallText) => void;
}

/** Reads a text to its end. Rejects as `pageAt` does, which fetches the page that begins at a character. */
export async function readOn(
  begun: CallText,
  part: TextPart,
  pageAt: (at: number) => Promise<Page>,
  { max = Number.POSITIVE_INFINITY, onPage }: ReadOptions = {},
): Promise<CallText> {
  let text = begun;
  while (text.next !== null && text.text.length < max) {
    text = textWith(await pageAt(text.next), part, text) ?? text;
    onPage?.(text);
  }
  return text;
}
