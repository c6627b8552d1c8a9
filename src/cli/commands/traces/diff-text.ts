import type { CallComparison, PartChange } from '../../../shared/comparison/compare-calls.ts';
import type { CacheBreak, CacheComparison } from '../../../shared/comparison/prompt-cache.ts';
import type { Hunk, LineChange } from '../../../shared/comparison/text-changes.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { duration } from '../../../view/durations.ts';
import { dollars } from '../../../view/money.ts';
import { count } from '../../../view/numbers.ts';
import type { CapturedContent } from '../../content/call-content.ts';
import type { Context } from '../../context.ts';
import { escapeControls } from '../../output/escape-controls.ts';
import type { Paint, Style } from '../../output/style.ts';
import { alignedTable, type Column, tabSeparatedRows } from '../../output/table.ts';
import { cutToWidth } from '../../output/width.ts';
import { wrapLine } from '../../output/wrap-line.ts';

/** A call and what is kept of its content. */
export interface CallWithContent {
  trace: TraceView;
  content: CapturedContent | { request?: undefined; answer?: undefined; reason: string };
}

interface Shown {
  before: CallWithContent;
  after: CallWithContent;
  comparison: CallComparison;
  /** Whether parts that were added or removed are printed to their end. */
  isFull: boolean;
}

/** An estimate, as providers count tokens of whole requests only. */
const charactersPerToken = 4;
const wholePartLines = 8;

/** Prints a comparison: on a terminal as text, in a pipe as rows of kind, name, before and after. */
export async function showComparison(context: Context, shown: Shown): Promise<void> {
  const { out, io } = context;
  const { before, after, comparison } = shown;
  if (out.wantsJson()) {
    const totals = figures(before.trace, after.trace);
    return out.document({
      before: before.trace.request_id,
      after: after.trace.request_id,
      totals: totals.map(({ name, before: from, after: to }) => ({ name, before: from, after: to })),
      ...comparison,
    });
  }
  for (const { trace, content } of [before, after])
    if ('reason' in content) out.warn(`${trace.request_id}: ${content.reason}`);
  if (out.isQuiet()) return out.text(changedNames(comparison));
  if (!io.stdout.isTty) return void io.stdout.write(tabSeparatedRows(rowsOf(shown), plain));
  const columns = io.columns();
  const paint = out.paint.stdout;
  io.stdout.write(comparisonText(shown, { columns, paint }));
}

/** A comparison for a terminal. */
export function comparisonText(shown: Shown, terminal: Terminal): string {
  const { cache, parts, answer } = shown.comparison;
  const texts = [totalsText(shown, terminal)];
  if (cache) texts.push(cacheText(cache, terminal));
  if (parts.length > 0) texts.push(partsText(parts, shown, terminal));
  if (answer.some(({ change }) => change !== 'same'))
    texts.push(`${terminal.paint('bold', 'ANSWER')}\n${partsText(answer, shown, terminal)}`);
  return texts.join('\n');
}

/** The parameters and parts that differ, one a line. */
function changedNames({ parameters, parts, answer }: CallComparison): string {
  const changed = [...parts, ...answer].filter(({ change }) => change !== 'same');
  return [...parameters.map(({ name }) => name), ...changed.map(({ path }) => path)]
    .map((name) => `${name}\n`)
    .join('');
}

/** A figure of both calls. */
interface Figure {
  name: string;
  before: string | number | null;
  after: string | number | null;
  show: (value: string | number | null) => string;
}

function figures(before: TraceView, after: TraceView): Figure[] {
  const figure = (
    name: string,
    of: (trace: TraceView) => string | number | null | undefined,
    show: (value: string | number | null) => string = (value) => String(value ?? '–'),
  ): Figure => ({ name, before: of(before) ?? null, after: of(after) ?? null, show });
  const tokens = (value: string | number | null) => count(Number(value));
  const money = (value: string | number | null) => dollars(value === null ? null : String(value));
  const time = (value: string | number | null) => duration(value === null ? null : Number(value));
  return [
    figure('model', ({ model }) => model),
    figure('provider', ({ provider }) => provider),
    figure('status', ({ status, error_code: code }) => code ?? status),
    figure('input_tokens', ({ tokens: { input } }) => input, tokens),
    figure('cached_tokens', ({ tokens: { cached_input: cached } }) => cached, tokens),
    figure('cache_write_tokens', ({ tokens: { cache_write: written } }) => written, tokens),
    figure('output_tokens', ({ tokens: { output } }) => output, tokens),
    figure('reasoning_tokens', ({ tokens: { reasoning } }) => reasoning, tokens),
    figure('cost_usd', ({ cost }) => cost?.total_usd, money),
    figure('first_token_ms', ({ timings }) => timings.first_token_ms, time),
    figure('total_ms', ({ timings }) => timings.total_ms, time),
  ];
}

