import { openSync, readFileSync } from 'node:fs';
import { exitCodes } from '../../../shared/errors.ts';
import { decodeText } from '../../../shared/text/decode-text.ts';
import { CliError } from '../../failures/cli-error.ts';

export function usage(message: string, next?: string): CliError {
  return new CliError(message, { exit: exitCodes.usage, ...(next !== undefined && { next }) });
}

/** Fails for a file that cannot be read, or is not text. */
export function textOfFile(file: string): string {
  let text: string;
  try {
    text = decodeText(readFileSync(file));
  } catch (cause) {
    throw new CliError(`${file} cannot be read.`, { exit: exitCodes.usage, cause });
  }
  if (text.includes('\0')) throw usage(`${file} is not text.`);
  return text;
}

/** Opens a file before it is needed; fails if `what` cannot be written to it. */
export function openToAppend(file: string, what: string): number {
  try {
    return openSync(file, 'a');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw usage(`${what} cannot be written to ${file} (${code}).`);
  }
}
