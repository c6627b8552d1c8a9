import type { CommandName } from '../keys/bindings.ts';
import { lineDialog } from '../state/dialog.ts';
import type { ListView } from '../state/list-view.ts';
import { listCommands, type Pane, type TuiState } from '../state/tui-state.ts';
import { editOf } from '../text/line-edit.ts';
import { findConversation, openConversation, openNextUnread } from './conversation-actions.ts';
import { helpPage } from './help-page.ts';
import {
  changeForm,
  changePageTab,
  loadAtEnd,
  openNeighbour,
  openSearch,
  seekNext,
  toggleFolds,
} from './page-actions.ts';
import { paletteDialog } from './palette.ts';
import { startAction } from './prompts.ts';
import {
  browse,
  compareRows,
  confirmRemoval,
  copyCommand,
  copyCurl,
  copyRow,
  openRow,
  showJson,
} from './row-actions.ts';

/** Runs a command from a key or the palette. */
export function runCommand(state: TuiState, command: CommandName): void {
  const screen = /^screen-(\d+)$/.exec(command);
  if (screen) state.show(Number(screen[1]));
  else if (state.pages.front && listCommands.has(command))
    state.notice = 'That works in the list: press Esc first.';
  else actions[command]?.(state);
}

type Action = (state: TuiState) => void;

const actions: Partial<Record<CommandName, Action>> = {
  help: (state) => state.openPage(helpPage(state)),
  palette: (state) => {
    state.dialog = paletteDialog(state, (command) => runCommand(state, command));
  },
  filter: (state) => (state.pages.front ? openSearch(state, state.pages.front) : openFilter(state)),
  sort: (state) =>
    sortList(state, (view) => view.sortNext(state.listArea?.width ?? Number.POSITIVE_INFINITY)),
  'sort-reverse': (state) => sortList(state, (view) => view.reverseSort()),
  down: (state) => scroll(state, 1),
  up: (state) => scroll(state, -1),
  'page-down': (state) => scroll(state, state.pageRows),
  'page-up': (state) => scroll(state, -state.pageRows),
  top: (state) => scroll(state, Number.NEGATIVE_INFINITY),
  bottom: (state) => scroll(state, Number.POSITIVE_INFINITY),
  open: (state) => (state.pages.front ? toggleFolds(state, state.pages.front) : openRow(state)),
  back: goBack,
  go: (state) => {
    state.isGoing = true;
  },
  conversation: openConversation,
  'next-unread': openNextUnread,
  conversations: findConversation,
  'next-pane': (state) => (state.pages.front ? changeForm(state, state.pages.front) : changePane(state, 1)),
  'previous-pane': (state) => changePane(state, -1),
  'next-tab': (state) => changeTab(state, 1),
  'previous-tab': (state) => changeTab(state, -1),
  'next-row': (state) => openNeighbour(state, 1),
  'previous-row': (state) => openNeighbour(state, -1),
  'next-match': (state) => seekNext(state, 1),
  'previous-match': (state) => seekNext(state, -1),
  'zoom-in': (state) => {
    state.isZoomed = true;
  },
  'zoom-out': (state) => {
    state.isZoomed = false;
  },
  raw: showJson,
  copy: copyRow,
  'copy-command': copyCommand,
  compare: compareRows,
  'copy-curl': copyCurl,
  browse,
  refresh: (state) => {
    if (state.pages.front?.page.updates) void state.reloadPage();
    else void state.reload();
  },
  pause: (state) => state.view.togglePause(),
  mark: (state) => {
    // The key scrolls pages, as in pagers.
    if (state.pages.front) return scroll(state, state.pageRows);
    state.view.toggleMark();
    state.view.move(1);
  },
  compose: (state) => startAction(state, state.view.screen.compose),
  edit: (state) => startAction(state, state.view.screen.edit),
  reply: (state) => startAction(state, state.reply()),
  remove: confirmRemoval,
  log: (state) => state.show(state.views.findIndex(({ screen }) => screen.id === 'log')),
  redraw: (state) => state.options.redraw(),
  suspend: (state) => state.options.suspend(),
  quit: (state) => state.options.quit(),
};

