import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { standalone } from '../../../shared/contract/schema.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { ServerCall } from '../server-call.ts';
import { type Fault, faultsOf } from './faults.ts';

/** Checks and fills in what a handler is handed: `params`, `query` and `body`. Compiled when it is first called. */
export type InputCheck = (call: Pick<ServerCall, 'params' | 'query' | 'headers' | 'body'>) => void;

export function inputCheck(endpoint: Endpoint): InputCheck {
  const { surface } = endpoint;
  const all = surface === 'site';
  const params = paramsCheck(endpoint);
  const query = lazily(endpoint.query, { coerce: true, all });
  const headers = lazily(endpoint.headers, { coerce: false, all });
  const body = endpoint.ownFaults ? undefined : lazily(endpoint.body, { coerce: false, all });
  const headerNames = Object.keys(
    (endpoint.headers as { properties?: object } | undefined)?.properties ?? {},
  );
  return (call) => {
    params(call);
    if (query) refuse(query(call.query), surface);
    if (headers) {
      const given = headerNames.map((name) => [name, call.headers[name.toLowerCase()]]);
      refuse(headers(Object.fromEntries(given.filter(([, value]) => value !== undefined))), surface);
    }
    if (!body) return;
    if (call.body !== undefined) refuse(body(call.body), surface);
    else if (endpoint.bodyRequired !== false) {
      throw new ApiError('invalid_request', { message: 'A JSON body is required.' });
    }
  };
}

/** The part of the check that needs the path alone. */
export function paramsCheck(endpoint: Endpoint): (call: Pick<ServerCall, 'params'>) => void {
  const params = lazily(endpoint.params, { coerce: true, all: false });
  return (call) => {
    // A path that cannot name anything is a path that names nothing.
    if (params && params(call.params).length > 0) throw new ApiError('not_found');
  };
}

/**
 * Compiles the check of an endpoint's body now, which takes some ten milliseconds for that of a model call: for a time
 * when nobody waits.
 */
export function prepareBodyCheck({ body, surface }: Endpoint): void {
  if (body) validatorOf(body, { coerce: false, all: surface === 'site' });
}

/** Compiles everything that the endpoint declares; throws what would otherwise only show on its first call. */
export function checkContract(endpoint: Endpoint): void {
  for (const part of [endpoint.params, endpoint.query, endpoint.headers, endpoint.body]) {
    if (part) new Ajv({ strictTypes: false, strictTuples: false, formats }).compile(standalone(part));
  }
}

function lazily(schema: TSchema | undefined, dialect: Dialect): ((value: unknown) => Fault[]) | undefined {
  if (schema === undefined) return undefined;
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= validatorOf(schema, dialect);
    if (validate(value)) return [];
    return faultsOf((validate.errors ?? []) as ErrorObject[], value);
  };
}

function refuse(faults: readonly Fault[], surface: Endpoint['surface']): void {
  const [first] = faults;
  if (first === undefined) return;
  const { param, message } = first;
  if (surface === 'v1') throw new ApiError('invalid_request', { param, message });
  // Fields have the names that callers gave them: those of every object's own members too.
  const byField = Map.groupBy(faults, (fault) => fault.param ?? 'body');
  const errors = Object.fromEntries([...byField].map(([field, all]) => [field, all.map((it) => it.message)]));
  throw new ApiError('invalid_request', { param, message, extra: { errors } });
}

/** Formats of JSON Schema that contracts use. Another one fails when its endpoint is first called. */
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
  /** Text that is meant as a number or a boolean counts as one: paths and queries have nothing else. */
  coerce: boolean;
  /** All faults at once, or the first: what a caller is shown differs by surface. */
  all: boolean;
}

const ajvs = new Map<string, Ajv>();

function ajvFor({ coerce, all }: Dialect): Ajv {
  const name = `${coerce} ${all}`;
  const known = ajvs.get(name);
  if (known) return known;
  const made = new Ajv({
    allErrors: all,
    coerceTypes: coerce ? 'array' : false,
    removeAdditional: false,
    useDefaults: coerce,
    // A text of many digits becomes Infinity, which Ajv would otherwise spare all bounds.
    strictNumbers: !coerce,
    verbose: true,
    addUsedSchema: false,
    strictTypes: false,
    strictTuples: false,
    formats,
    ...quickToCompile,
  });
  ajvs.set(name, made);
  return made;
}

// Contracts are checked by tests, not at every start; and what is compiled once need not be polished.
const quickToCompile = { meta: false, validateSchema: false, code: { optimize: false } } as const;

const compiled = new WeakMap<TSchema, Map<Ajv, ValidateFunction>>();

/** The validator of a contract's schema; compiled when it is first asked for. */
export function validatorOf(schema: TSchema, dialect: Dialect): ValidateFunction {
  const ajv = ajvFor(dialect);
  const known = compiled.get(schema) ?? new Map<Ajv, ValidateFunction>();
  compiled.set(schema, known);
  const validate = known.get(ajv) ?? ajv.compile(standalone(schema));
  known.set(ajv, validate);
  return validate;
}
