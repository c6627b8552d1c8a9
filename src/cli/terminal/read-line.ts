import type { ReadStream } from 'node:tty';
import { whenAborted } from '../../shared/async/when-aborted.ts';
import type { LineOptions, Writer } from '../io.ts';
import { dropTypedAhead } from './typed-ahead.ts';

/** Reads one line from a terminal after a prompt; undefined if the input ends or the signal is aborted first. */
export async function readLine(
  terminal: ReadStream,
  output: Pick<Writer, 'write'>,
  { prompt, isFresh, signal }: LineOptions & { signal: AbortSignal | undefined },
): Promise<string | undefined> {
  const { createInterface } = await import('node:readline');
  if (isFresh) dropTypedAhead(terminal);
  output.write(prompt);
  const lines = createInterface({ input: terminal });
  const stopWatching = signal && whenAborted(signal, () => lines.close());
  try {
    for await (const line of lines) return line;
    // Otherwise the line end of the user is also that of the prompt.
    output.write('\n');
    return undefined;
  } finally {
    stopWatching?.();
    lines.close();
  }
}
