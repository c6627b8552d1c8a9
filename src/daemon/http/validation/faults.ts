import type { ErrorObject } from 'ajv';
import { idempotencyKeyCharactersMax, idempotencyKeyPattern } from '../../../shared/contract/model-call.ts';
import { oneLinePattern } from '../../../shared/contract/vocabulary.ts';
import { inWords } from '../../../shared/text/in-words.ts';

/** A fault in an input. `param` is null for the input as a whole. */
export interface Fault {
  param: string | null;
  message: string;
}

type Schema = Record<string, unknown>;

/**
 * Translates a validator's errors for the author of the input. Of a union, only the intended branch is reported: the
 * one whose constant members (`type`, `role`) match the value.
 */
export function faultsOf(errors: readonly ErrorObject[], input: unknown): Fault[] {
  const faults: Fault[] = [];
  let rest = withoutRepeated(errors);
  // Keywords with subschemas report after them, so the last error is always an outermost one.
  for (let outer = rest.pop(); outer !== undefined; outer = rest.pop()) {
    if (outer.keyword === 'if' || outer.keyword === 'propertyNames') {
      if (rest.length > 0) continue;
    }
    if (outer.keyword !== 'anyOf' && outer.keyword !== 'oneOf') {
      faults.unshift(faultOf(outer, input));
      continue;
    }
    const prefix = `${outer.schemaPath}/`;
    const path = outer.instancePath;
    // The schema path restarts at a reference.
    const isInside = ({ schemaPath, instancePath }: ErrorObject) =>
      schemaPath.startsWith(prefix) || (schemaPath.startsWith('#/$defs/') && instancePath.startsWith(path));
    const inside = rest.filter(isInside);
    rest = rest.filter((error) => !isInside(error));
    faults.unshift(...faultsOfUnion(outer, inside, input));
  }
  return faults;
}

/** Leaves out that an empty text does not match a pattern, where a fault says already that it must not be empty. */
function withoutRepeated(errors: readonly ErrorObject[]): ErrorObject[] {
  const tooShort = new Set(
    errors.filter(({ keyword }) => keyword === 'minLength').map(({ instancePath }) => instancePath),
  );
  return errors.filter(
    ({ keyword, data, instancePath }) =>
      !(keyword === 'pattern' && data === '' && tooShort.has(instancePath)),
  );
}

function faultsOfUnion(union: ErrorObject, inside: readonly ErrorObject[], input: unknown): Fault[] {
  const branches = union.schema as Schema[];
  const required = requiredByBranch(branches);
  if (required !== undefined) return [alternativesFault(required, union, input)];
  const param = parameterName(union.instancePath, input);
  const fitting = branches.filter((branch) => typeFits(branch, union.data));
  const meant = fitting.filter((branch) => constantsAgree(branch, union.data));
  const chosen = meant.find((branch) => itemsFit(branch, union.data)) ?? meant[0];
  if (chosen !== undefined) {
    const prefix = `${union.schemaPath}/${branches.indexOf(chosen)}/`;
    const placed = inside.filter((error) => error.schemaPath.startsWith(prefix));
    if (placed.length > 0) return faultsOf(placed, input);
    const [deepest] = inside.toSorted((a, b) => b.instancePath.length - a.instancePath.length);
    if (deepest !== undefined) return [faultOf(deepest, input)];
  }
  const literals = branches.map((branch) => branch.const);
  if (literals.every((literal) => literal !== undefined)) {
    return [{ param, message: `${subject(param)} must be ${choices(literals)}.` }];
  }
  if (fitting.length === 0) {
    return [{ param, message: `${subject(param)} must be ${alternatives(branches.flatMap(typesOf))}.` }];
  }
  return [
    tagFault(fitting, union, input) ?? { param, message: `${subject(param)} matches no accepted form.` },
  ];
}

/** The members of which a union requires one, if that is all that its branches are about. */
function requiredByBranch(branches: readonly Schema[]): string[] | undefined {
  const required = branches.flatMap((branch) => (branch.type === undefined ? (branch.required ?? []) : []));
  return required.length === branches.length ? (required as string[]) : undefined;
}

function alternativesFault(required: readonly string[], union: ErrorObject, input: unknown): Fault {
  const names = required.map((name) => parameterName(union.instancePath, input, name));
  const words = inWords(
    names.map((name) => `\`${name}\``),
    'and',
  );
  const count = union.keyword === 'oneOf' ? 'Exactly one' : 'One';
  return { param: names[0] ?? null, message: `${count} of ${words} is required.` };
}

/** If every branch requires a different constant in the same member, that member is wrong. */
function tagFault(branches: readonly Schema[], union: ErrorObject, input: unknown): Fault | undefined {
  const tags = branches.map((branch) =>
    Object.entries((branch.properties ?? {}) as Record<string, Schema>).filter(
      ([, property]) => property.const !== undefined,
    ),
  );
  const name = tags[0]?.find(([tag]) => tags.every((other) => other.some(([it]) => it === tag)))?.[0];
  if (name === undefined) return undefined;
  const values = tags.flatMap((all) =>
    all.filter(([tag]) => tag === name).map(([, { const: value }]) => value),
  );
  const param = parameterName(union.instancePath, input, name);
  return { param, message: `${subject(param)} must be ${choices(values)}.` };
}

