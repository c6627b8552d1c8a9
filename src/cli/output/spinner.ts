import type { Writer } from '../io.ts';
import { visibleCell } from './visible.ts';

export interface Spinner {
  stop(): void;
}

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const frameMs = 100;
const clearLine = '\r\u001b[2K';

/** Turns on one line of a terminal, with a text that is asked for anew at each turn, until stopped. */
export function startSpinner(stderr: Writer, text: () => string): Spinner {
  let turn = 0;
  const timer = setInterval(() => {
    turn += 1;
    stderr.write(`${clearLine}${frames[turn % frames.length]} ${visibleCell(text())}`);
  }, frameMs);
  return {
    stop() {
      clearInterval(timer);
      if (turn > 0) stderr.write(clearLine);
      turn = 0;
    },
  };
}
