import { exitCodes, failures } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { CliError } from '../failures/cli-error.ts';
import { Unreachable } from './send.ts';

/** Whether a failure is likely to pass by itself, as during a restart of the daemon. */
export function isTransient(error: unknown): boolean {
  if (error instanceof Unreachable) return error.kind !== 'untrusted' && error.kind !== 'forbidden';
  if (error instanceof ReceivedError) return failures[error.code].retry === 'after-waiting';
  return error instanceof CliError && error.exit === exitCodes.tryLater;
}
