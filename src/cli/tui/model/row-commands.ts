import type { Composition, Page } from '../screen.ts';
import { emptyEdit } from '../text/line-edit.ts';
import { jsonPage } from '../text/pages.ts';
import type { TuiModel } from './tui-model.ts';

/** Shows a page once it is fetched, unless something else is looked at by then. */
export function openFetched(model: TuiModel, row: unknown, fetch: () => Promise<Page>): void {
  const { view, pages } = model;
  const { front } = pages;
  model.attempt(async () => {
    const page = await fetch();
    if (model.view === view && pages.front === front) model.openPage(page, row);
  });
}

export function openRow(model: TuiModel): void {
  if (model.pane === 'screens') {
    model.pane = 'list';
    return;
  }
  const { view } = model;
  const row = view.selected();
  if (row === undefined || model.pages.front) return;
  openFetched(model, row, () => view.screen.open(row, model.options.services));
}

export function openConversation(model: TuiModel): void {
  const { screen } = model.view;
  const row = model.view.selected();
  const { conversation } = screen;
  if (!conversation || row === undefined || model.pages.front) {
    model.notice = 'There is no conversation here.';
    return;
  }
  openFetched(model, row, () => conversation(row, model.options.services));
}

export function showJson(model: TuiModel): void {
  const { screen } = model.view;
  const row = model.subject();
  if (row !== undefined) model.openPage(jsonPage(screen.idOf(row), screen.json(row)), row);
}

export function copyRow(model: TuiModel): void {
  const page = model.pageText();
  const row = model.subject();
  const text = page ?? (row === undefined ? undefined : model.view.screen.copyText(row));
  if (text !== undefined) copy(model, text);
}

export function copyCommand(model: TuiModel): void {
  const row = model.subject();
  const text = row === undefined ? undefined : model.view.screen.commandText?.(row);
  if (text === undefined) model.notice = 'There is no command for this.';
  else copy(model, text);
}

function copy(model: TuiModel, text: string): void {
  model.options.copy(text);
  const told = text.length > 40 ? `${text.length} characters` : text;
  model.notice = `Copied ${told}, if the terminal lets programs copy.`;
}

/** The API reference in the browser, at the selected row where it tells of such; its address where there is no browser. */
export function browse(model: TuiModel): void {
  const { view, options } = model;
  const row = model.subject();
  model.attempt(async () => {
    const place = row === undefined ? undefined : await view.screen.reference?.(row, options.services);
    const address = new URL(place ?? '/docs', options.baseUrl()).href;
    if (options.browse(address)) model.tell(`Opened ${address}`);
    else {
      options.copy(address);
      model.tell(`There is no browser here; copied ${address}`);
    }
  });
}

export function openComposition(model: TuiModel, composition: Composition<unknown> | undefined): void {
  const row = model.subject();
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
      else model.openPage(result, row);
      model.renewSoon();
      void model.refresh();
    },
  };
}

export function askRemoval(model: TuiModel): void {
  const { view } = model;
  const { remove } = view.screen;
  const { front } = model.pages;
  const rows = front ? [front.row] : view.chosen();
  if (!remove || rows.length === 0) {
    model.notice = 'There is nothing to remove here.';
    return;
  }
  const run = async () => {
    model.notice = await remove.run(rows, model.options.services);
    view.marks.clear();
    model.pages.clear();
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
