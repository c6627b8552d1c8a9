import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import type { Endpoint, Surface } from '../../../shared/contract/endpoint.ts';
import { standalone } from '../../../shared/contract/schema.ts';
import { ApiError } from '../../../shared/errors.ts';
import { missingResource } from '../../../shared/faults/not-found.ts';
import type { ServerCall } from '../server-call.ts';
import { compiledBodies } from './compiled-bodies.ts';
import { type Fault, faultsOf, parameterName } from './faults.ts';

/** Validates and completes a handler's input: `params`, `query` and `body`. Compiled on the first call. */
export type InputCheck = (call: Pick<ServerCall, 'params' | 'query' | 'headers' | 'body'>) => void;

export function inputCheck(endpoint: Endpoint): InputCheck {
  const { surface } = endpoint;
  const all = surface === 'site';
  const params = paramsCheck(endpoint);
  const query = lazily(endpoint.query, { coerce: true, all });
  const headers = lazily(endpoint.headers, { coerce: false, all });
  const body = endpoint.ownFaults
    ? undefined
    : lazily(endpoint.body, { coerce: false, all }, compiledBodies[endpoint.id]);
  const headersOf = headersIn(endpoint.headers);
  return (call) => {
    params(call);
    if (query) refuse([...query(call.query), ...unknownParameters(endpoint, call.query)], surface);
    const given = headers && headersOf(call.headers);
    if (given) refuse(headers(given), surface);
    if (!body) return;
    if (call.body !== undefined) refuse(body(call.body), surface);
    else if (endpoint.bodyRequired !== false) {
      throw new ApiError('invalid_request', { message: 'A JSON body is required.' });
    }
  };
}

/** Returns a function that picks the headers of a contract; undefined if there are none to check, as in most calls. */
function headersIn(schema: TSchema | undefined) {
  const { properties = {}, required } = (schema ?? {}) as { properties?: object; required?: string[] };
  const names = Object.keys(properties).map((name) => [name, name.toLowerCase()] as const);
  return (sent: ServerCall['headers']): Record<string, unknown> | undefined => {
    let given: Record<string, unknown> | undefined = required ? {} : undefined;
    for (const [name, key] of names) {
      const value = sent[key];
      if (value === undefined) continue;
      given ??= {};
      given[name] = value;
    }
    return given;
  };
}

/** The part of the check that needs only the path. */
export function paramsCheck(endpoint: Endpoint): (call: Pick<ServerCall, 'params'>) => void {
  const params = lazily(endpoint.params, { coerce: true, all: false });
  return (call) => {
    if (!params || params(call.params).length === 0) return;
    // An invalid path names nothing. The site API has one message for all.
    const message =
      endpoint.surface === 'site'
        ? undefined
        : missingResource(endpoint.path, call.params as Record<string, unknown>);
    throw new ApiError('not_found', message === undefined ? {} : { message });
  };
}

function unknownParameters({ query }: Endpoint, given: unknown): Fault[] {
  const { properties = {}, additionalProperties } = query as {
    properties?: object;
    additionalProperties?: boolean;
  };
  if (additionalProperties) return [];
  const known = Object.keys(properties);
  return Object.keys(given as object)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const param = parameterName('', given, name);
      const names = known.map((each) => `\`${each}\``).join(', ');
      return {
        param,
        message: `\`${param}\` is not a query parameter of this endpoint, which has ${names}.`,
      };
    });
}

function lazily(
  schema: TSchema | undefined,
  dialect: Dialect,
  compiled?: ValidateFunction,
): ((value: unknown) => Fault[]) | undefined {
  if (schema === undefined) return undefined;
  let validate = compiled;
  const numbers = dialect.coerce ? numbersIn(schema) : [];
  return (value) => {
    const given = value as Record<string, unknown>;
    const odd = oddNumbers(given, numbers);
    // In quotes, they are text like any other.
    for (const [name, text] of odd) given[name] = JSON.stringify(text);
    validate ??= validatorOf(schema, dialect);
    const isValid = validate(value);
    for (const [name, text] of odd) given[name] = text;
    return isValid ? [] : faultsOf((validate.errors ?? []) as ErrorObject[], value);
  };
}

function numbersIn({
  properties = {},
}: TSchema & { properties?: Record<string, { type?: unknown }> }): string[] {
  return Object.keys(properties).filter((name) => /^(integer|number)$/.test(String(properties[name]?.type)));
}

/** Ajv accepts whatever JavaScript reads as a number, such as `0x10` and `1e3`. Returns those of the given members. */
function oddNumbers(
  given: Record<string, unknown>,
  names: readonly string[],
): [name: string, text: string][] {
  return names.flatMap((name) => {
    const text = given[name];
    return typeof text === 'string' && !/^-?\d+(\.\d+)?$/.test(text) ? [[name, text]] : [];
  });
}

function refuse(faults: readonly Fault[], surface: Surface): void {
  const [first] = faults;
  if (first === undefined) return;
  const { param, message } = first;
  if (surface !== 'site') throw new ApiError('invalid_request', { param, message });
  // Callers choose field names, including those of Object.prototype.
  const byField = Map.groupBy(faults, (fault) => fault.param ?? 'body');
  const errors = Object.fromEntries([...byField].map(([field, all]) => [field, all.map((it) => it.message)]));
  throw new ApiError('invalid_request', { param, message, extra: { errors } });
}

/** The JSON Schema formats that contracts use. Others fail when their endpoint is first called. */
export const formats = {
  'date-time': {
    type: 'string' as const,
    validate: (text: string) =>
      /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/.test(text) &&
      !Number.isNaN(Date.parse(text)),
  },
  date: {
    type: 'string' as const,
    validate: (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  },
  uri: { type: 'string' as const, validate: (text: string) => URL.canParse(text) },
};

export interface Dialect {
  /** Converts strings to numbers and booleans: paths and queries contain only strings. */
  coerce: boolean;
  /** All faults or only the first: the two surfaces differ. */
  all: boolean;
}

const ajvs = new Map<string, Ajv>();

function ajvFor({ coerce, all }: Dialect): Ajv {
  const name = `${coerce} ${all}`;
  const known = ajvs.get(name);
  if (known) return known;
  const made = new Ajv(ajvOptions({ coerce, all }));
  ajvs.set(name, made);
  return made;
}

export function ajvOptions({ coerce, all }: Dialect): Options {
  return {
    allErrors: all,
    coerceTypes: coerce ? 'array' : false,
    removeAdditional: false,
    useDefaults: coerce,
    // Many digits parse as Infinity, which Ajv would exempt from all bounds.
    strictNumbers: !coerce,
    verbose: true,
    addUsedSchema: false,
    strictTypes: false,
    strictTuples: false,
    formats,
    // Contracts are checked by tests, not at every start, and compiled code need not be optimised.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  };
}

const compiled = new WeakMap<TSchema, Map<Ajv, ValidateFunction>>();

/** The validator of a contract's schema; compiled on first use. */
export function validatorOf(schema: TSchema, dialect: Dialect): ValidateFunction {
  const ajv = ajvFor(dialect);
  const known = compiled.get(schema) ?? new Map<Ajv, ValidateFunction>();
  compiled.set(schema, known);
  const validate = known.get(ajv) ?? ajv.compile(standalone(schema));
  known.set(ajv, validate);
  return validate;
}
