import { ApiError } from '../../../shared/errors.ts';
import { type Field, FieldFault, type FormValues } from '../text/form-field.ts';
import { editOf, type LineEdit } from '../text/line-edit.ts';

export interface FormDialog {
  kind: 'form';
  title: string;
  fields: readonly Field[];
  edits: Map<string, LineEdit>;
  /** The name of the field that has the focus. */
  focus: string;
  /** Why the last submission failed, by field; of the whole form under ''. */
  errors: Map<string, string>;
  isBusy: boolean;
  /** The form closes once this resolves to what shows the result, and keeps everything if it fails. */
  submit(values: FormValues): Promise<() => void>;
}

export function formDialog({
  title,
  fields,
  submit,
}: Pick<FormDialog, 'title' | 'fields' | 'submit'>): FormDialog {
  return {
    kind: 'form',
    title,
    fields,
    edits: new Map(fields.map((field) => [field.name, editOf(initialOf(field))])),
    focus: fields[0]?.name ?? '',
    errors: new Map(),
    isBusy: false,
    submit,
  };
}

function initialOf({ initial, choices }: Field): string {
  return initial ?? choices?.[0] ?? '';
}

/** Without blanks at the ends, and numbers without separators of thousands. */
export function valuesOf({ fields, edits }: FormDialog): FormValues {
  return Object.fromEntries(
    fields.map(({ name, kind }) => {
      const text = edits.get(name)?.text.trim() ?? '';
      return [name, kind === 'number' ? text.replace(/(?<=\d)[,_](?=\d{3})/g, '') : text];
    }),
  );
}

export function shownFields(form: FormDialog): Field[] {
  const values = valuesOf(form);
  return form.fields.filter(({ isShown }) => isShown?.(values) ?? true);
}

export function focusedField(form: FormDialog): Field | undefined {
  return form.fields.find(({ name }) => name === form.focus);
}

/** Whether closing the form would lose something. */
export function isTouched({ fields, edits }: FormDialog): boolean {
  return fields.some((field) => edits.get(field.name)?.text !== initialOf(field));
}

export function setField(form: FormDialog, { name }: Field, edit: LineEdit): void {
  if (edit.text !== form.edits.get(name)?.text) {
    form.errors.delete(name);
    form.errors.delete('');
  }
  form.edits.set(name, edit);
}

export function moveFocus(form: FormDialog, by: 1 | -1): void {
  const shown = shownFields(form);
  const at = shown.findIndex(({ name }) => name === form.focus);
  form.focus = shown[(at + by + shown.length) % shown.length]?.name ?? form.focus;
}

/** Shows why a submission failed at the field that is at fault, which gets the focus. */
export function showFault(form: FormDialog, error: unknown, explain: (error: unknown) => string): void {
  const field = fieldOf(form, error);
  form.errors = new Map([[field ?? '', field === undefined ? explain(error) : atField(error, explain)]]);
  if (field !== undefined) form.focus = field;
}

/** The daemon names the member of the body, which the field stands for. */
function atField(error: unknown, explain: (error: unknown) => string): string {
  if (error instanceof FieldFault) return error.message;
  const { message, param } = error as ApiError;
  return message.startsWith(`\`${param}\` `) ? `This${message.slice(`${param}`.length + 2)}` : explain(error);
}

function fieldOf(form: FormDialog, error: unknown): string | undefined {
  const shown = shownFields(form);
  if (error instanceof FieldFault) return shown.find(({ name }) => name === error.field)?.name;
  const param = error instanceof ApiError ? error.param : null;
  if (param === null) return undefined;
  return shown.find(({ name, params = [name] }) =>
    params.some((one) => param === one || param.startsWith(`${one}.`) || param.startsWith(`${one}[`)),
  )?.name;
}

const numberForm = /^\d+(\.\d+)?$/;

/** Fails at a field for a number that is none. */
export function checkNumbers(form: FormDialog): void {
  const values = valuesOf(form);
  for (const { name, kind } of shownFields(form)) {
    const value = values[name] ?? '';
    if (kind === 'number' && value !== '' && !numberForm.test(value))
      throw new FieldFault(name, 'This is not a number.');
  }
}
