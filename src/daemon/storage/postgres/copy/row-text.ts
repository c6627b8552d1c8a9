import { withNul, withoutNul } from '../engine/values.ts';
import type { ColumnType } from './copied-tables.ts';

/*
 * The text form of PostgreSQL's COPY, one line per row: https://www.postgresql.org/docs/15/sql-copy.html. Both engines give the
 * same bytes for the same rows, so that digests of them can be compared.
 */

export type SqliteValue = null | number | string | Buffer;

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};
const characters = new Map(Object.entries(escapes).map(([character, letters]) => [letters[1], character]));

/** The line of a row of SQLite. Throws for an integer that cannot be read exactly. */
export function lineOf(row: readonly SqliteValue[], types: readonly ColumnType[]): string {
  let line = '';
  for (let index = 0; index < row.length; index += 1) {
    if (index > 0) line += '\t';
    line += fieldOf(row[index] ?? null, types[index] as ColumnType);
  }
  return `${line}\n`;
}

function fieldOf(value: SqliteValue, type: ColumnType): string {
  if (value === null) return '\\N';
  if (typeof value === 'string') return escaped(withoutNul(value));
  if (typeof value === 'number') return type === 'REAL' ? realOf(value) : String(exact(value));
  return `\\\\x${value.toString('hex')}`;
}

function exact(value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`the number ${value} is larger than Gateway can read exactly`);
}

function escaped(text: string): string {
  return /[\\\b\f\n\r\t\v]/.test(text)
    ? text.replace(/[\\\b\f\n\r\t\v]/g, (character) => escapes[character] ?? character)
    : text;
}

/** A fraction as PostgreSQL writes it: with an exponent below 0.0001, and from 10^15. JavaScript uses one less often. */
function realOf(value: number): string {
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 15) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** The values of a line without its line break. */
export function valuesOf(line: string, types: readonly ColumnType[]): SqliteValue[] {
  const fields = line.split('\t');
  if (fields.length !== types.length) throw new Error('a row has another number of columns than its table');
  return fields.map((field, index) => readField(field, types[index] as ColumnType));
}

function readField(field: string, type: ColumnType): SqliteValue {
  if (field === '\\N') return null;
  if (type === 'INTEGER') return exact(Number(field));
  if (type === 'REAL') return Number(field);
  if (type === 'BLOB') return Buffer.from(field.slice(3), 'hex');
  return withNul(
    field.includes('\\') ? field.replace(/\\(.)/g, (_, letter) => characters.get(letter) ?? letter) : field,
  );
}
