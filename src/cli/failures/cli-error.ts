import { type ExitCode, exitCodes } from '../../shared/errors.ts';

interface CliErrorOptions {
  exit: ExitCode;
  /** What to do next. */
  next?: string;
  cause?: unknown;
}

/** A failure that a command explains: a sentence, an exit code, and what to do next. */
export class CliError extends Error {
  readonly exit: ExitCode;
  readonly next: string | undefined;

  constructor(message: string, { exit, next, cause }: CliErrorOptions) {
    super(message, { cause });
    this.name = 'CliError';
    this.exit = exit;
    this.next = next;
  }
}

/** A failure after part of the answer was printed: reported as usual, with the exit code for partly done. */
export class CutShort extends Error {
  readonly failure: unknown;

  constructor(failure: unknown) {
    super('The answer was cut short.', { cause: failure });
    this.name = 'CutShort';
    this.failure = failure;
  }
}

/** A command line, or what it names, that cannot be used; `next` is what to do. */
export function usageError(message: string, next?: string): CliError {
  return new CliError(message, { exit: exitCodes.usage, ...(next !== undefined && { next }) });
}
