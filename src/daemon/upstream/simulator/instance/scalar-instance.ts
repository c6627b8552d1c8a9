import type { Making, Spot } from './generator-state.ts';
import { type Schema, Unsatisfiable } from './merge-schemas.ts';
import { numberFits, numberInstance } from './number-instance.ts';
import { lengthFits, stringInstance } from './string-instance.ts';

/*
 * For each value: what the prompt offers, else the schema's default or first example, else something made up.
 */

/** One of the listed values: one that the prompt mentions, else the default, else the first. */
export function chosenValue(
  { prompt }: Making,
  schema: Schema,
  values: readonly unknown[],
  { ordinal }: Spot,
): unknown {
  if (values.length === 0) throw new Unsatisfiable('it allows nothing');
  if (ordinal === 0) {
    const mentioned = values.find((value) => typeof value === 'string' && prompt.mentions(value));
    if (mentioned !== undefined) return mentioned;
    if (values.includes(schema.default)) return schema.default;
  }
  return values[ordinal % values.length];
}

export function stringValue(making: Making, schema: Schema, { name, ordinal }: Spot): string {
  const { prompt } = making;
  const given = ordinal === 0 ? givenText(making, schema, name) : undefined;
  if (given === undefined) return stringInstance(making, schema, { name, ordinal });
  prompt.use(given);
  return given;
}

function givenText({ prompt, patterns }: Making, schema: Schema, name: string): string | undefined {
  const format = typeof schema.format === 'string' ? schema.format : undefined;
  const examples = [schema.default, ...(Array.isArray(schema.examples) ? schema.examples : [])];
  const texts = (values: readonly unknown[]) =>
    values.filter((value) => typeof value === 'string').filter((text) => lengthFits(schema, text));
  if (typeof schema.pattern !== 'string') return texts([prompt.textFor(name, format)?.value, ...examples])[0];
  return patterns.first(schema.pattern, texts([...prompt.candidates(name, format), ...examples]));
}

export function numberValue(
  { prompt }: Making,
  schema: Schema,
  type: 'integer' | 'number',
  { name, ordinal }: Spot,
): number {
  const isInteger = type === 'integer';
  const fits = (value: number) => numberFits(schema, isInteger, value);
  const found = prompt.numberFor(name, fits)?.value;
  if (found !== undefined) {
    prompt.use(found);
    return found;
  }
  const given = givenExample(schema, (value) => typeof value === 'number' && fits(value));
  return ordinal === 0 && typeof given === 'number' ? given : numberInstance(schema, isInteger, ordinal);
}

export function booleanValue({ prompt }: Making, schema: Schema, { name, ordinal }: Spot): boolean {
  const assigned = prompt.assigned(name)?.toLowerCase();
  if (assigned === 'true' || assigned === 'false') return assigned === 'true';
  return typeof schema.default === 'boolean' ? schema.default : ordinal % 2 === 1;
}

function givenExample(schema: Schema, fits: (value: unknown) => boolean): unknown {
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  return [schema.default, ...examples].find(fits);
}
