import { exitCodes } from '../../shared/errors.ts';
import { CliError } from '../cli-error.ts';

/** Fails where one request is named and what narrows a list down is, too: it would be left unheeded. */
export function checkNoFilter(request: string, filter: Record<string, unknown>): void {
  const given = Object.keys(filter).find((name) => filter[name] !== undefined);
  if (given === undefined) return;
  throw new CliError(`--${given} is of no use where one request is named.`, {
    exit: exitCodes.usage,
    next: `Leave it out, or leave out ${request}.`,
  });
}
