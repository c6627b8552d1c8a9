import type { TraceView } from '../../../../shared/contract/traces.ts';
import type { UsageRecord } from '../../metering/index.ts';
import type { Rejection } from '../store.ts';

/** A text of a call; `isPartial`: without what was deleted with the calls that introduced it. */
export interface ExportedText {
  text: string;
  isPartial: boolean;
}

/** What is kept of the content of a call. Lists of headers are name, value, name, value. */
export interface ExportedContent {
  headers: readonly string[];
  body: ExportedText | null;
  attempts: readonly {
    provider: string;
    url: string;
    headers: readonly string[];
    body: ExportedText | null;
    status: number | null;
    received: readonly string[];
    refusal: ExportedText | null;
  }[];
  answer: ExportedText | null;
}

export interface ExportedCall {
  record: UsageRecord | Rejection;
  view: TraceView;
  /** Undefined where it was not asked for, or is not kept. */
  content: ExportedContent | undefined;
}

/** How calls are written. */
export interface ExportWriter {
  head: string;
  call(call: ExportedCall, isFirst: boolean): string;
  tail: string;
}

/** JSON as a value, other text as it is. */
export function jsonOrText(content: ExportedText | null): unknown {
  if (content === null) return null;
  try {
    return JSON.parse(content.text);
  } catch {
    return content.text;
  }
}

export function headersOf(flat: readonly string[]): { name: string; value: string }[] {
  const headers: { name: string; value: string }[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2)
    headers.push({ name: flat[at] as string, value: flat[at + 1] as string });
  return headers;
}
