import { Transform, type TransformCallback } from 'node:stream';
import type { ReadStream } from 'node:tty';

/** What the mouse did, at a cell counted from the upper left. */
export interface MouseEvent {
  kind: 'click' | 'wheel-up' | 'wheel-down';
  x: number;
  y: number;
}

/** Reports clicks and the wheel, in a form without limit of columns. Source: xterm control sequences, mouse tracking. */
export const mouseOn = '\u001b[?1000h\u001b[?1006h';
export const mouseOff = '\u001b[?1006l\u001b[?1000l';

/** `ESC [ < button ; column ; row M`, with `m` where the button is released. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send it.
const report = /\u001b\[<(\d{1,5});(\d{1,5});(\d{1,5})([Mm])/g;
/** A report of which the rest is still to come. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals send it.
const unfinished = /\u001b\[<[\d;]{0,17}$/;

/** Keys of a terminal, from which the reports of its mouse are taken out: Ink drops those. */
export class MouseInput extends Transform {
  readonly isTTY = true;
  readonly #terminal: Pick<ReadStream, 'setRawMode' | 'ref' | 'unref'>;
  readonly #onMouse: (event: MouseEvent) => void;
  #kept = '';

  constructor(
    terminal: Pick<ReadStream, 'setRawMode' | 'ref' | 'unref'>,
    onMouse: (event: MouseEvent) => void,
  ) {
    super();
    this.#terminal = terminal;
    this.#onMouse = onMouse;
  }

  setRawMode(mode: boolean): this {
    this.#terminal.setRawMode(mode);
    return this;
  }

  ref(): this {
    this.#terminal.ref();
    return this;
  }

  unref(): this {
    this.#terminal.unref();
    return this;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    // A character for each byte, so that those of longer characters stay as they are.
    const text = this.#kept + chunk.toString('latin1');
    const keys = text.replace(report, (_whole, button: string, column: string, row: string, end: string) => {
      const kind = kindOf(Number(button), end);
      if (kind) this.#onMouse({ kind, x: Number(column) - 1, y: Number(row) - 1 });
      return '';
    });
    this.#kept = unfinished.exec(keys)?.[0] ?? '';
    const rest = keys.slice(0, keys.length - this.#kept.length);
    done(null, rest === '' ? undefined : Buffer.from(rest, 'latin1'));
  }
}

const wheel = 64;
/** Shift, Alt and Ctrl. */
const modifiers = 4 + 8 + 16;

function kindOf(button: number, end: string): MouseEvent['kind'] | undefined {
  const plain = button & ~modifiers;
  if (plain === wheel) return 'wheel-up';
  if (plain === wheel + 1) return 'wheel-down';
  return plain === 0 && end === 'M' ? 'click' : undefined;
}
