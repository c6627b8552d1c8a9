import type { Form, Prompt } from '../screens/screen.ts';
import { lineDialog } from '../state/dialog.ts';
import type { TuiState } from '../state/tui-state.ts';
import { editOf } from '../text/line-edit.ts';
import { openForm } from './form-actions.ts';
import { showResult } from './results.ts';

/** Asks for what an action takes: a line, or the fields of a form. */
export function startAction(state: TuiState, action: Prompt<unknown> | Form<unknown> | undefined): void {
  const row = state.activeRow();
  if (!action) state.notice = 'Not available here; press ? for the keys.';
  else if (action.needsRow && row === undefined) state.notice = 'No row is selected.';
  else if ('fields' in action) openForm(state, action);
  else openPrompt(state, action);
}

/** Runs an action with a line of the palette; one that takes only a form opens it. */
export async function runLine(
  state: TuiState,
  action: Prompt<unknown> | Form<unknown>,
  line: string,
): Promise<void> {
  if (!('fields' in action)) return runPrompt(state, action, line, state.activeRow());
  const { front } = state.pages;
  if (action.runLine && line !== '')
    showResult(state, await action.runLine(line, state.options.services), { front, row: undefined });
  else startAction(state, action);
}

function openPrompt(state: TuiState, prompt: Prompt<unknown>): void {
  const row = state.activeRow();
  state.dialog = lineDialog({
    label: (row !== undefined && prompt.labelFor?.(row)) || prompt.label,
    placeholder: prompt.placeholder,
    edit: editOf(prompt.initial?.(row) ?? ''),
    submit: (text) => runPrompt(state, prompt, text, row),
  });
}

/** Runs a prompt with its line and the row that was active when it was opened, and shows its result. */
async function runPrompt(
  state: TuiState,
  prompt: Prompt<unknown>,
  text: string,
  row: unknown,
): Promise<void> {
  const { front } = state.pages;
  const result = await prompt.run(text, state.options.services, row);
  // What was created is not the row that was selected.
  showResult(state, result, { front, row: prompt.needsRow ? row : undefined });
}
