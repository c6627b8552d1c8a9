import { exitCodes } from '../../shared/errors.ts';
import { missing } from '../../shared/faults/not-found.ts';
import { CliError } from './cli-error.ts';

/** The failure of a command that did not find what the user named. `list` is the command that lists what exists. */
export function noSuch(noun: string, name: string, list: string): CliError {
  return new CliError(missing(noun, name), {
    exit: exitCodes.failed,
    next: `List what exists: ${list}`,
  });
}
