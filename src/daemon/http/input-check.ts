import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import { standalone } from '../../shared/contract/schema.ts';
import { ApiError } from '../../shared/errors.ts';
import type { ServerCall } from './server-call.ts';
import { type Fault, faultsOf } from './validation-fault.ts';

/** Formats of JSON Schema that contracts use. Another one fails when its endpoint is first called. */
const formats = {
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

interface Dialect {
  /** Text that is meant as a number or a boolean counts as one: paths and queries have nothing else. */
  coerce: boolean;
  /** All faults at once, or the first: what a caller is shown differs by surface. */
  all: boolean;
}

const validators = new Map<string, Ajv>();

function validatorFor({ coerce, all }: Dialect): Ajv {
  const name = `${coerce} ${all}`;
  const known = validators.get(name);
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
  validators.set(name, made);
  return made;
}

// Contracts are checked by tests, not at every start; and what is compiled once need not be polished.
const quickToCompile = { meta: false, validateSchema: false, code: { optimize: false } } as const;

/** Checks and fills in what a handler is handed: `params`, `query` and `body`. Compiled when it is first called. */
export type InputCheck = (call: ServerCall) => void;

export function inputCheck(endpoint: Endpoint): InputCheck {
  const { surface } = endpoint;
  const all = surface === 'site';
  const params = lazily(endpoint.params, { coerce: true, all: false });
  const query = lazily(endpoint.query, { coerce: true, all });
  const headers = lazily(endpoint.headers, { coerce: false, all });
  const body = lazily(endpoint.body, { coerce: false, all });
  const headerNames = Object.keys(
    (endpoint.headers as { properties?: object } | undefined)?.properties ?? {},
  );
  return (call) => {
    // A path that cannot name anything is a path that names nothing.
    if (params && params(call.params).length > 0) throw new ApiError('not_found');
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
    validate ??= validatorFor(dialect).compile(standalone(schema));
    if (validate(value)) return [];
    return faultsOf((validate.errors ?? []) as ErrorObject[], value);
  };
}

function refuse(faults: readonly Fault[], surface: Endpoint['surface']): void {
  const [first] = faults;
  if (first === undefined) return;
  const { param, message } = first;
  if (surface === 'v1') throw new ApiError('invalid_request', { param, message });
  const errors: Record<string, string[]> = {};
  for (const fault of faults) {
    const field = fault.param ?? 'body';
    errors[field] = [...(errors[field] ?? []), fault.message];
  }
  throw new ApiError('invalid_request', { param, message, extra: { errors } });
}
