import type { Io } from '../io.ts';
import { visibleCell } from './visible.ts';
import { cutToWidth } from './width.ts';

export interface Spinner {
  stop(): void;
}

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const frameMs = 100;
const clearLine = '\r\u001b[2K';

/** Turns on one line of a terminal, with a text that is asked for anew at each turn, until stopped. */
export function startSpinner(
  { stderr, columns }: Pick<Io, 'stderr' | 'columns'>,
  text: () => string,
): Spinner {
  let turn = 0;
  const timer = setInterval(() => {
    turn += 1;
    // A line that wrapped could not be cleared.
    const line = cutToWidth(`${frames[turn % frames.length]} ${visibleCell(text())}`, columns() - 1);
    stderr.write(clearLine + line);
  }, frameMs);
  return {
    stop() {
      clearInterval(timer);
      if (turn > 0) stderr.write(clearLine);
      turn = 0;
    },
  };
}
