import { openSync, readFileSync } from 'node:fs';
import { exitCodes } from '../../../shared/errors.ts';
import { CliError, usageError } from '../../failures/cli-error.ts';
import { whyNotRead, whyNotWritten } from '../../failures/file-faults.ts';
import { textIn } from '../../terminal/piped-input.ts';

/** Fails for a file that cannot be read, or is not text. */
export function textOfFile(file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new CliError(whyNotRead(file, cause as NodeJS.ErrnoException), { exit: exitCodes.usage, cause });
  }
  return textIn(bytes, file);
}

/** Opens a file before it is needed; fails if `what` cannot be written to it. */
export function openToAppend(file: string, what: string): number {
  try {
    return openSync(file, 'a');
  } catch (cause) {
    throw usageError(`${what} cannot be saved. ${whyNotWritten(file, cause as NodeJS.ErrnoException)}`);
  }
}
