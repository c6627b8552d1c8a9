import fc from 'fast-check';
import type { JsonSchema } from '../../src/shared/contract/schema.ts';
import { anyCharacter } from './any-character.ts';

/** Malformed values, texts and bodies, generated from a contract's schema. */

export const hostileNames = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'then',
  'lc',
  '$ref',
  '',
  ' ',
  'a b',
  'a"b',
  '../..',
  '\0',
  '\ud800',
  '\u202eabc',
  'x'.repeat(300),
] as const;

export const hostileTexts = [
  ...hostileNames,
  '1',
  'NaN',
  'null',
  "' OR 1=1--",
  '{{7*7}}',
  '\r\nx-injected: 1\r\n\r\n',
  'data: [DONE]\n\n',
  '\udc00\ud800',
  '\u2028\u2029\ufeff',
  '😀'.repeat(70),
  'a'.repeat(20_000),
  '-'.repeat(20_000),
  '('.repeat(20_000),
  '1'.repeat(400),
] as const;

const hostileNumbers = [0, -0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, 5e-324, 1e21] as const;

/** An object with these members, including names like `__proto__`. */
const withMembers = (entries: readonly (readonly [string, unknown])[]) => Object.fromEntries(entries);

const hostileObjects = [
  withMembers([['__proto__', { polluted: true }]]),
  withMembers([['constructor', { prototype: { polluted: true } }]]),
  withMembers([['toString', 1]]),
  withMembers([['then', 'x']]),
  withMembers([['toJSON', 'x']]),
  withMembers([['length', 1e9]]),
  withMembers([['type', withMembers([['type', []]])]]),
  nested(40, 'array'),
  nested(40, 'object'),
] as const;

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], ...hostileNumbers),
  fc.constantFrom<unknown>(...hostileTexts),
  fc.constantFrom<unknown>(...hostileObjects),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.jsonValue({ maxDepth: 3 }),
);

export function nested(depth: number, kind: 'array' | 'object'): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i += 1) value = kind === 'array' ? [value] : { a: value };
  return value;
}

export interface BodyOptions {
  /** Valid values by member name, so that not every body fails at the same position. */
  usual: Readonly<Record<string, readonly unknown[]>>;
  /** One in this many nodes is replaced by something hostile. */
  oneIn: number;
}

/** Bodies for a schema: mostly valid, with something hostile here and there. */
export function brokenBody(schema: JsonSchema, options: BodyOptions): fc.Arbitrary<unknown> {
  return node(schema, options, 0);
}

function node(schema: JsonSchema, options: BodyOptions, depth: number): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: options.oneIn - 1, arbitrary: asAsked(schema, options, depth) },
    { weight: 1, arbitrary: hostileValue },
  );
}

function asAsked(schema: JsonSchema, options: BodyOptions, depth: number): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  if (Array.isArray(schema.anyOf)) {
    return fc.oneof(...(schema.anyOf as JsonSchema[]).map((branch) => asAsked(branch, options, depth)));
  }
  const types = [schema.type ?? []].flat() as string[];
  if (types.length === 0) return hostileValue;
  return fc.oneof(...types.map((type) => ofType(type, schema, options, depth)));
}

function ofType(
  type: string,
  schema: JsonSchema,
  options: BodyOptions,
  depth: number,
): fc.Arbitrary<unknown> {
  const { minimum, maximum, minLength = 0, maxLength } = schema as Record<string, number | undefined>;
  const range = { min: minimum ?? -10, max: Math.min(maximum ?? 1000, 1000) };
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer(range);
    case 'number':
      return fc.double({ ...range, noNaN: true });
    case 'string':
      return fc.oneof(
        fc.string({ minLength, maxLength: Math.min(maxLength ?? 12, minLength + 12) }),
        fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength ?? 6, minLength + 6) }),
      );
    case 'array':
      return fc.array(node((schema.items ?? {}) as JsonSchema, options, depth + 1), { maxLength: 3 });
    default:
      return objectOf(schema, options, depth);
  }
}

