import type { CommandName } from '../keys/bindings.ts';
import { lineDialog } from '../state/dialog.ts';
import { listCommands, type Pane, type TuiState } from '../state/tui-state.ts';
import { editOf } from '../text/line-edit.ts';
import { findConversation, openConversation, openNextUnread } from './conversation-actions.ts';
import { helpPage } from './help-page.ts';
import { openNeighbour, openSearch, seekNext, toggleFolds } from './page-actions.ts';
import { paletteDialog } from './palette.ts';
import {
  browse,
  confirmRemoval,
  copyCommand,
  copyRow,
  openPrompt,
  openRow,
  showJson,
} from './row-actions.ts';

/** Runs a command from a key or the palette. */
export function runCommand(state: TuiState, command: CommandName): void {
  const screen = /^screen-(\d+)$/.exec(command);
  if (screen) state.show(Number(screen[1]) - 1);
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
  'next-pane': (state) => changePane(state, 1),
  'previous-pane': (state) => changePane(state, -1),
  'next-tab': (state) => changeTab(state, 1),
  'previous-tab': (state) => changeTab(state, -1),
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
  compose: (state) => openPrompt(state, state.view.screen.compose),
  edit: (state) => openPrompt(state, state.view.screen.edit),
  reply: (state) => openPrompt(state, state.reply()),
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
  } else if (state.pane === 'screens') {
    state.show(Math.max(0, Math.min(state.views.length - 1, state.current + Math.sign(by))));
    state.pane = 'screens';
  } else if (Math.abs(by) === Number.POSITIVE_INFINITY) {
    state.view.select(by < 0 ? 0 : state.view.rows().length - 1);
  } else state.view.move(by);
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
}

const panes: Pane[] = ['list', 'preview', 'screens'];

function changePane(state: TuiState, by: number): void {
  const at = panes.indexOf(state.pane);
  state.pane = panes[(at + by + panes.length) % panes.length] ?? 'list';
}

function changeTab(state: TuiState, by: 1 | -1): void {
  const { view } = state;
  if (state.pages.front) {
    openNeighbour(state, by);
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
  const before = view.filter;
  state.dialog = lineDialog({
    label: '/',
    placeholder: 'text to show, !text to hide',
    edit: editOf(before),
    onChange: (text) => view.setFilter(text),
    submit: (text) => view.setFilter(text),
    onCancel: () => view.setFilter(before),
  });
}
