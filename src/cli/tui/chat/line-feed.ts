import { visible } from '../../output/visible.ts';
import { broken } from '../text/cells.ts';

/**
 * Text that comes piece by piece, as lines of a terminal: those that are full can be printed for good, the rest is still
 * growing. Nothing in the text is obeyed.
 */
export class LineFeed {
  /** The line that is not full yet. */
  rest = '';

  /** Takes a piece; returns the lines that will not change any more. */
  push(piece: string, width: number): string[] {
    const lines = (this.rest + visible(piece).replace(/\t/g, '  ')).split('\n');
    const growing = broken(lines.pop() ?? '', width);
    this.rest = growing.pop() ?? '';
    return [...lines.flatMap((line) => broken(line, width)), ...growing];
  }

  /** The last line, if there is one. */
  end(): string[] {
    const { rest } = this;
    this.rest = '';
    return rest === '' ? [] : [rest];
  }
}
