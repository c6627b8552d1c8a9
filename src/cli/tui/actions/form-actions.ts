import type { Form } from '../screens/screen.ts';
import {
  checkNumbers,
  type FormDialog,
  focusedField,
  formDialog,
  isTouched,
  moveFocus,
  setField,
  showFault,
  valuesOf,
} from '../state/form.ts';
import type { TuiState } from '../state/tui-state.ts';
import { applyKey, editOf, insert } from '../text/line-edit.ts';
import { showResult } from './results.ts';

/** Opens a form for the row that is active. */
export function openForm(
  state: TuiState,
  { label, labelFor, needsRow, fields, submit }: Form<unknown>,
): void {
  const row = state.activeRow();
  const { front } = state.pages;
  state.dialog = formDialog({
    title: (row !== undefined && labelFor?.(row)) || label,
    fields: fields(row),
    async submit(values) {
      const result = await submit(values, state.options.services, row);
      return () => showResult(state, result, { front, row: needsRow ? row : undefined, reopen });
    },
  });
  const form = state.dialog;
  const reopen = (error?: unknown) => {
    form.isBusy = false;
    if (error !== undefined) showFault(form, error, state.options.explain);
    state.dialog = form;
  };
}

export function pressInForm(state: TuiState, form: FormDialog, key: string, input: string): void {
  if (form.isBusy) return;
  if (key === 'enter' || key === 'ctrl-s') submit(state, form);
  else if (/^(tab|down|ctrl-n)$/.test(key)) moveFocus(form, 1);
  else if (/^(shift-tab|up|ctrl-p)$/.test(key)) moveFocus(form, -1);
  else editField(form, key, input);
}

function editField(form: FormDialog, key: string, input: string): void {
  const field = focusedField(form);
  const before = field && form.edits.get(field.name);
  if (!field || !before) return;
  if (field.kind === 'choice') {
    const by = /^(right|space|l)$/.test(key) ? 1 : /^(left|h)$/.test(key) ? -1 : 0;
    const { choices = [] } = field;
    const at = choices.indexOf(before.text) + by + choices.length;
    setField(form, field, editOf(choices[at % choices.length] ?? before.text));
    return;
  }
  const edit = applyKey(before, key, input);
  if (edit) setField(form, field, { ...edit, killed: edit.killed || before.killed });
}

/** Pastes into the field that has the focus. */
export function pasteInForm(form: FormDialog, line: string): void {
  const field = focusedField(form);
  const edit = field && form.edits.get(field.name);
  if (field && edit && field.kind !== 'choice' && !form.isBusy) setField(form, field, insert(edit, line));
}

function submit(state: TuiState, form: FormDialog): void {
  form.isBusy = true;
  form.errors.clear();
  const work = async () => {
    checkNumbers(form);
    return await form.submit(valuesOf(form));
  };
  const close = (show: () => void) => {
    if (state.dialog === form) state.dialog = undefined;
    show();
    state.changed();
  };
  const fail = (error: unknown) => {
    form.isBusy = false;
    showFault(form, error, state.options.explain);
    // It may have been left meanwhile.
    state.dialog ??= form;
    state.changed();
  };
  work().then(close, fail);
}

/** Closes a form; asks first if something was typed into it that was not sent. */
export function leaveForm(state: TuiState, form: FormDialog): void {
  if (form.isBusy || !isTouched(form)) {
    state.dialog = undefined;
    return;
  }
  state.dialog = {
    kind: 'confirm',
    question: 'Discard what you typed?',
    verb: 'Discard',
    isYes: false,
    run() {},
    onCancel: () => {
      state.dialog = form;
    },
  };
}
