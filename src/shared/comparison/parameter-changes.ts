import { requestParameters } from './request-parts.ts';

export interface ParameterChange {
  name: string;
  /** As JSON; null where it is missing. */
  before: string | null;
  after: string | null;
}

/** The parameters in which two requests differ. */
export function parameterChanges(before: unknown, after: unknown): ParameterChange[] {
  const earlier = new Map(requestParameters(before).map(({ name, value }) => [name, value]));
  const later = new Map(requestParameters(after).map(({ name, value }) => [name, value]));
  return [...new Set([...earlier.keys(), ...later.keys()])]
    .map((name) => ({ name, before: earlier.get(name) ?? null, after: later.get(name) ?? null }))
    .filter((parameter) => parameter.before !== parameter.after);
}
