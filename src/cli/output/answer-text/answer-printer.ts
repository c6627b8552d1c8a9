import type { Io } from '../../io.ts';
import type { Paint } from '../style.ts';
import { paintedWidth } from '../width.ts';
import type { AnswerText } from './answer-text.ts';
import { PlainText } from './plain-text.ts';

/** Prints an answer to stdout as it arrives. */
export interface AnswerPrinter {
  write(piece: string): void;
  /** Ends the last line. */
  end(): void;
}

type Terminal = Pick<Io, 'stdout' | 'columns' | 'rows'>;

interface PrinterOptions {
  /** Whether Markdown is rendered. */
  markdown: boolean;
  paint: Paint;
}

/** On a terminal the text is wrapped and Markdown rendered; a pipe gets every byte as it is. */
export async function answerPrinter(
  io: Terminal,
  { markdown, paint }: PrinterOptions,
): Promise<AnswerPrinter> {
  if (!io.stdout.isTty) return pipePrinter(io);
  return terminalPrinter(
    io,
    markdown ? new (await import('./markdown-text.ts')).MarkdownText(paint) : new PlainText(),
  );
}

function pipePrinter({ stdout }: Pick<Io, 'stdout'>): AnswerPrinter {
  let last = '\n';
  return {
    write(piece) {
      stdout.write(piece);
      last = piece.at(-1) ?? last;
    },
    end() {
      if (last !== '\n') stdout.write('\n');
      last = '\n';
    },
  };
}

const up = (rows: number) => (rows > 0 ? `\u001b[${rows}A` : '');
const eraseBelow = '\u001b[J';

function terminalPrinter(io: Terminal, text: AnswerText): AnswerPrinter {
  /** The lines on the screen that may still change; the cursor is at the end of the last one. */
  let drawn: readonly string[] = [''];
  const show = (lines: readonly string[]) => {
    const [shared, columns] = [sharedLines(drawn, lines), io.columns()];
    const changed = drawn.slice(shared);
    if (changed.length === 0)
      return io.stdout.write(
        lines
          .slice(shared)
          .map((line) => `\n${line}`)
          .join(''),
      );
    const [old = '', ...below] = changed;
    const [line = '', ...others] = lines.slice(shared);
    // Usually the last line just grows.
    if (below.length === 0 && line.startsWith(old))
      return io.stdout.write([line.slice(old.length), ...others].join('\n'));
    // A narrower terminal has wrapped the lines again, and what has left the screen cannot be changed.
    const rows = changed.reduce((sum, one) => sum + Math.max(1, Math.ceil(paintedWidth(one) / columns)), -1);
    const reachable = Math.min(rows, io.rows() - 1);
    const kept = lines.slice(shared + Math.max(0, rows - reachable));
    io.stdout.write(`${up(reachable)}\r${eraseBelow}${kept.join('\n')}`);
  };
  return {
    write(piece) {
      const finished = text.push(piece, io.columns() - 1);
      const growing = text.growing.length === 0 ? [''] : text.growing;
      show([...finished, ...growing]);
      drawn = growing;
    },
    end() {
      const lines = text.end();
      const all = [...lines, ''];
      // Nothing at all was printed.
      if (lines.length === 0 && drawn.length === 1 && drawn[0] === '') return;
      show(all);
      drawn = [''];
    },
  };
}

function sharedLines(before: readonly string[], now: readonly string[]): number {
  const limit = Math.min(before.length, now.length);
  for (let at = 0; at < limit; at += 1) if (before[at] !== now[at]) return at;
  // At least one line is written, so that the cursor ends up there.
  return now.length < before.length ? Math.max(0, limit - 1) : limit;
}
