import { escapeCell } from '../../output/escape-controls.ts';
import { cutToWidth, widthOf } from '../../output/width.ts';
import { wrapLine } from '../../output/wrap-line.ts';
import { type FormDialog, shownFields } from '../state/form.ts';
import { fitPainted } from '../text/cells.ts';
import { editWindow } from '../text/edit-window.ts';
import type { Field } from '../text/form-field.ts';
import type { RenderOptions } from '../text/render-options.ts';

interface FormLines {
  lines: string[];
  /** Undefined where nothing is typed. */
  cursor: { line: number; column: number } | undefined;
}

/** Longer labels are cut. */
const labelMax = 24;
const errorLinesMax = 3;

/** A form: its title, a line for each field, and why it was refused. Of more fields than fit, those around the focus. */
export function formLines(form: FormDialog, options: RenderOptions): FormLines {
  const { width, height = Number.POSITIVE_INFINITY, paint } = options;
  const fields = shownFields(form);
  const labelWidth = Math.min(labelMax, Math.max(0, ...fields.map(({ label }) => widthOf(label))));
  const whole = errorLines(form.errors.get(''), 0, options);
  const title = fitPainted(paint('bold', escapeCell(form.title)) + (form.isBusy ? ' …' : ''), width);
  const lines: string[] = [];
  let focus = { line: 0, column: undefined as number | undefined };
  for (const field of fields) {
    const isFocused = field.name === form.focus;
    const shown = fieldLine(form, field, { ...options, isFocused, labelWidth });
    if (isFocused) focus = { line: lines.length, column: shown.cursor };
    lines.push(shown.line, ...errorLines(form.errors.get(field.name), labelWidth + 4, options));
  }
  const room = Math.max(1, height - 1 - whole.length);
  // With the line after it, where there is room for both.
  const after = Math.min(2, room);
  const top = Math.max(0, Math.min(focus.line - room + after, lines.length - room));
  const isTyped = focus.column !== undefined && !form.isBusy;
  return {
    lines: [title, ...lines.slice(top, top + room), ...whole],
    cursor: isTyped ? { line: 1 + focus.line - top, column: focus.column ?? 0 } : undefined,
  };
}

function errorLines(error: string | undefined, indent: number, { width, paint }: RenderOptions): string[] {
  if (error === undefined) return [];
  const wrapped = wrapLine(`! ${escapeCell(error)}`, Math.max(10, width - indent));
  return wrapped
    .slice(0, errorLinesMax)
    .map((line) => fitPainted(' '.repeat(indent) + paint('red', line), width));
}

interface FieldOptions extends RenderOptions {
  isFocused: boolean;
  labelWidth: number;
}

function fieldLine(
  { edits }: FormDialog,
  field: Field,
  { width, paint, isFocused, labelWidth }: FieldOptions,
): { line: string; cursor: number | undefined } {
  const label = cutToWidth(field.label, labelWidth);
  const start = `${isFocused ? '❯' : ' '} ${label}${' '.repeat(labelWidth - widthOf(label))}  `;
  const before = isFocused ? paint('bold', start) : start;
  const edit = edits.get(field.name);
  if (!edit) return { line: fitPainted(before, width), cursor: undefined };
  if (field.kind === 'choice') {
    const chosen = (choice: string) => (isFocused ? paint('inverse', `[${choice}]`) : `[${choice}]`);
    const choices = (field.choices ?? []).map((choice) =>
      choice === edit.text ? chosen(choice) : paint('dim', ` ${choice} `),
    );
    return { line: fitPainted(before + choices.join(' '), width), cursor: undefined };
  }
  const shownEdit = field.kind === 'hidden' ? { ...edit, text: '•'.repeat(edit.text.length) } : edit;
  const { text, cursor } = editWindow(shownEdit, width - widthOf(start) - 1);
  const shown = edit.text === '' ? paint('dim', field.placeholder ?? '') : text;
  return { line: fitPainted(before + shown, width), cursor: widthOf(start) + cursor };
}
