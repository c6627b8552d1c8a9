import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { nearestTo } from '../../shared/text/edit-distance.ts';
import { inWords } from '../../shared/text/in-words.ts';

/** A violation of a document's schema. */
export interface SchemaFault {
  path: (string | number)[];
  /** Whether the key at the end of `path` is wrong, rather than its value. */
  isKey: boolean;
  message: string;
}

/** The parts of a TypeBox schema handled here; TypeBox itself checks leaves. */
interface Walked {
  description?: string;
  anyOf?: Walked[];
  type?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Walked>;
  required?: string[];
  minProperties?: number;
  minItems?: number;
  items?: Walked;
  additionalProperties?: unknown;
  /** For maps with arbitrary keys. */
  patternProperties?: Record<string, Walked>;
}

/** The current position and the faults found so far. */
interface Position {
  path: (string | number)[];
  faults: SchemaFault[];
  whole: string;
}

/**
 * Returns all faults of a document, each as one sentence that calls the document `whole`. A schema's `description`
 * states the expected value. Alternatives are distinguished by the kind of value and the keys of maps.
 */
export function schemaFaults(schema: TSchema, value: unknown, { whole }: { whole: string }): SchemaFault[] {
  const faults: SchemaFault[] = [];
  walk(schema as Walked, value, { path: [], faults, whole });
  return faults;
}

function walk(schema: Walked, value: unknown, position: Position): void {
  if (schema.anyOf) {
    const branch = meantBranch(schema.anyOf, value);
    if (branch) walk(branch, value, position);
    else fault(position, wrong(position, describe(schema), value));
  } else if (schema.type === 'object' && isKindOf(schema, value)) {
    walkObject(schema, value as Record<string, unknown>, position);
  } else if (schema.type === 'array' && Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) fault(position, `${nameOf(position)} must not be empty`);
    value.forEach((item, at) => {
      walk(schema.items ?? {}, item, below(position, at));
    });
  } else if (!Check(schema as TSchema, value)) {
    fault(position, wrong(position, describe(schema), value));
  }
}

/** Of two map schemas, the one that has a key of this value; otherwise the one with arbitrary keys. */
function meantBranch(branches: readonly Walked[], value: unknown): Walked | undefined {
  const fitting = branches.filter((branch) => isKindOf(branch, value));
  if (fitting.length < 2) return fitting[0];
  const keys = Object.keys(value as object);
  const named = fitting.find(({ properties = {} }) => keys.some((key) => Object.hasOwn(properties, key)));
  return named ?? fitting.find(({ patternProperties }) => patternProperties) ?? fitting[0];
}

function walkObject(schema: Walked, value: Record<string, unknown>, position: Position): void {
  const properties = schema.properties ?? {};
  const [anyKey] = Object.values(schema.patternProperties ?? {});
  const known = Object.keys(properties);
  for (const [key, member] of Object.entries(value)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : anyKey;
    if (property) walk(property, member, below(position, key));
    else if (schema.additionalProperties === false) {
      const nearest = nearestTo(key, known);
      const hint =
        nearest === undefined ? `valid keys are ${known.join(', ')}` : `did you mean \`${nearest}\`?`;
      position.faults.push({
        path: [...position.path, key],
        isKey: true,
        message: `unknown key \`${key}\`: ${hint}`,
      });
    }
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) fault(position, `${nameOf(position)} needs \`${key}\``);
  }
  if (Object.keys(value).length < (schema.minProperties ?? 0)) {
    fault(position, `${nameOf(position)} must be ${describe(schema)}`);
  }
}

function fault({ path, faults }: Position, message: string): void {
  faults.push({ path, isKey: false, message });
}

function below(position: Position, part: string | number): Position {
  return { ...position, path: [...position.path, part] };
}

function isKindOf({ type, const: constant, enum: names }: Walked, value: unknown): boolean {
  if (constant !== undefined) return value === constant;
  if (names !== undefined) return names.some((name) => typeof name === typeof value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return typeof value === 'number';
  if (type !== 'object') return typeof value === type;
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe({ description, anyOf }: Walked): string {
  if (anyOf) return inWords(anyOf.map(describe));
  return description ?? 'something else';
}

function wrong(position: Position, expected: string, value: unknown): string {
  return `${nameOf(position)} must be ${expected}${expected.startsWith('text') ? quotesHint(value) : ''}`;
}

/** YAML parses `42` as a number and `{{name}}` as a map. */
function quotesHint(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return `; put quotes around ${value}`;
  const isBraces = typeof value === 'object' && value !== null && /^\{/.test(Object.keys(value)[0] ?? '');
  return isBraces ? '; put quotes around text that starts with {{' : '';
}

/** `['rules', 1, 'reply']` → `` `rules[1].reply` ``. */
function nameOf({ path, whole }: Pick<Position, 'path' | 'whole'>): string {
  if (path.length === 0) return whole;
  const parts = path.map((part, at) =>
    typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`,
  );
  return `\`${parts.join('')}\``;
}
