import type { CommandName } from '../keys/command-names.ts';
import { editOf } from '../text/line-edit.ts';
import { helpPage } from './help-page.ts';
import { paletteDialog } from './palette.ts';
import {
  askRemoval,
  browse,
  copyCommand,
  copyRow,
  openComposition,
  openConversation,
  openRow,
  showJson,
} from './row-commands.ts';
import { openNextUnread, pickConversation } from './talk-commands.ts';
import type { Pane, TuiModel } from './tui-model.ts';

/** Does what a key or the palette asks for. */
export function runCommand(model: TuiModel, command: CommandName): void {
  const screen = /^screen-(\d)$/.exec(command);
  if (screen) model.show(Number(screen[1]) - 1);
  else actions[command]?.(model);
}

type Action = (model: TuiModel) => void;

const actions: Partial<Record<CommandName, Action>> = {
  help: (model) => model.openPage(helpPage(model)),
  palette: (model) => {
    model.dialog = paletteDialog(model);
  },
  filter: openFilter,
  down: (model) => scroll(model, 1),
  up: (model) => scroll(model, -1),
  'page-down': (model) => scroll(model, model.pageRows),
  'page-up': (model) => scroll(model, -model.pageRows),
  top: (model) => scroll(model, Number.NEGATIVE_INFINITY),
  bottom: (model) => scroll(model, Number.POSITIVE_INFINITY),
  open: openRow,
  back: goBack,
  go: (model) => {
    model.isGoing = true;
  },
  conversation: openConversation,
  'next-unread': openNextUnread,
  conversations: pickConversation,
  'next-pane': (model) => changePane(model, 1),
  'previous-pane': (model) => changePane(model, -1),
  'next-tab': (model) => changeTab(model, 1),
  'previous-tab': (model) => changeTab(model, -1),
  'zoom-in': (model) => {
    model.isZoomed = true;
  },
  'zoom-out': (model) => {
    model.isZoomed = false;
  },
  raw: showJson,
  copy: copyRow,
  'copy-command': copyCommand,
  browse,
  refresh: (model) => {
    if (model.pages.front?.page.life) void model.renew();
    else void model.refresh();
  },
  pause: (model) => model.view.togglePause(),
  mark: (model) => {
    model.view.toggleMark();
    model.view.move(1);
  },
  compose: (model) => openComposition(model, model.view.screen.compose),
  edit: (model) => openComposition(model, model.view.screen.edit),
  reply: (model) => openComposition(model, model.reply()),
  remove: askRemoval,
  log: (model) => model.showNamed('log'),
  redraw: (model) => model.options.redraw(),
  suspend: (model) => model.options.suspend(),
  quit: (model) => model.options.quit(),
};

/** Scrolls the page in front, or selects another row or screen. */
function scroll(model: TuiModel, by: number): void {
  const { front } = model.pages;
  if (front) {
    // Where a page ends is known when it is drawn.
    front.top = Math.max(0, front.top + Math.max(-1e6, Math.min(1e6, by)));
    if (by < 0) front.isAtEnd = false;
  } else if (model.pane === 'screens') {
    const to = Math.max(0, Math.min(model.views.length - 1, model.current + Math.sign(by)));
    model.show(to);
    model.pane = 'screens';
  } else if (Math.abs(by) === Number.POSITIVE_INFINITY) {
    model.view.select(by < 0 ? 0 : model.view.rows().length - 1);
  } else model.view.move(by);
}

/** One step back: a page, the filter, the marks, another pane. Never out of the program. */
function goBack(model: TuiModel): void {
  const { view } = model;
  if (model.pages.pop()) return;
  if (model.pane !== 'list') model.pane = 'list';
  else if (model.isZoomed) model.isZoomed = false;
  else if (view.marks.size > 0) view.marks.clear();
  else if (view.filter !== '') view.setFilter('');
}

const panes: Pane[] = ['list', 'aside', 'screens'];

function changePane(model: TuiModel, by: number): void {
  const at = panes.indexOf(model.pane);
  model.pane = panes[(at + by + panes.length) % panes.length] ?? 'list';
}

function changeTab(model: TuiModel, by: number): void {
  const { view } = model;
  const { tabs } = view.screen;
  if (tabs) {
    view.setTab((view.tab + by + tabs.length) % tabs.length);
    void model.refresh();
  } else model.show((model.current + by + model.views.length) % model.views.length);
}

function openFilter(model: TuiModel): void {
  const { view } = model;
  const before = view.filter;
  model.dialog = {
    kind: 'line',
    label: '/',
    hint: 'text that rows must hold; ! in front: must not',
    edit: editOf(before),
    fault: undefined,
    isBusy: false,
    onChange: (text) => view.setFilter(text),
    submit: (text) => view.setFilter(text),
    onCancel: () => view.setFilter(before),
  };
}
