import { count } from '../../../view/numbers.ts';
import { jsonPage } from '../screens/pages.ts';
import type { Page } from '../screens/screen.ts';
import { formOf, type OpenPage, tabOf } from '../state/page-stack.ts';
import type { TuiState } from '../state/tui-state.ts';

/** Opens what a row shows once it is fetched, unless the user has moved on by then. */
export function openFetched(state: TuiState, row: unknown, fetch: () => Promise<Page>): void {
  const { view, pages } = state;
  const { front } = pages;
  state.attempt(async () => {
    const page = await fetch();
    if (state.view === view && pages.front === front) state.openPage(page, row, { isOfRow: true });
  });
}

/** Goes to a screen with the rows of a query. */
function showFound(state: TuiState, { screen, query }: { screen: string; query: string }): void {
  const index = state.views.findIndex((view) => view.screen.id === screen);
  const view = state.views[index];
  if (!view) return;
  state.show(index);
  state.notice = 'Searching…';
  state.attempt(async () => {
    await view.find(query);
    view.setFilter('');
    state.notice = undefined;
    state.changed();
  });
}

export function openRow(state: TuiState): void {
  if (state.pane === 'screens') {
    state.pane = 'list';
    return;
  }
  const { view } = state;
  const row = view.selected();
  if (row === undefined || state.pages.front) return;
  const target = view.screen.leadsTo?.(row, view.tab);
  if (target) {
    showFound(state, target);
    return;
  }
  openFetched(state, row, () => view.screen.open(row, state.options.services));
}

/** Opens what differs between the two marked rows, or between this row and the one before it. */
export function compareRows(state: TuiState): void {
  const { view, pages } = state;
  const { compare } = view.screen;
  const { front } = pages;
  const rows = front ? [front.row].filter((row) => row !== undefined) : view.targets();
  if (!compare || rows.length === 0) state.notice = 'There is nothing to compare here.';
  else if (rows.length > 2) state.notice = `Mark two rows to compare them; ${rows.length} are marked.`;
  else {
    state.attempt(async () => {
      const page = await compare(rows, state.options.services);
      if (state.view === view && pages.front === front) state.openPage(page, rows[0]);
    });
  }
}

export function showJson(state: TuiState): void {
  const { screen } = state.view;
  const row = state.activeRow();
  if (row !== undefined) state.openPage(jsonPage(screen.idOf(row), screen.json(row)), row);
}

/** Copies the front page, or else the ID or text of the row. */
export function copyRow(state: TuiState): void {
  const { front } = state.pages;
  const row = state.activeRow();
  if (front) copy(state, textOfPage(front, state));
  else if (row !== undefined) copy(state, state.view.screen.copyText(row));
}

function textOfPage(front: OpenPage, state: TuiState): string {
  const { page } = front;
  const tab = tabOf(front);
  const lines = () => (tab ?? page).lines({ ...state.textOptions(), form: formOf(front) }).join('\n');
  return tab ? (tab.copy?.() ?? lines()) : (page.copy ?? lines());
}

/** Copies the call of the front page as a curl command. */
export function copyCurl(state: TuiState): void {
  const { front } = state.pages;
  if (!front?.page.curl) state.notice = 'This is no call that curl can repeat.';
  else {
    state.attempt(async () => {
      copy(state, (await front.page.curl?.()) ?? '');
      state.changed();
    });
  }
}

export function copyCommand(state: TuiState): void {
  const row = state.activeRow();
  const text = row === undefined ? undefined : state.view.screen.commandText?.(row);
  if (text === undefined) state.notice = 'There is no gateway command for this.';
  else copy(state, text);
}

function copy(state: TuiState, text: string): void {
  if (!state.options.copy(text)) {
    state.notice = `This is too long for the clipboard of a terminal (${count(text.length)} characters).`;
    return;
  }
  const shown = text.length > 40 ? `${text.length} characters` : text;
  state.notice = `Copied ${shown} (if the terminal supports OSC 52).`;
}

/** Opens the API reference in the browser, at the row if possible; without a browser, copies the address. */
export function browse(state: TuiState): void {
  const { view, options } = state;
  const row = state.activeRow();
  state.attempt(async () => {
    const path = row === undefined ? undefined : await view.screen.reference?.(row, options.services);
    const address = new URL(path ?? '/docs', options.baseUrl()).href;
    if (await options.browse(address)) state.notify(`Opened ${address}`);
    else {
      options.copy(address);
      state.notify(`No browser found; copied ${address}`);
    }
  });
}

export function confirmRemoval(state: TuiState): void {
  const { view } = state;
  const { remove } = view.screen;
  const { front } = state.pages;
  const chosen = front ? [front.row].filter((row) => row !== undefined) : view.targets();
  const rows = chosen.filter((row) => remove?.isPossible?.(row) ?? true);
  if (!remove || rows.length === 0) {
    state.notice = `There is nothing to ${remove?.verb.toLowerCase() ?? 'remove'} here.`;
    return;
  }
  const run = async () => {
    state.notice = await remove.run(rows, state.options.services);
    view.marks.clear();
    state.pages.clear();
    await state.reload();
  };
  state.dialog = {
    kind: 'confirm',
    question: remove.question(rows),
    verb: remove.verb,
    isYes: false,
    run: () => state.attempt(run),
  };
}
