import { isObject } from '../../../shared/json/json-object.ts';

const weighted = /^(\S+)\s+(\d+(?:\.\d+)?)$/;

/** What an alias stands for, a model per line; with weights, each has its own after it. */
export function aliasLines(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.map(String);
  return isObject(value) ? Object.entries(value).map(([model, weight]) => `${model} ${String(weight)}`) : [];
}

/** The value of an alias in the file: a model, a list of models, or a map of models to weights. */
export function aliasValue(lines: readonly string[]): unknown {
  const matches = lines.map((line) => weighted.exec(line));
  if (lines.length > 0 && matches.every((match) => match !== null))
    return Object.fromEntries(matches.map((match) => [match?.[1], Number(match?.[2])]));
  return lines.length === 1 ? lines[0] : [...lines];
}
