import { visible } from '../../output/visible.ts';
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
  return model.pages.length > 0 ? pageLines(model, drawing, rows) : listLines(model, drawing, rows);
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
    const why = view.allRows().length > 0 ? 'No row has this text; Esc shows all again.' : screen.empty;
    const isUnknown = screen.load && view.loadedAt === undefined;
    const said = isUnknown ? 'Fetching …' : view.failure ? '' : why;
    return [...above, paint('dim', said)];
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

function pageLines(model: TuiModel, drawing: Drawing, height: number): string[] {
  const front = model.pages.at(-1);
  if (!front) return [];
  const lines = front.page.lines(drawing);
  model.pageRows = Math.max(1, height - 1);
  front.top = Math.max(0, Math.min(front.top, lines.length - height));
  const seen = lines.slice(front.top, front.top + height);
  const below = lines.length - front.top - seen.length;
  if (below > 0) seen[seen.length - 1] = drawing.paint('dim', `… ${below + 1} more lines`);
  return seen;
}

/** What is known of the selected row without asking. */
export function asideLines(model: TuiModel, drawing: Drawing): string[] {
  const { view } = model;
  const row = view.selected();
  if (row === undefined) return [];
  const inner = { ...drawing, width: drawing.width - 1 };
  return (view.screen.aside?.(row, inner) ?? []).map((line) => ` ${line}`);
}

/** Panes side by side, each as wide as it is told and all of one height. */
export function sideBySide(
  panes: { lines: string[]; width: number }[],
  height: number,
  bar: string,
): string[] {
  const seen = panes.filter(({ width }) => width > 0);
  return Array.from({ length: height }, (_, at) =>
    seen.map(({ lines, width }) => fitPainted(lines[at] ?? '', width)).join(bar),
  );
}
