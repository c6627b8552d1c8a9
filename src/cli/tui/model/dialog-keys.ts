import { clean, editBy, editOf, insert, type LineEdit } from '../text/line-edit.ts';
import type { ConfirmDialog, Dialog, LineDialog } from './dialog.ts';
import type { TuiModel } from './tui-model.ts';

/** A key while a question or a line is open. Ctrl-C leaves it, as Escape does. */
export function pressInDialog(model: TuiModel, dialog: Dialog, key: string, input: string): void {
  if (key === 'escape' || key === 'ctrl-c' || key === 'ctrl-g') {
    if (dialog.kind === 'line') dialog.onCancel?.();
    model.dialog = undefined;
    return;
  }
  if (dialog.kind === 'confirm') pressInConfirm(model, dialog, key);
  else if (!dialog.isBusy) pressInLine(model, dialog, key, input);
}

function pressInConfirm(model: TuiModel, dialog: ConfirmDialog, key: string): void {
  if (/^(tab|shift-tab|left|right|h|l)$/.test(key)) dialog.isYes = !dialog.isYes;
  else if (key === 'n') model.dialog = undefined;
  else if (key === 'y' || (key === 'enter' && dialog.isYes)) {
    model.dialog = undefined;
    dialog.run();
  } else if (key === 'enter') model.dialog = undefined;
}

function pressInLine(model: TuiModel, dialog: LineDialog, key: string, input: string): void {
  if (key === 'enter') {
    submit(model, dialog);
    return;
  }
  const candidates = dialog.candidates?.(dialog.edit.text) ?? [];
  if (candidates.length > 0 && /^(up|down|ctrl-p|ctrl-n)$/.test(key)) {
    const by = key === 'down' || key === 'ctrl-n' ? 1 : -1;
    dialog.chosen = ((dialog.chosen ?? 0) + by + candidates.length) % candidates.length;
    return;
  }
  if (key === 'tab' && dialog.candidates) {
    const name = candidates[dialog.chosen ?? 0]?.name;
    if (name !== undefined) write(dialog, editOf(name));
    return;
  }
  const edited = editBy(dialog.edit, key, input);
  if (edited) write(dialog, edited);
}

function write(dialog: LineDialog, edit: LineEdit): void {
  if (edit.text !== dialog.edit.text) {
    dialog.chosen = 0;
    dialog.fault = undefined;
  }
  dialog.edit = { ...edit, killed: edit.killed || dialog.edit.killed };
  dialog.onChange?.(edit.text);
}

/** Text that was pasted: line ends become blanks, as there is one line. */
export function pasteInDialog(dialog: Dialog | undefined, text: string): void {
  if (dialog?.kind !== 'line' || dialog.isBusy) return;
  const line = clean(text)
    .replace(/[\n\t]+/g, ' ')
    .trim();
  write(dialog, insert(dialog.edit, line));
}

function submit(model: TuiModel, dialog: LineDialog): void {
  const close = () => {
    if (model.dialog === dialog) model.dialog = undefined;
    model.changed();
  };
  const tell = (error: unknown) => {
    dialog.isBusy = false;
    dialog.fault = model.options.explain(error);
    model.changed();
  };
  try {
    const { text } = dialog.edit;
    const work = dialog.submit(text, dialog.candidates?.(text)[dialog.chosen ?? 0]);
    if (work) {
      dialog.isBusy = true;
      work.then(close, tell);
    } else close();
  } catch (error) {
    tell(error);
  }
}
