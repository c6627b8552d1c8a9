import { ownValue } from '../../../../shared/json/json-object.ts';
import type { GeneratorState, SchemaPosition } from './generator-state.ts';
import { numberOr, type Schema, Unsatisfiable } from './merge-schemas.ts';
import { textForPattern } from './pattern-text.ts';

/*
 * Each value is taken from the prompt, else from the schema's default or examples, else generated.
 */

/** One of the enumerated values: one that the prompt mentions, else the default, else the first. */
export function chosenValue(
  { prompt }: GeneratorState,
  schema: Schema,
  values: readonly unknown[],
  { ordinal }: SchemaPosition,
): unknown {
  if (values.length === 0) throw new Unsatisfiable('it allows nothing');
  if (ordinal === 0) {
    const mentioned = values.find((value) => typeof value === 'string' && prompt.mentions(value));
    if (mentioned !== undefined) return mentioned;
    if (values.includes(schema.default)) return schema.default;
  }
  return values[ordinal % values.length];
}

export function stringValue(
  state: GeneratorState,
  schema: Schema,
  { name, ordinal }: SchemaPosition,
): string {
  const { prompt } = state;
  const given = ordinal === 0 ? givenText(state, schema, name) : undefined;
  if (given === undefined) return stringInstance(state, schema, { name, ordinal });
  prompt.use(given);
  return given;
}

function givenText({ prompt, patterns }: GeneratorState, schema: Schema, name: string): string | undefined {
  const format = typeof schema.format === 'string' ? schema.format : undefined;
  const examples = [schema.default, ...(Array.isArray(schema.examples) ? schema.examples : [])];
  const texts = (values: readonly unknown[]) =>
    values.filter((value) => typeof value === 'string').filter((text) => lengthFits(schema, text));
  if (typeof schema.pattern !== 'string') return texts([prompt.textFor(name, format)?.value, ...examples])[0];
  return patterns.first(schema.pattern, texts([...prompt.candidates(name, format), ...examples]));
}

export function numberValue(
  { prompt }: GeneratorState,
  schema: Schema,
  type: 'integer' | 'number',
  { name, ordinal }: SchemaPosition,
): number {
  const isInteger = type === 'integer';
  const isValid = (value: number) => numberFits(schema, isInteger, value);
  const found = prompt.numberFor(name, isValid)?.value;
  if (found !== undefined) {
    prompt.use(found);
    return found;
  }
  const given = exampleValue(schema, (value) => typeof value === 'number' && isValid(value));
  return ordinal === 0 && typeof given === 'number' ? given : numberInstance(schema, isInteger, ordinal);
}

export function booleanValue(
  { prompt }: GeneratorState,
  schema: Schema,
  { name, ordinal }: SchemaPosition,
): boolean {
  const assigned = prompt.assigned(name)?.toLowerCase();
  if (assigned === 'true' || assigned === 'false') return assigned === 'true';
  return typeof schema.default === 'boolean' ? schema.default : ordinal % 2 === 1;
}

function exampleValue(schema: Schema, isValid: (value: unknown) => boolean): unknown {
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  return [schema.default, ...examples].find(isValid);
}

/** The longest generated text: no answer could contain more. */
const charsMax = 100_000;

/** Texts by format; `n` makes the items of a list differ. Source: JSON Schema 2020-12, "Defined Formats". */
const formats: Record<string, (n: number) => string> = {
  'date-time': (n) => `2030-01-${twoDigits(n)}T12:00:00Z`,
  date: (n) => `2030-01-${twoDigits(n)}`,
  time: (n) => `12:00:${twoDigits(n)}Z`,
  duration: (n) => `P${n + 1}D`,
  email: (n) => `ada${n || ''}@example.com`,
  'idn-email': (n) => `ada${n || ''}@example.com`,
  hostname: (n) => `host${n || ''}.example.com`,
  'idn-hostname': (n) => `host${n || ''}.example.com`,
  ipv4: (n) => `192.0.2.${(n % 254) + 1}`,
  ipv6: (n) => `2001:db8::${(n + 1).toString(16)}`,
  uri: (n) => `https://example.com/${n || ''}`,
  'uri-reference': (n) => `/example/${n || ''}`,
  'uri-template': (n) => `/example/${n || ''}{id}`,
  iri: (n) => `https://example.com/${n || ''}`,
  'iri-reference': (n) => `/example/${n || ''}`,
  url: (n) => `https://example.com/${n || ''}`,
  uuid: (n) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
  'json-pointer': (n) => `/example/${n}`,
  'relative-json-pointer': (n) => `${n}`,
  regex: (n) => `^example${n || ''}$`,
  byte: (n) => Buffer.from(`example${n || ''}`).toString('base64'),
};

/** Realistic texts by the last word of a property's name. */
const examples: Record<string, string> = {
  name: 'Ada Lovelace',
  author: 'Ada Lovelace',
  person: 'Ada Lovelace',
  email: 'ada@example.com',
  phone: '+1 555 0100',
  city: 'Paris',
  location: 'Paris',
  place: 'Paris',
  country: 'France',
  address: '1 Example Street',
  street: '1 Example Street',
  url: 'https://example.com/',
  date: '2030-01-01',
  time: '12:00',
  currency: 'USD',
  language: 'en',
  id: 'example-1',
};

