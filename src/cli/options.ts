import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { exitCodes } from '../shared/errors.ts';
import { CliError } from './failures/cli-error.ts';

/** The example at the end of a command's help. */
export function example(line: string): string {
  return `\nExample:\n  $ ${line}`;
}

/** The option of commands whose tables are worth a spreadsheet. */
export const csvOption = () =>
  new Option('--csv', 'print CSV with a header').conflicts(['json', 'jq', 'quiet']);

/** A parser for options that take a whole number. */
export function wholeNumber({ min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number }) {
  return (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(
      max === Number.MAX_SAFE_INTEGER
        ? `It must be a whole number from ${min}.`
        : `It must be a whole number from ${min} to ${max}.`,
    );
  };
}

/** A parser for options that take a UTC day or time; the daemon checks that it exists. */
export function timeBound(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text)) return text;
  throw new InvalidArgumentError('It must be like 2026-11-01 or 2026-11-01T08:00:00Z.');
}

/** Throws if a filter is combined with a single request, where it would be ignored. */
export function checkNoFilter(request: string, filter: Record<string, unknown>): void {
  const given = Object.keys(filter).find((name) => filter[name] !== undefined);
  if (given === undefined) return;
  throw new CliError(`--${given} cannot be combined with a request id.`, {
    exit: exitCodes.usage,
    next: `Omit it, or omit ${request}.`,
  });
}
