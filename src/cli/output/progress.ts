import { sizeText } from '../../shared/text/size-text.ts';
import { percent } from '../../view/numbers.ts';
import type { Io } from '../io.ts';
import { escapeCell } from './escape-controls.ts';
import { cutToWidth } from './width.ts';

interface ProgressBar {
  /** `done` of `total`, in bytes unless the text of the total says otherwise. */
  show(label: string, done: number, total: number, totalText?: string): void;
  /** Work on `total` bytes without known progress. */
  wait(label: string, total: number): void;
  /** Clears the line. */
  stop(): void;
}

const clearLine = '\r\u001b[2K';
const cells = 24;

/** Draws on stderr if it is a terminal. */
export function progressBar({ stderr, columns }: Pick<Io, 'stderr' | 'columns'>): ProgressBar {
  let shown = '';
  const draw = (line: string) => {
    if (line === shown || !stderr.isTty) return;
    shown = line;
    stderr.write(clearLine + line);
  };
  return {
    show(label, done, total, totalText = sizeText(total)) {
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const full = Math.round(part * cells);
      const bar = '█'.repeat(full) + '░'.repeat(cells - full);
      draw(
        cutToWidth(`${label} ${bar} ${percent(Math.round(part * 100) / 100)} of ${totalText}`, columns() - 1),
      );
    },
    wait: (label, total) => draw(cutToWidth(`${label} ${sizeText(total)} …`, columns() - 1)),
    stop: () => draw(''),
  };
}

interface Spinner {
  stop(): void;
}

const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const frameMs = 100;

/** Shows a spinner on one line of the terminal; `text` is called for each frame. */
export function startSpinner(
  { stderr, columns }: Pick<Io, 'stderr' | 'columns'>,
  text: () => string,
): Spinner {
  let turn = 0;
  const timer = setInterval(() => {
    turn += 1;
    // A wrapped line could not be cleared.
    const line = cutToWidth(`${frames[turn % frames.length]} ${escapeCell(text())}`, columns() - 1);
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
