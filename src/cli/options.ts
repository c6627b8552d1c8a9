import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { usageError } from './failures/cli-error.ts';

/** The example at the end of a command's help. */
export function example(line: string): string {
  return `\nExample:\n  $ ${line}`;
}

/** The option of commands whose tables are worth a spreadsheet. */
export const csvOption = () =>
  new Option('--csv', 'print CSV with a header').conflicts(['json', 'jq', 'quiet']);

/** What separates the cells of CSV. */
export const delimiterOption = () =>
  new Option('--delimiter <delimiter>', 'between the cells of CSV; semicolon: with decimal commas').choices([
    'comma',
    'semicolon',
    'tab',
  ] as const);

/** The option of commands that ask before they delete or pay. */
export const yesOption = () => new Option('-y, --yes', 'skip the confirmation');

/** A parser for options that take a number. */
export function numberFrom({ min, max }: { min: number; max: number }) {
  return (text: string): number => {
    const number = text.trim() === '' ? Number.NaN : Number(text);
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
  };
}

const unitMinutes = { m: 1, h: 60, d: 1440 };

/** Parses a length of time such as `15m`, `1h` or `7d`. Returns minutes. */
export function minutes(text: string): number {
  const [, number, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const each = unitMinutes[unit as keyof typeof unitMinutes];
  if (number !== undefined && each !== undefined) return Number(number) * each;
  throw new InvalidArgumentError('It must be a time like 15m, 1h or 7d.');
}

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

/** Throws if a filter is combined with a single request, where it would be ignored. */
export function checkNoFilter(request: string, filter: Record<string, unknown>): void {
  const given = Object.keys(filter).find((name) => filter[name] !== undefined);
  if (given === undefined) return;
  throw usageError(`--${given} cannot be combined with the id of a call.`, `Omit it, or omit ${request}.`);
}
