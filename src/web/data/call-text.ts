import type { getTraceContent as contract } from '../../shared/contract/content.ts';
import type { Result } from '../../shared/contract/endpoint.ts';
import { call } from './api.ts';
import { getTraceContent } from './endpoints.ts';

export type CallContent = Result<typeof contract>;

/** A text of a call, as far as it was read. */
export interface ReadText {
  text: string;
  /** Of the whole text. */
  bytes: number;
  /** The character after what was read; `null` if all of it was. */
  next: number | null;
  isPartial: boolean;
}

type Part = 'request' | 'answer';

/** The query of the first page of a text. */
export const firstPageOf = (part: Part) => ({ part, at: 0 });

/** The text of a request or an answer after one more page; `undefined` if there is none. */
export function textWith(page: CallContent, part: Part, before?: ReadText): ReadText | undefined {
  const body = page[part]?.body;
  if (!body) return before;
  const { text, bytes, next, is_partial: isPartial } = body;
  return { text: (before?.text ?? '') + text, bytes, next, isPartial };
}

interface ReadOptions {
  signal?: AbortSignal | undefined;
  /** Stops after so many characters. */
  max?: number;
  /** Gets what is known after each page. */
  onPage?: (text: ReadText) => void;
}

const readPage = (
  id: string,
  query: { part: Part; at: number },
  signal?: AbortSignal,
): Promise<CallContent> =>
  call(getTraceContent, { params: { request_id: id }, query }, signal ? { signal } : {});

/** Reads a request or an answer whole. Rejects with the error of the daemon, such as `not_found` if nothing is kept. */
export async function readText(
  id: string,
  part: Part,
  { signal }: Pick<ReadOptions, 'signal'> = {},
): Promise<{ first: CallContent; text: ReadText | undefined }> {
  const first = await readPage(id, firstPageOf(part), signal);
  const text = textWith(first, part);
  return { first, text: text && (await readOn(id, part, text, { signal })) };
}

/** Reads a text to its end, page by page. Rejects as `readText` does. */
export async function readOn(
  id: string,
  part: Part,
  begun: ReadText,
  { signal, max = Number.POSITIVE_INFINITY, onPage }: ReadOptions = {},
): Promise<ReadText> {
  let text = begun;
  while (text.next !== null && text.text.length < max) {
    const more = textWith(await readPage(id, { part, at: text.next }, signal), part, text);
    // It was deleted meanwhile.
    if (more === undefined || more === text) break;
    text = more;
    onPage?.(text);
  }
  return text;
}
