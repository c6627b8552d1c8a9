import { escapeControls } from '../../output/escape-controls.ts';
import { paintedWidth } from '../../output/width.ts';
import { wrapLine } from '../../output/wrap-line.ts';
import { screenDigit } from '../keys/bindings.ts';
import type { PageTab } from '../screens/screen.ts';
import type { ListView } from '../state/list-view.ts';
import { formOf, type OpenPage, type RenderedPage, tabOf } from '../state/page-stack.ts';
import type { TuiState } from '../state/tui-state.ts';
import { fitCell, fitPainted } from '../text/cells.ts';
import { linesWith, nextMatch, withMatches } from '../text/find-in-lines.ts';
import { listRows, titleRow } from '../text/list-table.ts';
import type { RenderOptions } from '../text/render-options.ts';

/** The sidebar: the screens with the numbers that open them. */
export function sidebarLines(state: TuiState, { width, paint }: RenderOptions): string[] {
  return state.views.map(({ screen }, at) => {
    const isCurrent = at === state.current;
    const text = fitCell(`${isCurrent ? '❯' : ' '} ${screenDigit(at) || ' '} ${screen.title}`, width);
    if (!isCurrent) return text;
    return paint(state.pane === 'screens' ? 'inverse' : 'bold', text);
  });
}

/** The main pane: the front page, or the list. */
export function mainLines(state: TuiState, options: RenderOptions, height: number): string[] {
  const { front } = state.pages;
  return front ? pageLines(state, front, options, height) : listLines(state, options, height);
}

function listLines(state: TuiState, options: RenderOptions, height: number): string[] {
  const { view } = state;
  const { screen } = view;
  const { width, paint } = options;
  const failure = view.failure
    ? wrapLine(`! ${escapeControls(view.failure).replace(/\n/g, ' ')}`, width).map((line) =>
        paint('red', line),
      )
    : [];
  const summary = screen.summary?.(view.allRows(), state.options.services, { ...options, height }) ?? [];
  const above = [...summary, ...failure];
  const rowsMax = Math.max(1, height - above.length - 1);
  state.pageRows = rowsMax;
  const rows = view.rows();
  state.listArea = undefined;
  if (rows.length === 0) {
    const lines = emptyLines(view).flatMap((line) => wrapLine(line, width - 2).map((one) => `  ${one}`));
    return [...above, '', ...lines.map((line) => paint('dim', line))];
  }
  const columns = screen.columns(view.tab);
  const top = view.top(rowsMax);
  state.listArea = { titleAt: above.length, top, count: Math.min(rowsMax, rows.length - top), width };
  const selected = view.index();
  const shown = rows.slice(top, top + rowsMax).map((row, at) => ({
    row,
    isSelected: top + at === selected,
    isMarked: view.marks.has(screen.idOf(row)),
  }));
  return [...above, titleRow(columns, options, view.sort), ...listRows(shown, columns, options)];
}

/** Shown in place of the rows if there are none. */
function emptyLines({ screen, filter, found, failure, loadedAt }: ListView): readonly string[] {
  if (found && filter === '') return ['No calls match.', 'Press Esc to clear the query.'];
  if (screen.load && loadedAt === undefined) return ['Loading…'];
  if (failure) return [];
  return filter !== '' ? ['No matching rows.', 'Press Esc to clear the filter.'] : screen.empty;
}

function pageLines(state: TuiState, front: OpenPage, options: RenderOptions, room: number): string[] {
  const tabs = pageTabs(front, options);
  const height = Math.max(1, room - tabs.length);
  return [...tabs, ...partLines(state, front, options, height)];
}

/** The tab of a page at a cell of its first line; undefined beside them, and where they do not fit. */
export function pageTabAt(tabs: readonly PageTab[], width: number, cell: number): number | undefined {
  const widths = tabs.map(({ title }) => title.length + 2);
  if (widths.reduce((sum, one) => sum + one + 1, -1) > width) return undefined;
  let at = 0;
  for (const [index, own] of widths.entries()) {
    if (cell >= at && cell < at + own) return index;
    at += own + 1;
  }
  return undefined;
}

