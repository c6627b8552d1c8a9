import type { EventView } from '../../../shared/contract/events.ts';
import { ownValue } from '../../../shared/own-value.ts';
import { type KeyNames, keyText } from '../../names/key-names.ts';
import { count, dollars } from '../../output/amount.ts';
import type { Paint, Style } from '../../output/style.ts';
import { clockTime, duration } from '../../output/time.ts';
import { tabSeparatedCell, visibleCell } from '../../output/visible.ts';
import { cutToWidth, widthOf } from '../../output/width.ts';

interface LineOptions {
  isTty: boolean;
  /** Of the terminal. */
  columns: number;
  paint: Paint;
  names: KeyNames;
}

/** The fields of a finished request that a line shows. */
interface Finished {
  request_id?: string;
  status?: string;
  error_code?: string | null;
  model?: string;
  provider?: string | null;
  key?: string | null;
  input_tokens?: number;
  output_tokens?: number;
  cost_usd?: string | null;
  ttft_ms?: number | null;
  total_ms?: number;
}

const styles: Record<string, Style> = {
  completed: 'green',
  incomplete: 'yellow',
  canceled: 'yellow',
  failed: 'red',
};

/** One cell of a finished request's line on a terminal. */
interface Cell {
  title: string;
  width: number;
  text: (request: Finished, event: { createdAt: string; names: KeyNames }) => string;
  style?: (request: Finished) => Style | undefined;
  /** Hidden on narrow terminals, highest number first; with 0, only after the model column has shrunk to its minimum. */
  spare?: number;
  /** Whether longer text is truncated; a truncated number would be wrong. */
  mayBeCut?: true;
}

const gap = '  ';
const modelWidths = { min: 8, usual: 20, max: 32 };

const terminalCells: Cell[] = [
  {
    title: 'time',
    width: 8,
    text: (_request, { createdAt }) => clockTime(createdAt),
    style: () => 'dim',
    spare: 0,
  },
  {
    title: 'status',
    width: 15,
    text: ({ status, error_code }) => error_code ?? status ?? 'unknown',
    style: ({ status = '', error_code }) => (error_code ? 'red' : ownValue(styles, status)),
    mayBeCut: true,
  },
  { title: 'model', width: modelWidths.min, text: ({ model }) => model ?? '', mayBeCut: true },
  {
    title: 'key',
    width: 12,
    text: ({ key = null }, { names }) => keyText(key, names),
    spare: 3,
    mayBeCut: true,
  },
  { title: 'provider', width: 12, text: ({ provider }) => provider ?? '–', spare: 5, mayBeCut: true },
  {
    title: 'tokens',
    width: 12,
    text: ({ input_tokens = 0, output_tokens = 0 }) => `${count(input_tokens)} → ${count(output_tokens)}`,
    spare: 2,
  },
  { title: 'cost', width: 9, text: ({ cost_usd }) => dollars(cost_usd), spare: 1 },
  { title: 'first', width: 6, text: ({ ttft_ms }) => (ttft_ms == null ? '–' : duration(ttft_ms)), spare: 6 },
  { title: 'total', width: 6, text: ({ total_ms = 0 }) => duration(total_ms), spare: 0 },
  {
    title: 'request',
    width: 30,
    text: ({ request_id }) => request_id ?? '',
    style: () => 'dim',
    spare: 4,
  },
];

/** The header of the lines that `eventLine` writes on a terminal with this many columns. */
export function titleLine(columns: number): string {
  return line(fittingCells(columns).map(({ title, width }) => title.toUpperCase().padEnd(width)));
}

/** Formats a finished request or another stored event; undefined for the steps of a running request. */
export function eventLine(event: EventView, options: LineOptions): string | undefined {
  if (event.type === 'request.started' || event.type === 'request.routed') return undefined;
  const isFinished = event.type === 'request.completed' || event.type === 'request.failed';
  if (options.isTty) return line(isFinished ? terminalTexts(event, options) : otherCells(event, options));
  return `${(isFinished ? pipedCells(event) : otherCells(event, options)).join('\t')}\n`;
}

function pipedCells({ created_at, data }: EventView): string[] {
  const { status = 'unknown', error_code, model = '', provider, total_ms = 0, ttft_ms } = data as Finished;
  const { input_tokens = 0, output_tokens = 0, cost_usd, request_id = '' } = data as Finished;
  const cells = [created_at, status, error_code, model, provider, input_tokens, output_tokens, cost_usd];
  return [...cells, ttft_ms, total_ms, request_id].map((cell) => tabSeparatedCell(String(cell ?? '')));
}

function terminalTexts({ created_at: createdAt, data }: EventView, options: LineOptions): string[] {
  const { paint, columns, names } = options;
  const request = data as Finished;
  return fittingCells(columns).map(({ width, text, style, mayBeCut }) => {
    const safe = visibleCell(text(request, { createdAt, names }));
    const shown = mayBeCut ? cutToWidth(safe, width) : safe;
    return paint(style?.(request), shown + ' '.repeat(Math.max(0, width - widthOf(shown))));
  });
}

/** The cells that fit; the model column gets the remaining width. */
function fittingCells(columns: number): Cell[] {
  const { min, usual, max } = modelWidths;
  let room = columns - widthOfLine(terminalCells.filter(({ spare }) => spare === undefined));
  const chosen = new Set<Cell>();
  const choose = (isMeant: (spare: number) => boolean): void => {
    const spares = terminalCells.filter(({ spare }) => spare !== undefined && isMeant(spare));
    for (const cell of spares.toSorted((one, other) => (one.spare ?? 0) - (other.spare ?? 0))) {
      const needed = cell.width + gap.length;
      if (needed > room) continue;
      chosen.add(cell);
      room -= needed;
    }
  };
  choose((spare) => spare === 0);
  room -= usual - min;
  choose((spare) => spare > 0);
  const width = Math.min(max, Math.max(min, usual + room));
  return terminalCells
    .filter((cell) => cell.spare === undefined || chosen.has(cell))
    .map((cell) => (cell.title === 'model' ? { ...cell, width } : cell));
}

function widthOfLine(cells: Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, gap.length * (cells.length - 1));
}

function otherCells({ created_at, type, data }: EventView, { isTty, paint, names }: LineOptions): string[] {
  const details = Object.entries(data).map(([name, value]) => {
    const isKey = isTty && name === 'key' && typeof value === 'string';
    return `${name}=${isKey ? keyText(value, names) : text(value)}`;
  });
  if (!isTty) return [created_at, type, ...details].map(tabSeparatedCell);
  return [paint('dim', clockTime(created_at)), paint('cyan', visibleCell(type)), ...details.map(visibleCell)];
}

function line(cells: string[]): string {
  return `${cells.join(gap).trimEnd()}\n`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
