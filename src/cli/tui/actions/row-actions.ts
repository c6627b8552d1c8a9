import { jsonPage } from '../screens/pages.ts';
import type { Page, Prompt, Question } from '../screens/screen.ts';
import { lineDialog } from '../state/dialog.ts';
import type { TuiState } from '../state/tui-state.ts';
import { editOf } from '../text/line-edit.ts';

/** Opens what a row shows once it is fetched, unless the user has moved on by then. */
export function openFetched(state: TuiState, row: unknown, fetch: () => Promise<Page>): void {
  const { view, pages } = state;
  const { front } = pages;
  state.attempt(async () => {
    const page = await fetch();
    if (state.view === view && pages.front === front) state.openPage(page, row, { isOfRow: true });
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
  openFetched(state, row, () => view.screen.open(row, state.options.services));
}

export function showJson(state: TuiState): void {
  const { screen } = state.view;
  const row = state.activeRow();
  if (row !== undefined) state.openPage(jsonPage(screen.idOf(row), screen.json(row)), row);
}

/** Copies the front page, or else the ID or text of the row. */
export function copyRow(state: TuiState): void {
  const page = state.pages.front?.page;
  const row = state.activeRow();
  if (page) copy(state, page.copy ?? page.lines(state.textOptions()).join('\n'));
  else if (row !== undefined) copy(state, state.view.screen.copyText(row));
}

export function copyCommand(state: TuiState): void {
  const row = state.activeRow();
  const text = row === undefined ? undefined : state.view.screen.commandText?.(row);
  if (text === undefined) state.notice = 'There is no gateway command for this.';
  else copy(state, text);
}

function copy(state: TuiState, text: string): void {
  state.options.copy(text);
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
    if (options.browse(address)) state.notify(`Opened ${address}`);
    else {
      options.copy(address);
      state.notify(`No browser found; copied ${address}`);
    }
  });
}

export function openPrompt(state: TuiState, prompt: Prompt<unknown> | undefined): void {
  const row = state.activeRow();
  if (!prompt) {
    state.notice = 'Not available here; press ? for the keys.';
    return;
  }
  if (prompt.needsRow && row === undefined) {
    state.notice = 'No row is selected.';
    return;
  }
  state.dialog = lineDialog({
    label: (row !== undefined && prompt.labelFor?.(row)) || prompt.label,
    placeholder: prompt.placeholder,
    edit: editOf(prompt.initial?.(row) ?? ''),
    submit: (text) => runPrompt(state, prompt, text, row),
  });
}

/** Runs a prompt with its line and the row that was active when it was opened, and shows its result. */
export async function runPrompt(
  state: TuiState,
  prompt: Prompt<unknown>,
  text: string,
  row: unknown,
): Promise<void> {
  const { front } = state.pages;
  const result = await prompt.run(text, state.options.services, row);
  if (typeof result === 'string') {
    state.notice = result;
    if (front) front.isMoved = false;
  } else if ('question' in result) ask(state, result);
  // What was created is not the row that was selected.
  else state.openPage(result, prompt.needsRow ? row : undefined);
  state.reloadPageSoon();
  void state.reload();
}

/** Shows the page of a question, and replaces it by the result once the user agrees. */
function ask(state: TuiState, { page, question, verb, progress, run }: Question): void {
  const opened = state.openPage(page);
  const close = () => {
    if (state.pages.front === opened) state.pages.pop();
  };
  const proceed = async () => {
    try {
      const result = await run();
      const isShown = state.pages.front === opened;
      close();
      if (typeof result === 'string') state.notify(result);
      else if (isShown) state.openPage(result);
      else state.notify(`${result.title}.`);
    } catch (error) {
      close();
      throw error;
    } finally {
      void state.reload();
    }
  };
  state.dialog = {
    kind: 'confirm',
    question,
    verb,
    isYes: false,
    onCancel: close,
    run() {
      state.notice = progress;
      state.attempt(proceed);
    },
  };
}

export function confirmRemoval(state: TuiState): void {
  const { view } = state;
  const { remove } = view.screen;
  const { front } = state.pages;
  const rows = front ? [front.row].filter((row) => row !== undefined) : view.targets();
  if (!remove || rows.length === 0) {
    state.notice = 'There is nothing to remove here.';
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
