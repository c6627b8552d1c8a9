import { painter } from '../../output/style.ts';
import { alignedRecord, type Column } from '../../output/table.ts';
import { visibleJson } from '../../output/visible.ts';
import type { Drawing, Page } from '../screen.ts';
import { broken, foreignLines } from './cells.ts';

/** One record, a line a member, and whatever lines belong under it. */
export function recordPage<Row>(
  title: string,
  row: Row,
  {
    columns,
    more,
    copy,
  }: { columns: Column<Row>[]; more?: (drawing: Drawing) => string[]; copy?: string | undefined },
): Page {
  return {
    title,
    lines: (drawing) => [...recordLines(row, columns, drawing), ...(more ? ['', ...more(drawing)] : [])],
    ...(copy !== undefined && { copy }),
  };
}

/** The lines of a record for a pane of this width. */
export function recordLines<Row>(row: Row, columns: Column<Row>[], { width, paint }: Drawing): string[] {
  return alignedRecord(row, columns, { columns: width, paint }).trimEnd().split('\n');
}

/** A value as indented JSON. */
export function jsonPage(title: string, value: unknown): Page {
  const json = visibleJson(JSON.stringify(value, null, 2) ?? 'null');
  return { title, lines: ({ width }) => json.split('\n').flatMap((line) => broken(line, width)), copy: json };
}

/** Text that somebody wrote. */
export function textPage(title: string, text: string, copy = text): Page {
  return { title, lines: ({ width }) => foreignLines(text, width), copy };
}

/** Who said what, one after the other. */
export function saidLines(said: { who: string; text: string }[], { width, paint }: Drawing): string[] {
  if (said.length === 0) return ['Nothing was said yet.'];
  return said.flatMap(({ who, text }) => [
    ...foreignLines(who, width).map((line) => paint('bold', line)),
    ...foreignLines(text, width - 2).map((line) => `  ${line}`),
    '',
  ]);
}

/** For text that is measured or copied, not shown. */
export const noPaint = painter(false);
