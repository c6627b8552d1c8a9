import type { Page, Question } from '../screens/screen.ts';
import type { OpenPage } from '../state/page-stack.ts';
import type { TuiState } from '../state/tui-state.ts';

interface ResultOptions {
  /** The page that was in front when it was asked for. */
  front: OpenPage | undefined;
  /** The row that a page is about. */
  row: unknown;
  /** Opens the form again that led to a question, if the user does not agree or it fails. */
  reopen?: Reopen;
}

type Reopen = (error?: unknown) => void;

/** Shows what an action led to. */
export function showResult(
  state: TuiState,
  result: Page | Question | string,
  { front, row, reopen }: ResultOptions,
): void {
  if (typeof result === 'string') {
    state.notice = result;
    if (front) front.isMoved = false;
  } else if ('question' in result) ask(state, result, reopen);
  else state.openPage(result, row);
  state.reloadPageSoon();
  void state.reload();
}

/** Shows the page of a question, and replaces it by the result once the user agrees. */
function ask(
  state: TuiState,
  { page, question, verb, progress, run }: Question,
  reopen: Reopen | undefined,
): void {
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
      if (!reopen) throw error;
      state.notice = undefined;
      reopen(error);
      state.changed();
    } finally {
      void state.reload();
    }
  };
  state.dialog = {
    kind: 'confirm',
    question,
    verb,
    isYes: false,
    onCancel() {
      close();
      reopen?.();
    },
    run() {
      state.notice = progress;
      state.attempt(proceed);
    },
  };
}
