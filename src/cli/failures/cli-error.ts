import type { ExitCode } from '../../shared/errors.ts';

interface CliErrorOptions {
  exit: ExitCode;
  /** What the person can do now. */
  next?: string;
  cause?: unknown;
}

/** A failure that a command explains itself: a sentence, an exit code, and what to do next. */
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

/** What went wrong after a part of the answer was printed: it is told as it is, and the program ends as partly done. */
export class CutShort extends Error {
  readonly failure: unknown;

  constructor(failure: unknown) {
    super('The answer was cut short.', { cause: failure });
    this.name = 'CutShort';
    this.failure = failure;
  }
}
