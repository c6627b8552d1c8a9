/** What a form asks for. */
export interface Field<N extends string> {
  name: N;
  label: string;
  kind?: 'text' | 'amount' | 'number' | 'choice' | 'check' | 'checks' | 'lines' | 'time' | 'date' | 'secret';
  value?: string;
  hint?: string;
  placeholder?: string;
  isRequired?: boolean;
  isFixed?: boolean;
  maxLength?: number;
  /** Of a choice, and of several check boxes. */
  options?: readonly { value: string; title: string; hint?: string }[];
  /** As the API names it in errors, if that is another name: `spend_cap.usd`. */
  param?: string;
  /** Shares its line with the next field. */
  isHalf?: boolean;
}

/** Asks for the name of something new, or shows that of something there is. */
export const idField = (id: string | undefined, placeholder: string): Field<'id'> => ({
  name: 'id',
  label: 'Name',
  value: id ?? '',
  isRequired: true,
  isFixed: id !== undefined,
  placeholder,
  hint: id ? '' : 'Lower-case letters, digits, _ and -.',
  maxLength: 64,
});

/** The lines of a text that are not empty. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
