import type { getTraceContent as contract } from '../../../shared/contract/content.ts';
import type { Result } from '../../../shared/contract/endpoint.ts';
import { call } from './api.ts';
import { getTraceContent } from './endpoints.ts';

export type CallContent = Result<typeof contract>;

/** A text of a call, as far as it was read. */
export interface ReadText {
  text: string;
  /** Of the whole text. */
  bytes: number;
  /** Whether all of it was read. */
  isWhole: boolean;
  isPartial: boolean;
}

/**
 * Reads the text of a request or an answer, page by page. `onPage` gets what was read so far. Rejects with the error of the
 * daemon, such as `not_found` if nothing is kept.
 */
export async function readText(
  id: string,
  part: 'request' | 'answer',
  { signal, max = Number.POSITIVE_INFINITY, onPage }: ReadOptions = {},
): Promise<{ first: CallContent; text: ReadText | undefined }> {
  let first: CallContent | undefined;
  let text: ReadText | undefined;
  for (let at: number | null = 0; at !== null && (text?.text.length ?? 0) < max; ) {
    const query: { part: typeof part; at: number } = { part, at };
    const page: CallContent = await call(
      getTraceContent,
      { params: { request_id: id }, query },
      signal ? { signal } : {},
    );
    first ??= page;
    const body = page[part]?.body ?? null;
    at = body?.next ?? null;
    if (body)
      text = {
        text: (text?.text ?? '') + body.text,
        bytes: body.bytes,
        isWhole: at === null,
        isPartial: body.is_partial,
      };
    onPage?.(first, text);
  }
  return { first: first as CallContent, text };
}

interface ReadOptions {
  signal?: AbortSignal;
  /** Stops after so many characters. */
  max?: number;
  onPage?: (first: CallContent, text: ReadText | undefined) => void;
}