interface Terminal {
  columns: number;
  paint: Paint;
}

interface Pair {
  name: string;
  before: string;
  after: string;
}

function totalsText({ before, after, comparison }: Shown, terminal: Terminal): string {
  const { request_id: earlier } = before.trace;
  const { request_id: later } = after.trace;
  const rows: Pair[] = [
    { name: 'request', before: earlier, after: later },
    ...figures(before.trace, after.trace)
      .filter((one) => one.before !== 0 || one.after !== 0)
      .map(({ name, show, ...one }) => ({
        name: name.replace(/_(ms|usd)$/, '').replaceAll('_', ' '),
        before: show(one.before),
        after: show(one.after),
      })),
    ...comparison.parameters.map((parameter) => ({
      name: parameter.name,
      before: parameter.before ?? '–',
      after: parameter.after ?? '–',
    })),
  ];
  const changed = (pair: Pair): Style | undefined => (pair.before === pair.after ? undefined : 'cyan');
  const table: Column<Pair>[] = [
    { title: ' ', value: ({ name }) => name, style: changed },
    { title: 'before', value: (pair) => pair.before, style: changed },
    { title: 'after', value: (pair) => pair.after, style: changed },
  ];
  return alignedTable(rows, table, terminal);
}

function cacheText(cache: CacheComparison, { columns, paint }: Terminal): string {
  const unchanged = `≈${tokensOf(cache.unchanged_characters)} of ≈${tokensOf(cache.characters)} tokens`;
  const title = paint('bold', 'PROMPT CACHE');
  const lines = [`unchanged at the beginning: ${unchanged}`];
  if (cache.break) lines.push(...breakLines(cache.break));
  else lines.push('It continues the earlier call.');
  return [title, ...lines.flatMap((line) => wrapLine(escapeControls(line), columns))].join('\n').concat('\n');
}

function breakLines({ reason, at, role, before, after }: CacheBreak): string[] {
  const quoted = (text: string | null) => (text === null ? 'nothing' : `“${text.replace(/\s+/g, ' ')}”`);
  if (reason === 'model' || reason === 'provider')
    return [`not shared: another ${reason}, ${before} → ${after}`];
  const where = role === null || at.includes('system') ? at : `${at} (${role})`;
  return [`broke at ${where}:`, `  before ${quoted(before)}`, `  after  ${quoted(after)}`];
}

function tokensOf(characters: number): string {
  return count(Math.ceil(characters / charactersPerToken));
}

const marks = { same: '=', added: '+', removed: '-', changed: '~' } as const;
const styles = { same: 'dim', added: 'green', removed: 'red', changed: 'yellow' } as const;

function partsText(parts: readonly PartChange[], { isFull }: Shown, { columns, paint }: Terminal): string {
  const lines: string[] = [];
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] as PartChange;
    const run = part.change === 'same' ? runOfSame(parts, at) : [part];
    lines.push(paint(styles[part.change], cutToWidth(titleOf(part, run), columns)));
    at += run.length - 1;
    const isWhole = part.change === 'added' || part.change === 'removed';
    for (const line of hunkLines(part.hunks, isWhole && !isFull ? wholePartLines : Number.POSITIVE_INFINITY))
      lines.push(...paintedLine(line, { columns, paint }));
  }
  return `${lines.join('\n')}\n`;
}

function runOfSame(parts: readonly PartChange[], from: number): PartChange[] {
  let end = from;
  while (parts[end]?.change === 'same' && parts[end]?.kind === parts[from]?.kind) end += 1;
  return parts.slice(from, end);
}

