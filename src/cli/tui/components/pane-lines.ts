import { visible } from '../../output/visible.ts';
import type { ListView } from '../model/list-view.ts';
import type { OpenPage } from '../model/page-stack.ts';
import type { TuiModel } from '../model/tui-model.ts';
import type { Drawing } from '../screen.ts';
import { broken, fitCell } from '../text/cells.ts';
import { fitPainted } from '../text/painted.ts';
import { rowLines, titleLine } from '../text/table-lines.ts';

/** The names of the screens, with the letter that goes to each. */
export function screenLines(model: TuiModel, { width, paint }: Drawing): string[] {
  return model.views.map(({ screen }, at) => {
    const isCurrent = at === model.current;
    const text = fitCell(`${isCurrent ? '❯' : ' '} ${screen.title}`, width - 2) + screen.letter.padEnd(2);
    if (!isCurrent) return text;
    return paint(model.pane === 'screens' ? 'inverse' : 'bold', text);
  });
}

/** What the main pane shows: the page in front, or the list. */
export function mainLines(model: TuiModel, drawing: Drawing, rows: number): string[] {
  return model.pages.front ? pageLines(model, drawing, rows) : listLines(model, drawing, rows);
}

function listLines(model: TuiModel, drawing: Drawing, height: number): string[] {
  const { view } = model;
  const { screen } = view;
  const { width, paint } = drawing;
  const failure = view.failure
    ? broken(`! ${visible(view.failure).replace(/\n/g, ' ')}`, width).map((line) => paint('red', line))
    : [];
  const all = view.rows();
  const summary = screen.summary?.(view.allRows(), model.options.services, drawing) ?? [];
  const above = [...summary, ...failure];
  const space = Math.max(1, height - above.length - 1);
  model.pageRows = space;
  if (all.length === 0) {
    return [...above, ...emptyLines(view).map((line, at) => (at === 0 ? line : paint('dim', line)))];
  }
  const columns = screen.columns(view.tab);
  const top = view.top(space);
  const selected = view.index();
  const shown = all.slice(top, top + space).map((row, at) => ({
    row,
    isSelected: top + at === selected,
    isMarked: view.marks.has(screen.idOf(row)),
  }));
  return [...above, titleLine(columns, drawing), ...rowLines(shown, columns, drawing)];
}

/** What stands where no row is. */
function emptyLines({ screen, filter, failure, loadedAt }: ListView): string[] {
  if (screen.load && loadedAt === undefined) return ['', '  Fetching …'];
  if (failure) return [];
  const why = filter !== '' ? ['No row has this text.', 'Esc shows all again.'] : screen.empty;
  return ['', ...why.map((line) => `  ${line}`)];
}

function pageLines(model: TuiModel, drawing: Drawing, height: number): string[] {
  const { front } = model.pages;
  if (!front) return [];
  const lines = linesOf(front, drawing);
  model.pageRows = Math.max(1, height - 1);
  const topMax = Math.max(0, lines.length - height);
  if (front.isAtEnd) front.top = topMax;
  front.top = Math.max(0, Math.min(front.top, topMax));
  front.isAtEnd = front.page.beginsAtEnd === true && front.top === topMax;
  const seen = lines.slice(front.top, front.top + height);
  const below = lines.length - front.top - seen.length;
  const { paint } = drawing;
  if (below > 0) seen[seen.length - 1] = paint('dim', `… ${below + 1} more lines`);
  if (front.top > 0) seen[0] = paint('dim', `… ${front.top + 1} lines above`);
  return seen;
}

/** A page is broken into lines once for each width; it may be long. */
function linesOf(front: OpenPage, drawing: Drawing): string[] {
  const { page, broken: known } = front;
  if (known?.page !== page || known.width !== drawing.width)
    front.broken = { page, width: drawing.width, lines: drawn(() => page.lines(drawing)) };
  return front.broken?.lines ?? [];
}

/** A daemon of another version may tell something else than what is drawn here: no reason to end. */
function drawn(draw: () => string[]): string[] {
  try {
    return draw();
  } catch {
    return [
      'This cannot be shown; u shows it as JSON.',
      'Is the daemon of another version? See: gateway doctor',
    ];
  }
}

/** What is known of the selected row without asking. */
export function asideLines(model: TuiModel, drawing: Drawing): string[] {
  const { view } = model;
  const row = view.selected();
  if (row === undefined) return [];
  const inner = { ...drawing, width: drawing.width - 1 };
  return drawn(() => view.screen.aside?.(row, inner) ?? []).map((line) => ` ${line}`);
}

export interface Pane {
  lines: string[];
  /** In cells. */
  width: number;
}

/** Panes side by side, each as wide as it is told and all of one height. */
export function sideBySide(panes: Pane[], height: number, bar: string): string[] {
  return Array.from({ length: height }, (_, at) =>
    panes.map(({ lines, width }) => fitPainted(lines[at] ?? '', width)).join(bar),
  );
}
