import type { EventView } from '../../../shared/contract/events.ts';
import { ownValue } from '../../../shared/json/json-object.ts';
import { briefDuration } from '../../../view/durations.ts';
import { callerText, type KeyNames, keyText } from '../../../view/key-names.ts';
import { dollars } from '../../../view/money.ts';
import { briefCount, count } from '../../../view/numbers.ts';
import { clockTime } from '../../../view/times.ts';
import { escapeCell, tabSeparatedCell } from '../../output/escape-controls.ts';
import type { Paint, Style } from '../../output/style.ts';
import { cutToWidth, widthOf } from '../../output/width.ts';
import { wrapLine } from '../../output/wrap-line.ts';

interface LineOptions {
  isTty: boolean;
  /** Of the terminal. */
  columns: number;
  paint: Paint;
  names: KeyNames;
}

/** The fields of a finished or rejected request that a line shows. */
interface Finished {
  request_id?: string;
  status?: string;
  error_code?: string | null;
  endpoint?: string;
  model?: string | null;
  provider?: string | null;
  input_tokens?: number;
  output_tokens?: number;
  cost_usd?: string | null;
  ttft_ms?: number | null;
  total_ms?: number;
  /** The id of the key or login, and its name where that is known. */
  key?: string | null;
  key_name?: string | null;
  /** Of an unknown caller. */
  address?: string | null;
  /** Why it was rejected or failed, and how many similar requests were rejected before it. */
  message?: string | null;
  more?: number;
}

const styles: Record<string, Style> = {
  completed: 'green',
  incomplete: 'yellow',
  canceled: 'yellow',
  failed: 'red',
  rejected: 'red',
};

/** One cell of a request's line on a terminal. */
interface Cell {
  title: string;
  width: number;
  text: (request: Finished, event: { createdAt: string; names: KeyNames }) => string;
  style?: (request: Finished) => Style | undefined;
  /** Hidden on narrow terminals, highest number first; with 0, only after the growing column has shrunk to its minimum. */
  spare?: number;
  /** Whether longer text is truncated; a truncated number would be wrong. */
  mayBeCut?: true;
  /** About the answer: a request without one shows its reason here. */
  isAnswer?: true;
}

/** The columns of a line. One of them grows with the terminal. */
interface Layout {
  cells: Cell[];
  grows: { title: string; min: number; usual: number; max: number };
}

const gap = '  ';
const noNames: KeyNames = new Map();

const time: Cell = {
  title: 'time',
  width: 8,
  text: (_request, { createdAt }) => clockTime(createdAt),
  style: () => 'dim',
  spare: 0,
};
const status: Cell = {
  title: 'status',
  width: 15,
  text: ({ status, error_code }) => error_code ?? status ?? 'unknown',
  style: ({ status = '', error_code }) => (error_code ? 'red' : ownValue(styles, status)),
  mayBeCut: true,
};
const tokens: Cell = {
  title: 'tokens',
  width: 13,
  text: ({ input_tokens = 0, output_tokens = 0 }) =>
    `${briefCount(input_tokens)} → ${briefCount(output_tokens)}`,
  spare: 2,
  isAnswer: true,
};
const cost: Cell = {
  title: 'cost',
  // Of exact amounts below ten dollars.
  width: 12,
  text: ({ cost_usd }) => dollars(cost_usd),
  spare: 1,
  isAnswer: true,
};
const total: Cell = {
  title: 'total',
  width: 6,
  text: ({ total_ms = 0 }) => briefDuration(total_ms),
  spare: 0,
  isAnswer: true,
};

