/** Longest text that is sent, in bytes: terminals drop longer ones. */
const bytesMax = 74_000;

/**
 * What a terminal is sent to put text on the clipboard, also over SSH. Source: xterm control sequences, OSC 52.
 */
export function clipboardSequence(text: string): string | undefined {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > bytesMax) return undefined;
  return `\u001b]52;c;${bytes.toString('base64')}\u0007`;
}
