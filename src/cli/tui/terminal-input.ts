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

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';
const ctrlC = '\u0003';

/**
 * Keys of a terminal as Ink takes them: the reports of the mouse are taken out, as Ink drops those, and Ctrl-C ends a paste of which
 * the end was lost, for which Ink would wait for ever.
 */
export class TerminalInput extends Transform {
  readonly isTTY = true;
  readonly #terminal: Pick<ReadStream, 'setRawMode' | 'ref' | 'unref'>;
  readonly #onMouse: (event: MouseEvent) => void;
  #kept = '';
  #isPasting = false;
  /** The end of what came before, which may be the begin of a mark. */
  #before = '';

  /** `onMouse` is for a terminal that was asked to report its mouse. */
  constructor(
    terminal: Pick<ReadStream, 'setRawMode' | 'ref' | 'unref'>,
    onMouse: (event: MouseEvent) => void = () => {},
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
    const rest = this.#withEndOfPaste(keys.slice(0, keys.length - this.#kept.length));
    done(null, rest === '' ? undefined : Buffer.from(rest, 'latin1'));
  }

  #withEndOfPaste(keys: string): string {
    // Nobody pastes it by itself.
    const isGivenUp = this.#isPasting && keys === ctrlC;
    const text = isGivenUp ? pasteEnd + keys : keys;
    const seen = this.#before + text;
    const [start, end] = [seen.lastIndexOf(pasteStart), seen.lastIndexOf(pasteEnd)];
    if (start !== end) this.#isPasting = start > end;
    this.#before = seen.slice(1 - pasteStart.length);
    return text;
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
