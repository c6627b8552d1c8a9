import { escapeJson } from './escape-controls.ts';

/** Picks fields of a record or of each record in a list; missing fields are null. */
export function pick(value: unknown, fields: string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => pick(one, fields));
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  return Object.fromEntries(fields.map((field) => [field, record[field] ?? null]));
}

/** The `fields` that no record has. */
export function unknownFields(value: unknown, fields: string[]): string[] {
  const known = fieldsOf(value);
  return known.length === 0 ? [] : fields.filter((field) => !known.includes(field));
}

/** The fields of a record, or of all records in a list. */
export function fieldsOf(value: unknown): string[] {
  const records = Array.isArray(value) ? value : [value];
  return [...new Set(records.flatMap((one) => (typeof one === 'object' && one ? Object.keys(one) : [])))];
}

/** JSON on one line, or indented. */
export function jsonText(value: unknown, { indented }: { indented: boolean }): string {
  return `${escapeJson(JSON.stringify(value, null, indented ? 2 : undefined) ?? 'null')}\n`;
}
