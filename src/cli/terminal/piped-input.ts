import { decodeText } from '../../shared/text/decode-text.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failures/cli-error.ts';

/** Longer than programs take that write what they have. */
const silentMs = 3_000;

/**
 * Reads all that is piped in. Says so if that takes long: programs that start others leave them a pipe into which nobody writes and
 * that nobody closes, for which a command would wait without a word. `otherwise` is how to do without.
 */
export async function readPiped({ io, out, sleep }: Context, otherwise: string): Promise<Uint8Array> {
  const read = new AbortController();
  void sleep(silentMs, read.signal).then(() => {
    if (!read.signal.aborted) out.note(`Waiting for the end of standard input. ${otherwise}`);
  });
  try {
    return await io.stdin.read();
  } finally {
    read.abort();
  }
}

/** The same as text. */
export async function pipedText(context: Context, otherwise: string): Promise<string> {
  return textIn(await readPiped(context, otherwise));
}

/** Bytes that are not UTF-8 are replaced, as logs have some. Fails for what no text has. */
export function textIn(bytes: Uint8Array, what = 'What was piped in'): string {
  const text = decodeText(bytes);
  if (!text.includes('\0')) return text;
  throw usageError(`${what} is not text.`);
}

/** Where a command reads it only if it is piped in. */
export const withoutStdin = 'If nothing is piped in, add --no-stdin.';
/** Where a command needs it. */
export const typedStdin = 'Pipe it in, or end it with Ctrl-D.';
