import type { getTraceContent as contract } from '../../shared/contract/content.ts';
import type { Result } from '../../shared/contract/endpoint.ts';
import { getTraceContent } from '../../shared/endpoints.ts';
import { type CallText, readOn, type TextPart, textWith } from '../../view/call-text.ts';
import { call } from './api.ts';

export type CallContent = Result<typeof contract>;

/** The query of the first page of a text. */
export const firstPageOf = (part: TextPart) => ({ part, at: 0 });

/** Fetches the page of a text that begins at a character. */
export function pageReader(
  id: string,
  part: TextPart,
  { signal }: { signal?: AbortSignal | undefined } = {},
): (at: number) => Promise<CallContent> {
  const options = signal ? { signal } : {};
  return (at) => call(getTraceContent, { params: { request_id: id }, query: { part, at } }, options);
}

/** Reads a request or an answer whole. Rejects with the error of the daemon, such as `not_found` if nothing is kept. */
export async function readText(
  id: string,
  part: TextPart,
  options: { signal?: AbortSignal } = {},
): Promise<{ first: CallContent; text: CallText | undefined }> {
  const pageAt = pageReader(id, part, options);
  const first = await pageAt(0);
  const text = textWith(first, part);
  return { first, text: text && (await readOn(text, part, pageAt)) };
}