function constantsAgree(schema: Schema, value: unknown): boolean {
  if (schema.const !== undefined) return schema.const === value;
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>).every(
    ([name, property]) =>
      property.const === undefined || property.const === (value as Record<string, unknown>)[name],
  );
}

/** Whether the first item of a list has the type of the branch's items. */
function itemsFit({ items }: Schema, value: unknown): boolean {
  return items === undefined || !Array.isArray(value) || typeFits(items as Schema, value[0]);
}

function typesOf(schema: Schema): string[] {
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as Schema[]).flatMap(typesOf);
  if (schema.type === undefined && Array.isArray(schema.enum))
    return schema.enum.map((value) => (value === null ? 'null' : typeof value));
  return schema.type === undefined ? [] : ([schema.type].flat() as string[]);
}

function typeFits(schema: Schema, value: unknown): boolean {
  const types = typesOf(schema);
  if (types.length === 0) return true;
  return types.some((type) => {
    if (type === 'null') return value === null;
    if (type === 'array') return Array.isArray(value);
    if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
    if (type === 'integer' || type === 'number') return typeof value === 'number';
    return typeof value === type;
  });
}

function faultOf(error: ErrorObject, input: unknown): Fault {
  const { missingProperty, additionalProperty, propertyName = error.propertyName } = error.params;
  const member: string | undefined = missingProperty ?? additionalProperty ?? propertyName;
  const param = parameterName(error.instancePath, input, member);
  return { param, message: `${subject(param)} ${predicate(error)}.` };
}

function subject(param: string | null): string {
  return param === null ? 'The body' : `\`${param}\``;
}

/** Patterns are hard to read, so the field's description, which has an example, is shown instead. */
function patternsMessage({ schema, parentSchema, data }: ErrorObject): string {
  if (schema === oneLinePattern) return whyNotOneLine(String(data));
  if (schema === idempotencyKeyPattern)
    return `must be 1 to ${idempotencyKeyCharactersMax} visible ASCII characters, sent once`;
  const { description } = (parentSchema ?? {}) as { description?: unknown };
  const unexpected = 'is not in the expected format';
  return typeof description === 'string' ? `${unexpected}: ${description.replace(/\.$/, '')}` : unexpected;
}

function whyNotOneLine(text: string): string {
  const words = text.trim();
  if (words === '') return 'must not be blank';
  if (words !== text) return 'must not start or end with white space';
  return 'must be one line, without control characters';
}

function predicate(error: ErrorObject): string {
  const { keyword, params, schema } = error;
  const limit = params.limit as number;
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
    case 'unevaluatedProperties':
    case 'propertyNames':
      return 'is not a known field';
    case 'type':
      return `must be ${alternatives([schema].flat() as string[])}`;
    case 'enum':
      return `must be ${choices(schema as unknown[])}`;
    case 'const':
      return `must be ${choices([schema])}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return `must have at least ${limit} ${limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `must have at most ${limit} items`;
    case 'minProperties':
      return `must have at least ${limit} ${limit === 1 ? 'field' : 'fields'}`;
    case 'maxProperties':
      return `must have at most ${limit} fields`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'multipleOf':
      return `must be a multiple of ${params.multipleOf}`;
    case 'uniqueItems':
      return 'must not contain duplicates';
    case 'format':
      return params.format === 'date-time' ? 'must be an ISO 8601 time' : `must be a valid ${params.format}`;
    default:
      return patternsMessage(error);
  }
}

const typeNames: Record<string, string> = {
  array: 'an array',
  boolean: 'a boolean',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

function alternatives(types: readonly string[]): string {
  return inWords([...new Set(types)].map((type) => typeNames[type] ?? type)) || 'something else';
}

function choices(values: readonly unknown[]): string {
  const texts = values.map((value) => `\`${value}\``);
  return texts.length === 1 ? (texts[0] as string) : `one of ${texts.join(', ')}`;
}

/** Longer names are truncated. */
const nameCharsMax = 64;

/**
 * The location of a fault as the caller would write it: `input[2].content`. Null for the whole input. `pointer` is a
 * JSON pointer (RFC 6901) into `input`; `member` is a missing or additional field below it.
 */
export function parameterName(pointer: string, input: unknown, member?: string): string | null {
  let name = '';
  let value = input;
  for (const escaped of pointer.split('/').slice(1)) {
    const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    name += Array.isArray(value) ? `[${key}]` : field(name, key);
    value = (value as Record<string, unknown> | undefined)?.[key];
  }
  if (member !== undefined) name += field(name, member);
  return name === '' ? null : name;
}

function field(before: string, key: string): string {
  const short = key.length > nameCharsMax ? `${key.slice(0, nameCharsMax)}…` : key;
  if (!/^[\w-]+$/.test(key)) return `[${JSON.stringify(short)}]`;
  return before === '' ? short : `.${short}`;
}
