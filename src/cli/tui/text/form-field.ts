import { messageOf } from '../../../shared/faults/message-of.ts';

/** A field of a form. */
export interface Field {
  name: string;
  label: string;
  /** What is typed into a hidden field is never shown. */
  kind: 'text' | 'number' | 'choice' | 'hidden';
  initial?: string | undefined;
  /** Shown while it is empty. */
  placeholder?: string;
  /** Of a choice; the first one is the default. */
  choices?: readonly string[];
  /** How the daemon calls it in the `param` of an error, and what it contains; by default its name. */
  params?: readonly string[];
  /** Whether it applies; by default always. */
  isShown?(values: FormValues): boolean;
}

/** What the fields contain, trimmed, by their names. */
export type FormValues = Readonly<Record<string, string>>;

/** A fault of what one field contains. */
export class FieldFault extends Error {
  readonly field: string;

  constructor(field: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FieldFault';
    this.field = field;
  }
}

/** Runs a parser, whose failure is a fault of the field. */
export function parsedField<T>(field: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new FieldFault(field, messageOf(cause), { cause });
  }
}
