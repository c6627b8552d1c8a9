import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { FieldInput } from './field.tsx';
import type { Field } from './field-types.ts';
import { ProblemBox } from './problem.tsx';

/** The texts of all fields; of a check box `true` or nothing, of several check boxes the checked names, a line each. */
export type FormValues<N extends string> = Record<N, string>;

interface FormProps<N extends string> {
  /** Some can depend on what is entered in others. */
  fields: readonly Field<N>[] | ((values: Readonly<Partial<FormValues<N>>>) => readonly Field<N>[]);
  /** What the button does: `Issue`. */
  action: string;
  isDangerous?: boolean;
  /** Rejects with the error to show; one of the API belongs to the field whose `param` it names. */
  onSubmit: (values: FormValues<N>) => Promise<void>;
  onCancel?: () => void;
  /** Something else to do with the values, which keeps the form. */
  other?: { title: string; run: (values: FormValues<N>) => Promise<void> };
  /** Above the fields. */
  children?: ComponentChildren;
}

/** Fields with labels, hints and errors, and what to do with them. */
export function Form<N extends string>(props: FormProps<N>) {
  const { fields, action, isDangerous = false, onSubmit, onCancel, other, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  const entered = useSignal<Partial<FormValues<N>>>({});
  const shown = typeof fields === 'function' ? fields(entered.value) : fields;
  const textOf = ({ name, value = '' }: Field<N>): string => entered.value[name] ?? value;
  const isBusy = useSignal(false);
  const error = useSignal<unknown>(undefined);
  const faulty = fieldOf(shown, error.value);
  const submit = async (use: typeof onSubmit) => {
    if (isBusy.value) return;
    isBusy.value = true;
    error.value = undefined;
    try {
      await use(Object.fromEntries(shown.map((field) => [field.name, textOf(field)])) as FormValues<N>);
    } catch (caught) {
      error.value = caught;
      const name = fieldOf(shown, caught);
      if (name !== undefined)
        form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(name)}"]`)?.focus();
    }
    isBusy.value = false;
  };
  return (
    <form
      ref={form}
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit(onSubmit);
      }}
    >
      {children}
      {shown.map((field) => (
        <FieldInput
          key={field.name}
          id={`${id}-${field.name}`}
          field={field}
          value={textOf(field)}
          fault={faulty === field.name ? (error.value as Error).message : undefined}
          onChange={(value) => {
            entered.value = { ...entered.value, [field.name]: value };
          }}
        />
      ))}
      {error.value !== undefined && faulty === undefined && <ProblemBox error={error.value} />}
      <footer>
        <button type="submit" class={isDangerous ? 'bad-button' : 'main-button'} disabled={isBusy.value}>
          {action}
        </button>
        {other && (
          <button type="button" disabled={isBusy.value} onClick={() => void submit(other.run)}>
            {other.title}
          </button>
        )}
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </footer>
    </form>
  );
}

/** The field that an error is about. */
function fieldOf<N extends string>(fields: readonly Field<N>[], error: unknown): N | undefined {
  if (error instanceof FieldFault) return fields.find(({ name }) => name === error.field)?.name;
  const param = error instanceof ReceivedError ? error.param : null;
  if (!param) return undefined;
  return fields.find(({ name, param: own = name }) => `.${param.replace(/\[.*$/s, '')}`.endsWith(`.${own}`))
    ?.name;
}

/** A value that its field cannot have, in words. */
export class FieldFault extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = 'FieldFault';
    this.field = field;
  }
}