/** The tabs of a page, of which the shown one is in brackets, and its forms. */
function pageTabs(front: OpenPage, { width, paint, isPlain }: RenderOptions): string[] {
  const { tabs } = front.page;
  if (!tabs) return [];
  const current = tabOf(front);
  const titles = tabs.map((tab) => (tab === current ? paint('bold', `[${tab.title}]`) : ` ${tab.title} `));
  const form = formOf(front);
  const forms = (current?.forms ?? []).map((one) => (one === form ? paint('bold', one) : paint('dim', one)));
  const line = titles.join(isPlain ? '' : paint('dim', '│'));
  const isNarrow = paintedWidth(line) > width;
  const position = `${Math.min(front.tab, tabs.length - 1) + 1} of ${tabs.length}`;
  return [
    isNarrow ? `${paint('bold', `[${current?.title ?? ''}]`)} ${position}` : line,
    ...(forms.length > 0 ? [` ${forms.join(paint('dim', ' / '))}`] : []),
    '',
  ];
}

function partLines(state: TuiState, front: OpenPage, options: RenderOptions, height: number): string[] {
  const { lines, turns } = renderedPage(front, { ...options, height });
  state.pageRows = Math.max(1, height - 1);
  const topMax = Math.max(0, lines.length - height);
  seekMatch(front, lines, height);
  // Above the last turn there is a line that says how much is above.
  if (!front.isMoved && turns) front.top = turns.lastTurn - 1;
  else if (front.isAtEnd) front.top = topMax;
  front.top = Math.max(0, Math.min(front.top, topMax));
  front.isAtEnd = front.page.startsAtEnd === true && front.top === topMax;
  const { paint } = options;
  const { text = '' } = front.search ?? {};
  const seen = lines.slice(front.top, front.top + height).map((line) => withMatches(line, text, paint));
  const below = lines.length - front.top - seen.length;
  if (below > 0) seen[seen.length - 1] = paint('dim', `… ${below + 1} more lines`);
  if (front.top > 0) seen[0] = paint('dim', `… ${front.top + 1} lines above`);
  return seen;
}

/** Scrolls to the match that was asked for. */
function seekMatch(front: OpenPage, lines: readonly string[], height: number): void {
  const { search } = front;
  if (!search?.seek) return;
  search.line = nextMatch(linesWith(lines, search.text), search.seek);
  search.seek = undefined;
  if (search.line === undefined) return;
  front.isMoved = true;
  front.isAtEnd = false;
  // The first and the last row may say how many lines are above and below.
  const isVisible = search.line > front.top && search.line < front.top + height - 1;
  if (!isVisible) front.top = Math.max(0, search.line - Math.floor(height / 3));
}

/** Long pages are wrapped once per size. */
function renderedPage(front: OpenPage, options: RenderOptions): RenderedPage {
  const { page, rendered } = front;
  const { width, height } = options;
  // A search finds what is folded, too.
  const isUnfolded = front.isUnfolded || (front.search?.text ?? '') !== '';
  const isSame =
    rendered?.page === page &&
    rendered.width === width &&
    rendered.height === height &&
    rendered.isUnfolded === isUnfolded;
  if (!page.isTicking && isSame) return rendered;
  const shown = { ...options, isUnfolded, form: formOf(front) };
  const source = tabOf(front) ?? page;
  const lines = withFallback(() => source.lines(shown));
  front.rendered = { page, width, height, isUnfolded, lines, turns: source.turns?.(shown) };
  return front.rendered;
}

/** A daemon of another version may send data that does not render; that must not end the program. */
function withFallback(render: () => string[]): string[] {
  try {
    return render();
  } catch {
    return [
      'This cannot be displayed; press u for the JSON.',
      'The daemon may be a different version; run: gateway doctor',
    ];
  }
}

/** The preview of the selected row. What does not fit is on its page. */
export function previewLines(state: TuiState, options: RenderOptions, height: number): string[] {
  const { view } = state;
  const row = view.selected();
  if (row === undefined) return [];
  const inner = { ...options, width: options.width - 1 };
  const lines = withFallback(() => view.screen.preview?.(row, inner) ?? []);
  const seen = lines.slice(0, height);
  if (lines.length > height) {
    seen[height - 1] = options.paint('dim', `… ${lines.length - height + 1} more lines`);
  }
  return seen.map((line) => ` ${line}`);
}

export interface Pane {
  lines: string[];
  /** In cells. */
  width: number;
}

/** Joins panes into lines of equal width. */
export function joinPanes(panes: Pane[], height: number, bar: string): string[] {
  return Array.from({ length: height }, (_, at) =>
    panes.map(({ lines, width }) => fitPainted(lines[at] ?? '', width)).join(bar),
  );
}