/** Few optional members, sometimes a missing required member or an unknown one. */
function objectOf(schema: JsonSchema, options: BodyOptions, depth: number): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const required = new Set((schema.required ?? []) as string[]);
  const entries = properties.map(([name, property]) => {
    const usual = options.usual[name];
    const asUsual = usual === undefined ? [] : [{ weight: 20, arbitrary: fc.constantFrom(...usual) }];
    const value = fc.oneof(...asUsual, { weight: 2, arbitrary: node(property, options, depth + 1) });
    const isLeftOut = required.has(name) ? fc.nat(29).map((it) => it === 0) : fc.nat(7).map((it) => it > 0);
    return fc.tuple(isLeftOut, value).map(([out, given]) => (out ? [] : [[name, given] as const]));
  });
  const extra = fc
    .tuple(fc.nat(properties.length === 0 ? 2 : 19), fc.constantFrom(...hostileNames), hostileValue)
    .map(([die, name, value]) => (die === 0 ? [[name, value] as const] : []));
  return fc.tuple(...entries, extra).map((members) => withMembers(members.flat()));
}

/** Good bodies with one to three of their nodes replaced, left out, doubled or renamed. */
export function mutated(bodies: readonly unknown[]): fc.Arbitrary<unknown> {
  const change = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom('replace', 'replace', 'remove', 'double', 'rename'),
    value: hostileValue,
    name: fc.constantFrom(...hostileNames),
  });
  return fc
    .tuple(fc.constantFrom(...bodies), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([body, changes]) => {
      const copy = structuredClone(body);
      for (const { at, kind, value, name } of changes) {
        const places = placesIn(copy);
        const place = places[at % places.length];
        if (place !== undefined) apply(place, kind, { value: structuredClone(value), name });
      }
      return copy;
    });
}

type Holder = Record<string, unknown> | unknown[];
type Place = [holder: Holder, key: string];

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Holder;
  return Object.entries(holder).flatMap(([key, inner]) => [[holder, key] as Place, ...placesIn(inner)]);
}

function apply([holder, key]: Place, kind: string, { value, name }: { value: unknown; name: string }): void {
  const held = Reflect.get(holder, key);
  const define = (at: string, it: unknown) =>
    Object.defineProperty(holder, at, { value: it, enumerable: true, configurable: true, writable: true });
  if (Array.isArray(holder)) {
    if (kind === 'remove') holder.splice(Number(key), 1);
    else if (kind === 'double') holder.push(structuredClone(held));
    else holder[Number(key)] = value;
  } else if (kind === 'replace') {
    define(key, value);
  } else if (kind === 'double') {
    define(key, [structuredClone(held)]);
  } else {
    Reflect.deleteProperty(holder, key);
    if (kind === 'rename') define(name, held);
  }
}

/** Malformed JSON and encodings of any body. */
export const brokenText: fc.Arbitrary<(text: string) => Buffer> = fc.oneof(
  fc.nat().map((at) => (text: string) => Buffer.from(text.slice(0, at % Math.max(1, text.length)))),
  fc.nat().map((at) => (text: string) => spliced(text, at, Buffer.from([0]))),
  fc.nat().map((at) => (text: string) => spliced(text, at, Buffer.from([0xff]))),
  fc.nat().map((at) => (text: string) => spliced(text, at, Buffer.from([0xc0, 0xaf]))),
  fc.nat().map((at) => (text: string) => spliced(text, at, Buffer.from([0xed, 0xa0, 0x80]))),
  fc.constantFrom<(text: string) => Buffer>(
    () => Buffer.alloc(0),
    (text) => Buffer.from(`\ufeff${text}`),
    (text) => Buffer.from(`\ufeff\ufeff${text}`),
    (text) => Buffer.from(`${text}${text}`),
    (text) => Buffer.from(`${text},`),
    (text) => Buffer.from(`// no\n${text}`),
    (text) => Buffer.from(text.replaceAll('"', "'")),
    (text) => Buffer.from(text, 'utf16le'),
    (text) => Buffer.from(text.replace(/:\s*[\d.eE+-]+/, ':NaN')),
    (text) => Buffer.from(text.replace(/\}$/, ',"temperature":1e309}')),
    (text) => Buffer.from(text.replace(/\}$/, ',"max_output_tokens":-1e309,"max_tokens":1e309}')),
    (text) => Buffer.from(text.replace(/\}$/, ',"model":"sim/echo","model":7}')),
    (text) => Buffer.from(text.replace(/\}$/, ',"__proto__":{"stream":true},"constructor":null}')),
    (text) => Buffer.from(`${'['.repeat(100_000)}${text}`),
    (text) => Buffer.from(`${'{"a":'.repeat(70)}${text}${'}'.repeat(70)}`),
  ),
);

function spliced(text: string, at: number, bytes: Buffer): Buffer {
  const all = Buffer.from(text);
  const place = at % (all.length + 1);
  return Buffer.concat([all.subarray(0, place), bytes, all.subarray(place)]);
}
