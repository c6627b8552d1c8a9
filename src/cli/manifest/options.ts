import { InvalidArgumentError } from '@commander-js/extra-typings';
import { exitCodes } from '../../shared/errors.ts';
import { CliError } from '../failures/cli-error.ts';

/** The end of a command's help: one line that can be typed as it stands. */
export function example(line: string): string {
  return `\nExample:\n  $ ${line}`;
}

/** Reads the value of an option that takes a whole number within bounds. */
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

/** Reads the value of an option that takes a UTC day or time; whether there is such a day, the daemon says. */
export function timeBound(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text)) return text;
  throw new InvalidArgumentError('It must be like 2026-11-01 or 2026-11-01T08:00:00Z.');
}

/** Fails where one request is named and what narrows a list down is, too: it would be left unheeded. */
export function checkNoFilter(request: string, filter: Record<string, unknown>): void {
  const given = Object.keys(filter).find((name) => filter[name] !== undefined);
  if (given === undefined) return;
  throw new CliError(`--${given} is of no use where one request is named.`, {
    exit: exitCodes.usage,
    next: `Leave it out, or leave out ${request}.`,
  });
}
