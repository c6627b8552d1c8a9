import { lineDialog } from '../state/dialog.ts';
import { formOf, type OpenPage, tabOf } from '../state/page-stack.ts';
import type { TuiState } from '../state/tui-state.ts';
import { linesWith, nextMatch } from '../text/find-in-lines.ts';
import { editOf } from '../text/line-edit.ts';

/** Opens the row after or before that of the front page in its place. */
export function openNeighbour(state: TuiState, by: 1 | -1): void {
  const { view, pages } = state;
  const { front } = pages;
  if (!front?.isOfRow) {
    state.notice = 'Press Esc to leave this page.';
    return;
  }
  const rows = view.rows();
  const at = rows.findIndex((row) => view.screen.idOf(row) === view.screen.idOf(front.row));
  const row = at < 0 ? undefined : rows[at + by];
  if (row === undefined) {
    state.notice = by > 0 ? 'This is the last row.' : 'This is the first row.';
    return;
  }
  view.select(at + by);
  state.attempt(async () => {
    const page = await view.screen.open(row, state.options.services);
    if (pages.front !== front) return;
    pages.pop();
    const opened = state.openPage(page, row, { isOfRow: true });
    if (page.tabs) state.showTab(opened, front.tab, front.form);
  });
}

/** Shows the tab after or before the present one. */
export function changePageTab(state: TuiState, front: OpenPage, by: 1 | -1): void {
  const { length } = front.page.tabs ?? [];
  state.showTab(front, (front.tab + by + length) % length);
}

/** Shows the tab in its next form. */
export function changeForm(state: TuiState, front: OpenPage): void {
  if (tabOf(front)?.forms) state.showTab(front, front.tab, front.form + 1);
}

/** Fetches more of the page if its end is on the screen. */
export function loadAtEnd(state: TuiState, front: OpenPage): void {
  const { rendered, top } = front;
  if (!rendered || top + state.pageRows < rendered.lines.length - 1) return;
  const loading = tabOf(front)?.more?.({ form: formOf(front) });
  if (loading) state.refreshAfter(front, loading);
}

/** Searches the page while the text is typed. */
export function openSearch(state: TuiState, front: OpenPage): void {
  const { search: before, top } = front;
  const seek = (text: string) => {
    front.search = text === '' ? undefined : { text, seek: { from: top, by: 1 }, line: undefined };
    if (text === '') front.top = top;
  };
  state.dialog = lineDialog({
    label: '/',
    placeholder: 'text on this page',
    edit: editOf(before?.text ?? ''),
    onChange: seek,
    submit() {},
    onCancel() {
      front.search = before;
      front.top = top;
    },
  });
}

export function seekNext({ pages: { front } }: TuiState, by: 1 | -1): void {
  if (!front?.search) return;
  const { search, rendered } = front;
  const matches = linesWith(rendered?.lines ?? [], search.text);
  search.line = nextMatch(matches, { from: (search.line ?? -1) + by, by });
  if (search.line !== undefined) search.seek = { from: search.line, by };
}

/** Shows what the page folds, or folds it again. */
export function toggleFolds(state: TuiState, front: OpenPage): void {
  if (!state.isAvailable('open')) return;
  front.isUnfolded = !front.isUnfolded;
  // From its beginning, as that is where the folded part is.
  front.isMoved = true;
  front.top = 0;
}
