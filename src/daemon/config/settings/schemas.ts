import { Type } from 'typebox';

/** Schemas that several settings share. */

export const text = Type.String({ minLength: 1, description: 'text' });
export const url = Type.String({
  pattern: '^https?://[^\\s/]+(/\\S*)?$',
  maxLength: 500,
  description: 'an address that starts with http:// or https://',
});
export const publicUrl = Type.String({
  pattern: '^https?://[^\\s/?#@]+/?$',
  maxLength: 500,
  description: 'an origin like https://gateway.example',
});
/** Not a key, which would be stored in the clear. */
export const variable = Type.String({
  pattern: '^(?!(?:sk|rk|xai|pplx|nvapi)-|(?:gsk|hf|r8|fw|gw[klta])_[A-Za-z\\d]{20}|AIza)[^\\s=]+$',
  description: 'text: the name of an environment variable',
});
export const flag = Type.Boolean({ description: 'true or false' });
export const dollars = Type.String({
  pattern: '^\\d{1,7}(\\.\\d{1,9})?$',
  description: 'text: dollars like "0.59"',
});
export const models = Type.Array(text, { description: 'a list of models, with * as a wildcard' });
export const patterns = Type.Array(
  Type.String({ minLength: 1, maxLength: 500, description: 'a regular expression' }),
  { maxItems: 32, description: 'a list of up to 32 regular expressions' },
);
export const port = integer(0, 65_535, 'a port');

/** `unit` is what the value is: `a number of days`. */
export function integer(minimum: number, maximum: number, unit = 'a number') {
  return Type.Integer({ minimum, maximum, description: `${unit} from ${minimum} to ${maximum}` });
}

/** One of a few names. */
export function oneOf<const T extends string[]>(names: readonly [...T], description: string) {
  return Type.Enum<T>([...names], { description });
}
