import { escapeJson } from '../../output/escape-controls.ts';
import { alignedRecord, type Column } from '../../output/table.ts';
import { wrapLine } from '../../output/wrap-line.ts';
import { untrustedLines } from '../text/cells.ts';
import type { RenderOptions } from '../text/render-options.ts';
import type { Page } from './screen.ts';

interface RecordOptions<Row> {
  columns: Column<Row>[];
  /** Lines below the record. */
  more?: (options: RenderOptions) => string[];
  copy?: string | undefined;
}

/** One record with a line per member. */
export function recordPage<Row>(title: string, row: Row, { columns, more, copy }: RecordOptions<Row>): Page {
  return {
    title,
    lines: (options) => [...recordLines(row, columns, options), ...(more ? ['', ...more(options)] : [])],
    ...(copy !== undefined && { copy }),
  };
}

/** A line per member; one without a value gets none. */
export function recordLines<Row>(
  row: Row,
  columns: Column<Row>[],
  { width, paint }: RenderOptions,
): string[] {
  const known = columns.filter(({ show, value }) => show || (value(row) ?? '') !== '');
  return alignedRecord(row, known, { columns: width, paint, breaksWords: true }).trimEnd().split('\n');
}

export function jsonPage(title: string, value: unknown): Page {
  const json = escapeJson(JSON.stringify(value, null, 2) ?? 'null');
  return {
    title,
    lines: ({ width }) => json.split('\n').flatMap((line) => wrapLine(line, width)),
    copy: json,
  };
}

interface Message {
  author: string;
  text: string;
}

/** A conversation, oldest message first. */
export function messageLines(messages: readonly Message[], { width, paint }: RenderOptions): string[] {
  if (messages.length === 0) return ['No messages yet.'];
  return messages.flatMap(({ author, text }) => [
    ...untrustedLines(author, width).map((line) => paint('bold', line)),
    ...untrustedLines(text, width - 2).map((line) => `  ${line}`),
    '',
  ]);
}