/** What `gateway tail` prints. */
const tailLayout: Layout = {
  cells: [
    time,
    status,
    { title: 'model', width: 8, text: asked, mayBeCut: true },
    {
      title: 'key',
      width: 12,
      text: ({ key = null, address }, { names }) => callerText({ key, address }, names),
      spare: 3,
      mayBeCut: true,
    },
    {
      title: 'provider',
      width: 12,
      text: ({ provider }) => provider ?? '–',
      spare: 5,
      mayBeCut: true,
      isAnswer: true,
    },
    tokens,
    cost,
    { title: 'first', width: 6, text: ({ ttft_ms }) => briefDuration(ttft_ms), spare: 6, isAnswer: true },
    total,
    { title: 'request', width: 30, text: ({ request_id }) => request_id ?? '', style: () => 'dim', spare: 4 },
  ],
  grows: { title: 'model', min: 8, usual: 17, max: 32 },
};

/** What `gateway serve` prints. */
const serveLayout: Layout = {
  cells: [
    time,
    {
      title: 'key',
      width: 12,
      text: ({ key, key_name, address }) => key_name ?? key ?? address ?? '–',
      style: () => 'cyan',
      spare: 1,
      mayBeCut: true,
    },
    {
      title: 'model',
      width: 8,
      text: (request) => (request.provider ? `${asked(request)} → ${request.provider}` : asked(request)),
      mayBeCut: true,
    },
    status,
    { ...tokens, spare: 3 },
    { ...cost, spare: 2 },
    total,
  ],
  grows: { title: 'model', min: 8, usual: 17, max: 36 },
};

/** The model, or the path of a request that named none. */
function asked({ model, endpoint }: Finished): string {
  return model ?? endpoint ?? '';
}

/** The header of the lines that `eventLine` writes on a terminal with this many columns. */
export function titleLine(columns: number): string {
  return line(fittingCells(tailLayout, columns).map(({ title, width }) => title.toUpperCase().padEnd(width)));
}

/** Formats a finished request or another stored event; undefined for what the end of a request repeats. */
export function eventLine(event: EventView, options: LineOptions): string | undefined {
  if (isRepeated(event)) return undefined;
  const isFinished = /^request\.(completed|failed|rejected)$/.test(event.type);
  if (options.isTty)
    return isFinished ? terminalLines(tailLayout, event, options) : line(otherCells(event, options));
  return `${(isFinished ? pipedCells(event) : otherCells(event, options)).join('\t')}\n`;
}

/** Formats a finished or rejected request for the terminal of `gateway serve`. */
export function callLine(event: EventView, options: Pick<LineOptions, 'columns' | 'paint'>): string {
  return terminalLines(serveLayout, event, { ...options, names: noNames });
}

/** Whether another line says the same: the steps of a running request, and the limit that rejected one. */
function isRepeated({ type, data }: EventView): boolean {
  if (type === 'limit.reached') return data.request_id !== undefined;
  return /^request\.(started|routed|progress)$/.test(type);
}

/** The same columns for all requests; the one before the last three is why it was rejected or failed. */
function pipedCells({ created_at, data }: EventView): string[] {
  const request = data as Finished;
  const { status = 'unknown', error_code, model, provider, total_ms = 0, ttft_ms } = request;
  const { input_tokens = 0, output_tokens = 0, cost_usd, request_id = '', endpoint, key, address } = request;
  const cells = [created_at, status, error_code, model, provider, input_tokens, output_tokens, cost_usd];
  const origin = [reasonText(request), endpoint, key, address];
  return [...cells, ttft_ms, total_ms, request_id, ...origin].map((cell) =>
    tabSeparatedCell(String(cell ?? '')),
  );
}

