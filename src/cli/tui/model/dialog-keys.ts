import { clean, editBy, insert } from '../text/line-edit.ts';
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
  if (key === 'tab' && dialog.candidates) {
    const [first] = dialog.candidates(dialog.edit.text);
    const name = first?.split(' ')[0];
    if (name !== undefined) dialog.edit = { ...dialog.edit, text: name, cursor: name.length };
    return;
  }
  const edited = editBy(dialog.edit, key, input);
  if (!edited) return;
  dialog.edit = edited;
  dialog.fault = undefined;
  dialog.onChange?.(edited.text);
}

/** Text that was pasted: line ends become blanks, as there is one line. */
export function pasteInDialog(dialog: Dialog | undefined, text: string): void {
  if (dialog?.kind !== 'line' || dialog.isBusy) return;
  dialog.edit = insert(
    dialog.edit,
    clean(text)
      .replace(/[\n\t]+/g, ' ')
      .trim(),
  );
  dialog.onChange?.(dialog.edit.text);
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
    const work = dialog.submit(dialog.edit.text);
    if (work) {
      dialog.isBusy = true;
      work.then(close, tell);
    } else close();
  } catch (error) {
    tell(error);
  }
}
