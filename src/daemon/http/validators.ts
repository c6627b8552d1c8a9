import { Ajv, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { standalone } from '../../shared/contract/schema.ts';

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