/** Generates a text that fits the schema's format, pattern and length, and the property's name. */
function stringInstance(
  { patterns }: Pick<GeneratorState, 'patterns'>,
  schema: Schema,
  { name, ordinal }: Pick<SchemaPosition, 'name' | 'ordinal'>,
): string {
  const lengthMin = Math.max(0, numberOr(schema.minLength, 0));
  const lengthMax = numberOr(schema.maxLength, charsMax);
  if (lengthMin > Math.min(lengthMax, charsMax)) throw new Unsatisfiable('a text in it cannot be that long');
  const formatted = ownValue(formats, schema.format)?.(ordinal);
  const named = fitLength(exampleText(name), lengthMin, lengthMax, ordinal);
  if (typeof schema.pattern !== 'string') return formatted ?? named;
  const written = textForPattern(schema.pattern, { lengthMin, lengthMax, ordinal });
  const candidates = [formatted, written, named].filter((text) => text !== undefined);
  const fitting = candidates.filter((text) => lengthFits(schema, text));
  return patterns.first(schema.pattern, fitting) ?? written ?? formatted ?? named;
}

function exampleText(name: string): string {
  const label = name.replace(/[_-]+/g, ' ').trim();
  const last = label.split(' ').at(-1)?.toLowerCase() ?? '';
  return ownValue(examples, last) ?? (label === '' ? 'example' : `example ${label}`);
}

/** Lengths count characters, not UTF-16 units. */
function lengthFits({ minLength, maxLength }: Schema, text: string): boolean {
  const length = [...text].length;
  return length >= numberOr(minLength, 0) && length <= numberOr(maxLength, Number.POSITIVE_INFINITY);
}

function fitLength(text: string, min: number, max: number, ordinal: number): string {
  if (max === 0) return '';
  const suffix = ordinal > 0 ? ` ${ordinal + 1}` : '';
  const whole = [...`${text}${suffix}`];
  if (whole.length > max) {
    const end = [...suffix.trim()].slice(-max);
    return [...[...text].slice(0, max - end.length), ...end].join('');
  }
  while (whole.length < min) whole.push(...[' ', ...text].slice(0, min - whole.length));
  return whole.join('');
}

function twoDigits(n: number): string {
  return String((n % 28) + 1).padStart(2, '0');
}

/** Generates a number near 1 that fits the schema; `ordinal` makes the items of a list differ. */
function numberInstance(schema: Schema, isInteger: boolean, ordinal: number): number {
  const isValid = (value: number) => numberFits(schema, isInteger, value);
  const low = tightest([schema.minimum, schema.exclusiveMinimum], Math.max);
  const high = tightest([schema.maximum, schema.exclusiveMaximum], Math.min);
  const middle =
    low === undefined || high === undefined ? [] : [low + (high - low) / (ordinal + 2), low, high];
  const found = [multiple(schema, isInteger, { low, high, ordinal }), ...middle].find(isValid);
  if (found === undefined) throw new Unsatisfiable('no number fits it');
  return found;
}

function numberFits(schema: Schema, isInteger: boolean, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (!Number.isFinite(value) || (isInteger && !Number.isInteger(value))) return false;
  if (typeof minimum === 'number' && value < minimum) return false;
  if (typeof maximum === 'number' && value > maximum) return false;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== 'number' || Number.isInteger(value / multipleOf);
}

/** The multiple of the schema's step that is nearest to 1 and in bounds, plus `ordinal` steps, wrapping around. */
function multiple(
  schema: Schema,
  isInteger: boolean,
  { low, high, ordinal }: { low: number | undefined; high: number | undefined; ordinal: number },
): number {
  const step = stepOf(schema, isInteger);
  const wanted = Math.max(1, Math.round(1 / step));
  const first = low === undefined ? undefined : Math.ceil(low / step) + (isOpen(schema, step, low) ? 1 : 0);
  const last =
    high === undefined ? undefined : Math.floor(high / step) - (isOpen(schema, step, high) ? 1 : 0);
  const start = Math.min(Math.max(wanted, first ?? wanted), last ?? Number.POSITIVE_INFINITY);
  if (first === undefined) return (last === undefined ? start + ordinal : start - ordinal) * step;
  const count = last === undefined ? Number.POSITIVE_INFINITY : Math.max(1, last - first + 1);
  return (first + ((start - first + ordinal) % count)) * step;
}

/** Whether a bound is itself a multiple, and excluded. */
function isOpen(schema: Schema, step: number, limit: number): boolean {
  const excluded = schema.exclusiveMinimum === limit || schema.exclusiveMaximum === limit;
  return excluded && Number.isInteger(limit / step);
}

function tightest(bounds: unknown[], choose: (a: number, b: number) => number): number | undefined {
  const known = bounds.filter((value) => typeof value === 'number');
  return known.length === 0 ? undefined : known.reduce((a, b) => choose(a, b));
}

function stepOf(schema: Schema, isInteger: boolean): number {
  const { multipleOf } = schema;
  if (typeof multipleOf !== 'number' || multipleOf <= 0) return 1;
  if (!isInteger || Number.isInteger(multipleOf)) return multipleOf;
  // The first integer multiple; a step without one among the first thousand is used unchanged.
  for (let times = 2; times <= 1000; times += 1) {
    if (Number.isInteger(multipleOf * times)) return multipleOf * times;
  }
  return multipleOf;
}
