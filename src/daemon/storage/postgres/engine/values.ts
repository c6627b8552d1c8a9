import type { StepResult, Value } from './messages.ts';

/** Object identifiers of PostgreSQL's built-in types (pg_type.dat). */
const oids = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  oid: 26,
  float4: 700,
  float8: 701,
  numeric: 1700,
};

/** The type under which a value is bound; 0 leaves it to the server. */
export function typeOf(value: Value): number {
  if (value === null) return 0;
  if (typeof value === 'string') return oids.text;
  if (typeof value === 'bigint') return oids.int8;
  // A fraction under a type of its own would be rounded where an integer is wanted; so it is refused.
  if (typeof value === 'number') return Number.isInteger(value) ? oids.int8 : 0;
  return oids.bytea;
}

/** Texts of PostgreSQL cannot contain NUL: it is stored as this character, which no text has a use for, and `0`. */
const marker = '\uFDD0';

/** The form in which a value is sent: text, or bytes as they are. */
export function sentForm(value: Value): string | Buffer | null {
  if (value === null) return null;
  if (typeof value === 'string') return withoutNul(value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** The stored form of a text. */
export function withoutNul(text: string): string {
  if (!text.includes('\0') && !text.includes(marker)) return text;
  return text.replaceAll(marker, `${marker}1`).replaceAll('\0', `${marker}0`);
}

/** The text of its stored form. */
export function withNul(text: string): string {
  if (!text.includes(marker)) return text;
  return text.replaceAll(`${marker}0`, '\0').replaceAll(`${marker}1`, marker);
}

/** Reads a value from its text form, by the type of its column. */
export function readValue(text: string | null, type: number): StepResult['rows'][number][number] {
  if (text === null) return null;
  switch (type) {
    case oids.int8:
    case oids.int4:
    case oids.int2:
    case oids.oid:
    case oids.float8:
    case oids.float4:
    case oids.numeric:
      return Number(text);
    case oids.bool:
      return text === 't' ? 1 : 0;
    case oids.bytea:
      return Buffer.from(text.slice(2), 'hex');
    default:
      return withNul(text);
  }
}
