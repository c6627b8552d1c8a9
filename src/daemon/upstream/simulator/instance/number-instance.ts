import { type Schema, Unsatisfiable } from './merge-schemas.ts';

/** A number that fits the schema, near 1; `ordinal` moves it so that the items of a list differ. */
export function numberInstance(schema: Schema, isInteger: boolean, ordinal: number): number {
  const fits = (value: number) => numberFits(schema, isInteger, value);
  const low = tightest([schema.minimum, schema.exclusiveMinimum], Math.max);
  const high = tightest([schema.maximum, schema.exclusiveMaximum], Math.min);
  const middle =
    low === undefined || high === undefined ? [] : [low + (high - low) / (ordinal + 2), low, high];
  const found = [multiple(schema, isInteger, { low, high, ordinal }), ...middle].find(fits);
  if (found === undefined) throw new Unsatisfiable('no number fits in it');
  return found;
}

export function numberFits(schema: Schema, isInteger: boolean, value: number): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (!Number.isFinite(value) || (isInteger && !Number.isInteger(value))) return false;
  if (typeof minimum === 'number' && value < minimum) return false;
  if (typeof maximum === 'number' && value > maximum) return false;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== 'number' || Number.isInteger(value / multipleOf);
}

/** The multiple of the schema's step that is nearest to 1 and in bounds, moved by `ordinal` and round again. */
function multiple(
  schema: Schema,
  isInteger: boolean,
  { low, high, ordinal }: { low: number | undefined; high: number | undefined; ordinal: number },
): number {
  const step = stepOf(schema, isInteger);
  const wanted = Math.max(1, Math.round(1 / step));
  const first = low === undefined ? undefined : Math.ceil(low / step) + (isOpen(schema, step, low) ? 1 : 0);
  const last =
    high === undefined ? undefined : Math.floor(high / step) - (isOpen(schema, step, high) ? 1 : 0);
  const start = Math.min(Math.max(wanted, first ?? wanted), last ?? Number.POSITIVE_INFINITY);
  if (first === undefined) return (last === undefined ? start + ordinal : start - ordinal) * step;
  const count = last === undefined ? Number.POSITIVE_INFINITY : Math.max(1, last - first + 1);
  return (first + ((start - first + ordinal) % count)) * step;
}

/** Whether a bound is a multiple that the schema excludes. */
function isOpen(schema: Schema, step: number, limit: number): boolean {
  const excluded = schema.exclusiveMinimum === limit || schema.exclusiveMaximum === limit;
  return excluded && Number.isInteger(limit / step);
}

function tightest(bounds: unknown[], choose: (a: number, b: number) => number): number | undefined {
  const known = bounds.filter((value) => typeof value === 'number');
  return known.length === 0 ? undefined : known.reduce((a, b) => choose(a, b));
}

function stepOf(schema: Schema, isInteger: boolean): number {
  const { multipleOf } = schema;
  if (typeof multipleOf !== 'number' || multipleOf <= 0) return 1;
  if (!isInteger || Number.isInteger(multipleOf)) return multipleOf;
  // The first whole multiple; a step that has none among the first thousand is left as it is.
  for (let times = 2; times <= 1000; times += 1) {
    if (Number.isInteger(multipleOf * times)) return multipleOf * times;
  }
  return multipleOf;
}
