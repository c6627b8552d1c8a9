import { ownValue } from '../../../../shared/own-value.ts';
import type { Making, Spot } from './generator-state.ts';
import { type Schema, Unsatisfiable } from './merge-schemas.ts';
import { textForPattern } from './pattern-text.ts';

/** Longer texts are not made, whatever a schema asks: no answer could hold them. */
const charsMax = 100_000;

/** Texts by format; `n` tells the items of a list apart. Source of the names: JSON Schema 2020-12, "Defined Formats". */
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

/** Texts by the last word of a property's name, so that answers look like answers. */
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

/** A text for a property of that name which fits the schema's format, pattern and lengths. */
export function stringInstance(
  { patterns }: Pick<Making, 'patterns'>,
  schema: Schema,
  { name, ordinal }: Pick<Spot, 'name' | 'ordinal'>,
): string {
  const lengthMin = Math.max(0, numberOr(schema.minLength, 0));
  const lengthMax = numberOr(schema.maxLength, charsMax);
  if (lengthMin > Math.min(lengthMax, charsMax)) throw new Unsatisfiable('a text in it cannot be that long');
  const formatted = ownValue(formats, schema.format)?.(ordinal);
  const named = fitLength(exampleFor(name), lengthMin, lengthMax, ordinal);
  if (typeof schema.pattern !== 'string') return formatted ?? named;
  const written = textForPattern(schema.pattern, { lengthMin, lengthMax, ordinal });
  const candidates = [formatted, written, named].filter((text) => text !== undefined);
  const fitting = candidates.filter((text) => lengthFits(schema, text));
  return patterns.first(schema.pattern, fitting) ?? written ?? formatted ?? named;
}

function exampleFor(name: string): string {
  const label = name.replace(/[_-]+/g, ' ').trim();
  const last = label.split(' ').at(-1)?.toLowerCase() ?? '';
  return ownValue(examples, last) ?? (label === '' ? 'example' : `example ${label}`);
}

/** Lengths count characters, not UTF-16 units. */
export function lengthFits({ minLength, maxLength }: Schema, text: string): boolean {
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

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function twoDigits(n: number): string {
  return String((n % 28) + 1).padStart(2, '0');
}
