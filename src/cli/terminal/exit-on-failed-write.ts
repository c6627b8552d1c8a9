import { exitCodes } from '../../shared/errors.ts';

/** Ends the process after a write to one of its standard streams has failed. */
export function exitOnFailedWrite(stream: NodeJS.WriteStream, { code }: NodeJS.ErrnoException): void {
  const isOutput = stream === process.stdout;
  if (code === 'EPIPE') {
    // A reader that has seen enough, like `head`, ends the program silently. Without one for its notes and errors it goes on.
    if (isOutput) process.exit(exitCodes.done);
    return;
  }
  // The disk is full, for example. A failure of stderr itself cannot be reported.
  if (isOutput) process.stderr.write(`error: Cannot write the output (${code}).\n`);
  process.exit(exitCodes.failed);
}
