import type { CommandName } from '../keys/command-names.ts';
import type { Composition } from '../screen.ts';
import { editOf, emptyEdit } from '../text/line-edit.ts';
import { jsonPage } from '../text/pages.ts';
import { helpPage } from './help-page.ts';
import { paletteDialog } from './palette.ts';
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
  raw: (model) => {
    const { view } = model;
    const row = view.selected();
    if (row !== undefined) model.openPage(jsonPage(view.screen.idOf(row), view.screen.json(row)));
  },
  copy: copyRow,
  'copy-command': (model) => {
    const row = model.view.selected();
    const text = row === undefined ? undefined : model.view.screen.commandText?.(row);
    if (text === undefined) model.notice = 'There is no command for this.';
    else copy(model, text);
  },
  refresh: (model) => void model.refresh(),
  pause: (model) => model.view.togglePause(),
  mark: (model) => {
    model.view.toggleMark();
    model.view.move(1);
  },
  compose: (model) => openComposition(model, model.view.screen.compose),
  edit: (model) => openComposition(model, model.view.screen.edit),
  reply: (model) => openComposition(model, model.view.screen.reply),
  remove: askRemoval,
  log: (model) => model.showNamed('log'),
  redraw: (model) => model.options.redraw(),
  suspend: (model) => model.options.suspend(),
  quit: (model) => model.options.quit(),
};

function scroll(model: TuiModel, by: number): void {
  const front = model.pages.at(-1);
  if (front) front.top = Math.max(0, front.top + Math.max(-1e6, Math.min(1e6, by)));
  else if (model.pane === 'screens') {
    const to = Math.max(0, Math.min(model.views.length - 1, model.current + Math.sign(by)));
    model.show(to);
    model.pane = 'screens';
  } else if (Math.abs(by) === Number.POSITIVE_INFINITY) {
    model.view.select(by < 0 ? 0 : model.view.rows().length - 1);
  } else model.view.move(by);
}

function openRow(model: TuiModel): void {
  if (model.pane === 'screens') {
    model.pane = 'list';
    return;
  }
  const { view } = model;
  const row = view.selected();
  if (row === undefined || model.pages.length > 0) return;
  model.attempt(async () => model.openPage(await view.screen.open(row, model.options.services)));
}

/** One step back: a page, the filter, the marks, another pane. Never out of the program. */
function goBack(model: TuiModel): void {
  const { view } = model;
  if (model.pages.length > 0) model.pages.pop();
  else if (model.pane !== 'list') model.pane = 'list';
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

function copyRow(model: TuiModel): void {
  const page = model.pageText();
  const row = model.view.selected();
  const text = page ?? (row === undefined ? undefined : model.view.screen.copyText(row));
  if (text !== undefined) copy(model, text);
}

function copy(model: TuiModel, text: string): void {
  model.options.copy(text);
  const told = text.length > 40 ? `${text.length} characters` : text;
  model.notice = `Copied ${told}, if the terminal lets programs copy.`;
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

function openComposition(model: TuiModel, composition: Composition<unknown> | undefined): void {
  const row = model.view.selected();
  if (!composition) {
    model.notice = 'That cannot be done here; ? tells what can.';
    return;
  }
  if (composition.needsRow && row === undefined) {
    model.notice = 'Nothing is selected.';
    return;
  }
  model.dialog = {
    kind: 'line',
    label: composition.label,
    hint: composition.hint,
    edit: emptyEdit,
    fault: undefined,
    isBusy: false,
    async submit(text) {
      const result = await composition.run(text, model.options.services, row);
      if (typeof result === 'string') model.notice = result;
      else model.openPage(result);
      void model.refresh();
    },
  };
}

function askRemoval(model: TuiModel): void {
  const { view } = model;
  const { remove } = view.screen;
  const rows = view.chosen();
  if (!remove || rows.length === 0) {
    model.notice = 'There is nothing to remove here.';
    return;
  }
  const run = async () => {
    model.notice = await remove.run(rows, model.options.services);
    view.marks.clear();
    await model.refresh();
  };
  model.dialog = {
    kind: 'confirm',
    question: remove.question(rows),
    verb: remove.verb,
    isYes: false,
    run: () => model.attempt(run),
  };
}