function titleOf({ change, path, role, kind }: PartChange, run: readonly PartChange[]): string {
  const mark = marks[change];
  if (change !== 'same')
    return escapeControls(`${mark} ${path}${kind === 'instructions' ? '' : ` ${role}`}`).replace(/\n/g, ' ');
  const size = tokensOf(run.reduce((sum, { characters }) => sum + characters, 0));
  const to = run.length > 1 ? ` … ${run.at(-1)?.path}` : '';
  return `${mark} ${path}${to}: unchanged, ≈${size} tokens`;
}

/** A line of the text, or how many were left out. */
type ShownLine = LineChange | { change: 'gap'; text: string };

function hunkLines(hunks: readonly Hunk[], linesMax: number): ShownLine[] {
  return hunks.flatMap(({ lines }, at): ShownLine[] => {
    const gap: ShownLine[] = at === 0 ? [] : [{ change: 'gap', text: '…' }];
    const left = lines.length - linesMax;
    // One more line takes no more room than the note that it is missing.
    if (left <= 1) return [...gap, ...lines];
    const note = { change: 'gap' as const, text: `… ${count(left)} more lines (--full)` };
    return [...gap, ...lines.slice(0, linesMax), note];
  });
}

function paintedLine(line: ShownLine, { columns, paint }: Terminal): string[] {
  const indent = '    ';
  if (line.change === 'gap') return [`${indent}${paint('dim', line.text)}`];
  const mark = line.change === 'same' ? ' ' : marks[line.change];
  const style = line.change === 'same' ? undefined : styles[line.change];
  const room = Math.max(10, columns - indent.length - 2);
  const text = escapeControls(line.text).replaceAll('\t', '  ');
  const isWithWords = 'words' in line && line.words !== undefined && text.length <= room;
  const pieces = isWithWords
    ? [(line.words ?? []).map((word) => paintedWord(word, { paint, style })).join('')]
    : wrapLine(text, room).map((piece) => paint(style, piece));
  return pieces.map((piece, at) => `${indent}${paint(style, at === 0 ? mark : ' ')} ${piece}`);
}

function paintedWord(
  { change, text }: { change: LineChange['change']; text: string },
  { paint, style }: { paint: Paint; style: Style | undefined },
): string {
  const safe = escapeControls(text).replaceAll('\t', '  ');
  return paint(style, change === 'same' ? safe : paint('inverse', safe));
}

/** A row of the comparison in a pipe. */
interface Row {
  kind: string;
  name: string;
  before: string | number | null;
  after: string | number | null;
}

const plain: Column<Row>[] = [
  { title: 'kind', value: ({ kind }) => kind },
  { title: 'name', value: ({ name }) => name },
  { title: 'before', value: ({ before }) => before },
  { title: 'after', value: ({ after }) => after },
];

function rowsOf({ before, after, comparison }: Shown): Row[] {
  const { cache, parameters, parts, answer } = comparison;
  const total = (name: string, from: Row['before'], to: Row['after']): Row => ({
    kind: 'total',
    name,
    before: from,
    after: to,
  });
  return [
    total('request_id', before.trace.request_id, after.trace.request_id),
    ...figures(before.trace, after.trace).map((one) => total(one.name, one.before, one.after)),
    ...parameters.map((parameter) => ({ kind: 'parameter', ...parameter })),
    ...(cache?.break
      ? [{ kind: 'cache', name: cache.break.path, before: cache.break.before, after: cache.break.after }]
      : []),
    ...[...parts, ...answer].flatMap(partRows),
  ];
}

/** A row for each line that changed; lines that replace each other share one. */
function partRows({ kind, path, hunks }: PartChange): Row[] {
  const rows: Row[] = [];
  let replaced: Row[] = [];
  for (const { change, text } of hunks.flatMap(({ lines }) => lines)) {
    if (change === 'same') {
      replaced = [];
      continue;
    }
    const partner = change === 'added' ? replaced.shift() : undefined;
    if (partner) {
      partner.after = text;
      continue;
    }
    const isRemoved = change === 'removed';
    const row = { kind, name: path, before: isRemoved ? text : null, after: isRemoved ? null : text };
    rows.push(row);
    if (isRemoved) replaced.push(row);
  }
  return rows;
}