/** A request's line; the reason of one without an answer follows on lines of its own if it does not fit. */
function terminalLines(
  layout: Layout,
  { created_at: createdAt, type, data }: EventView,
  { paint, columns, names }: Omit<LineOptions, 'isTty'>,
): string {
  const request = data as Finished;
  const textOf = ({ text }: Cell) => escapeCell(text(request, { createdAt, names }));
  const textsOf = (some: readonly Cell[]) =>
    some.map((cell) => {
      const { width, style, mayBeCut } = cell;
      const cut = mayBeCut ? cutToWidth(textOf(cell), width) : textOf(cell);
      return paint(style?.(request), cut + ' '.repeat(Math.max(0, width - widthOf(cut))));
    });
  const cells = makeRoom(fittingCells(layout, columns), layout.grows, textOf);
  const reason = reasonIn(request, cells, textOf);
  if (reason === '' || !hasNoAnswer(type, request)) return line(textsOf(cells));
  const firstOfAnswer = cells.findIndex(({ isAnswer }) => isAnswer);
  const at = firstOfAnswer < 0 ? cells.length : firstOfAnswer;
  const before = cells.slice(0, at);
  const after = cells.slice(at).filter(({ isAnswer }) => !isAnswer);
  const answer = cells.slice(at).filter(({ isAnswer }) => isAnswer);
  // At the end of the line the reason may be as long as the terminal is wide.
  const room = after.length > 0 ? widthOfLine(answer) : columns - widthOfLine(before) - gap.length;
  const isShort = widthOf(reason) <= room;
  const middle = isShort ? reason + ' '.repeat(room - widthOf(reason)) : ' '.repeat(Math.max(0, room));
  const first = line([...textsOf(before), middle, ...textsOf(after)]);
  if (isShort) return first;
  const indent = ' '.repeat(Math.min(reasonIndent, Math.floor(columns / 4)));
  return (
    first +
    wrapLine(reason, columns - indent.length)
      .map((part) => `${indent}${part}\n`)
      .join('')
  );
}

/** Under what follows the time. */
const reasonIndent = time.width + gap.length;

/** Whether the cells about the answer would say nothing. */
function hasNoAnswer(type: string, { output_tokens = 0 }: Finished): boolean {
  return type === 'request.rejected' || (type === 'request.failed' && output_tokens === 0);
}

/** Why a request has no answer, after the code where its cell cuts it. */
function reasonIn(request: Finished, cells: readonly Cell[], textOf: (cell: Cell) => string): string {
  const reason = escapeCell(reasonText(request));
  const cell = cells.find(({ title }) => title === status.title);
  const isCut = cell !== undefined && widthOf(textOf(cell)) > cell.width;
  return isCut && reason !== '' ? `${textOf(cell)}: ${reason}` : reason;
}

/** Takes the width of numbers that are longer than their columns from the growing column, so that the line does not wrap. */
function makeRoom(cells: Cell[], { title, min }: Layout['grows'], textOf: (cell: Cell) => string): Cell[] {
  const excess = cells
    .filter(({ mayBeCut }) => !mayBeCut)
    .reduce((sum, cell) => sum + Math.max(0, widthOf(textOf(cell)) - cell.width), 0);
  if (excess === 0) return cells;
  return cells.map((cell) =>
    cell.title === title ? { ...cell, width: Math.max(min, cell.width - excess) } : cell,
  );
}

/** The number comes first, so that it is not cut. */
function reasonText({ message: given, more = 0 }: Finished): string {
  const message = given ?? '';
  return more > 0 ? `and ${count(more)} more like it: ${message}` : message;
}

/** The cells that fit; the growing column gets the remaining width. */
function fittingCells(
  { cells, grows: { title: growing, min, usual, max } }: Layout,
  columns: number,
): Cell[] {
  let room = columns - widthOfLine(cells.filter(({ spare }) => spare === undefined));
  const chosen = new Set<Cell>();
  const choose = (isMeant: (spare: number) => boolean): void => {
    const spares = cells.filter(({ spare }) => spare !== undefined && isMeant(spare));
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
  return cells
    .filter((cell) => cell.spare === undefined || chosen.has(cell))
    .map((cell) => (cell.title === growing ? { ...cell, width } : cell));
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
  return [paint('dim', clockTime(created_at)), paint('cyan', escapeCell(type)), ...details.map(escapeCell)];
}

function line(cells: string[]): string {
  return `${cells.join(gap).trimEnd()}\n`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