/** Scrolls the front page, or moves the selection. */
function scroll(state: TuiState, by: number): void {
  const { front } = state.pages;
  if (front) {
    // The end of the page is only known when it is rendered.
    front.top = Math.max(0, front.top + Math.max(-1e6, Math.min(1e6, by)));
    front.isMoved = true;
    if (by < 0) front.isAtEnd = false;
    else loadAtEnd(state, front);
  } else if (state.pane === 'screens') {
    state.show(Math.max(0, Math.min(state.views.length - 1, state.current + Math.sign(by))));
    state.pane = 'screens';
  } else if (Math.abs(by) === Number.POSITIVE_INFINITY) {
    state.view.select(by < 0 ? 0 : state.view.rows().length - 1);
    if (by > 0) findMore(state);
  } else {
    state.view.move(by);
    if (by > 0) findMore(state);
  }
}

/** Sorts the list; what was found is asked for again, as other calls can come first then. */
export function sortList(state: TuiState, sort: (view: ListView) => void): void {
  sort(state.view);
  if (state.view.found) void state.reload();
}

/** Fetches the next page of what was found once the last row is reached. */
function findMore(state: TuiState): void {
  const { view } = state;
  const { found } = view;
  if (!found || found.next === null || view.index() < view.rows().length - 1) return;
  state.attempt(async () => {
    await view.find(found.query, { isNext: true });
    state.changed();
  });
}

/** Undoes one step: a search, a page, another pane, the zoom, the marks, the filter. Never quits. */
function goBack(state: TuiState): void {
  const { view } = state;
  const { front } = state.pages;
  if (front?.search) {
    front.search = undefined;
    // What was found may be in a fold.
    front.isUnfolded = true;
    return;
  }
  if (state.pages.pop()) return;
  if (state.pane !== 'list') state.pane = 'list';
  else if (state.isZoomed) state.isZoomed = false;
  else if (view.marks.size > 0) view.marks.clear();
  else if (view.filter !== '') view.setFilter('');
  else if (view.found) {
    view.leaveFound();
    view.select(0);
  } else view.sort = undefined;
}

const panes: Pane[] = ['list', 'preview', 'screens'];

function changePane(state: TuiState, by: number): void {
  const at = panes.indexOf(state.pane);
  state.pane = panes[(at + by + panes.length) % panes.length] ?? 'list';
}

function changeTab(state: TuiState, by: 1 | -1): void {
  const { view } = state;
  const { front } = state.pages;
  if (front) {
    if (front.page.tabs) changePageTab(state, front, by);
    else openNeighbour(state, by);
    return;
  }
  const { tabs } = view.screen;
  if (tabs) {
    view.setTab((view.tab + by + tabs.length) % tabs.length);
    void state.reload();
  } else state.show((state.current + by + state.views.length) % state.views.length);
}

function openFilter(state: TuiState): void {
  const { view } = state;
  const { filter: before, found } = view;
  const { find } = view.screen;
  const isQuery = (text: string) => find?.isQuery(text) === true;
  state.dialog = lineDialog({
    label: '/',
    placeholder: find
      ? 'text to show, or a query: status:failed model:gpt-5 >4s since:2h'
      : 'text to show, !text to hide',
    edit: editOf(before || (found?.query ?? '')),
    // A query is asked once it is complete.
    onChange: (text) => view.setFilter(isQuery(text) ? '' : text),
    submit(text) {
      if (!isQuery(text)) {
        if (text.trim() === '') view.leaveFound();
        view.setFilter(text);
        return undefined;
      }
      return view.find(text.trim()).then(() => view.setFilter(''));
    },
    onCancel: () => view.setFilter(before),
  });
}
