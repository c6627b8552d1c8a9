import { closeSync, constants, openSync, readSync } from 'node:fs';
import type { ReadStream } from 'node:tty';

const piece = 4096;

/** Drops what was typed at the terminal before. */
export function dropTypedAhead(terminal: ReadStream): void {
  if (terminal.readableLength > 0) terminal.read();
  const wasRaw = terminal.isRaw;
  terminal.setRawMode(true);
  try {
    waitingKeys();
  } finally {
    terminal.setRawMode(wasRaw);
  }
}

/**
 * Turns on raw mode, and leaves what was typed before to be read as keys: until then, the terminal changed Enter into a line
 * feed, which is Ctrl-J.
 */
export function keepTypedAhead(terminal: ReadStream): void {
  terminal.setRawMode(true);
  const keys = waitingKeys();
  if (keys.length > 0) terminal.unshift(keys.map((key) => (key === lineFeed ? carriageReturn : key)));
}

const lineFeed = 10;
const carriageReturn = 13;

/** The keys that wait in a terminal in raw mode: in another, a line waits for its end. Empty where none can be read without waiting. */
function waitingKeys(): Buffer {
  const pieces: Buffer[] = [];
  try {
    // A file of its own, as reads of standard input wait, for other programs, too.
    const file = openSync('/dev/tty', constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      for (;;) {
        const bytes = Buffer.alloc(piece);
        const length = readSync(file, bytes);
        if (length === 0) break;
        pieces.push(bytes.subarray(0, length));
      }
    } finally {
      closeSync(file);
    }
  } catch {
    // EAGAIN where none waits any more; Windows has no such file.
  }
  return Buffer.concat(pieces);
}
