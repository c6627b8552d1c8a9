import { commandOf } from '../keys/bindings.ts';
import type { ConfirmDialog, Dialog, LineDialog } from '../state/dialog.ts';
import type { TuiState } from '../state/tui-state.ts';
import { applyKey, editOf, insert, type LineEdit, withoutControls } from '../text/line-edit.ts';
import { leaveForm, pasteInForm, pressInForm } from './form-actions.ts';
import { runCommand } from './run-command.ts';

/** Handles one key by its name; `input` is the text that it types. */
export function pressKey(state: TuiState, key: string, input: string): void {
  state.notice = undefined;
  if (state.dialog) pressInDialog(state, state.dialog, key, input);
  else if (state.isGoing) goToLetter(state, key);
  else {
    const command = commandOf(state.options.bindings, state.view.screen.id, key);
    if (command) runCommand(state, command);
  }
  state.changed();
}

function goToLetter(state: TuiState, key: string): void {
  state.isGoing = false;
  const index = state.views.findIndex(({ screen }) => screen.letter === key);
  if (index >= 0) state.show(index);
  else if (key !== 'escape') state.notice = `No screen has the letter ${key}.`;
}

function pressInDialog(state: TuiState, dialog: Dialog, key: string, input: string): void {
  if (key === 'escape' || key === 'ctrl-c' || key === 'ctrl-g') {
    if (dialog.kind === 'form') leaveForm(state, dialog);
    else cancel(state, dialog);
    return;
  }
  if (dialog.kind === 'confirm') pressInConfirm(state, dialog, key);
  else if (dialog.kind === 'form') pressInForm(state, dialog, key, input);
  else if (!dialog.isBusy) pressInLine(state, dialog, key, input);
}

function cancel(state: TuiState, dialog: LineDialog | ConfirmDialog): void {
  state.dialog = undefined;
  dialog.onCancel?.();
}

function pressInConfirm(state: TuiState, dialog: ConfirmDialog, key: string): void {
  if (/^(tab|shift-tab|left|right|h|l)$/.test(key)) dialog.isYes = !dialog.isYes;
  else if (key === 'n') cancel(state, dialog);
  else if (key === 'y' || (key === 'enter' && dialog.isYes)) {
    state.dialog = undefined;
    dialog.run();
  } else if (key === 'enter') cancel(state, dialog);
}

function pressInLine(state: TuiState, dialog: LineDialog, key: string, input: string): void {
  if (key === 'enter') {
    submit(state, dialog);
    return;
  }
  const candidates = dialog.candidates?.(dialog.edit.text) ?? [];
  if (candidates.length > 0 && /^(up|down|ctrl-p|ctrl-n)$/.test(key)) {
    const by = key === 'down' || key === 'ctrl-n' ? 1 : -1;
    dialog.highlighted = ((dialog.highlighted ?? 0) + by + candidates.length) % candidates.length;
    return;
  }
  if (key === 'tab' && dialog.candidates) {
    const name = candidates[dialog.highlighted ?? 0]?.name;
    if (name !== undefined) setEdit(dialog, editOf(name));
    return;
  }
  const edited = applyKey(dialog.edit, key, input);
  if (edited) setEdit(dialog, edited);
}

function setEdit(dialog: LineDialog, edit: LineEdit): void {
  if (edit.text !== dialog.edit.text) {
    dialog.highlighted = 0;
    dialog.error = undefined;
  }
  dialog.edit = { ...edit, killed: edit.killed || dialog.edit.killed };
  dialog.onChange?.(edit.text);
}

/** Pastes into the input line or the field, as a single line. */
export function pasteText(state: TuiState, text: string): void {
  const { dialog } = state;
  const line = withoutControls(text)
    .replace(/[\n\t]+/g, ' ')
    .trim();
  if (dialog?.kind === 'form') pasteInForm(dialog, line);
  else if (dialog?.kind === 'line' && !dialog.isBusy) setEdit(dialog, insert(dialog.edit, line));
  state.changed();
}

function submit(state: TuiState, dialog: LineDialog): void {
  const close = () => {
    if (state.dialog === dialog) state.dialog = undefined;
    state.changed();
  };
  const fail = (error: unknown) => {
    dialog.isBusy = false;
    dialog.error = state.options.explain(error);
    state.changed();
  };
  try {
    const { text } = dialog.edit;
    const work = dialog.submit(text, dialog.candidates?.(text)[dialog.highlighted ?? 0]);
    if (work) {
      dialog.isBusy = true;
      work.then(close, fail);
    } else close();
  } catch (error) {
    fail(error);
  }
}
