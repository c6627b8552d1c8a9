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

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: terminals send them.
/** `ESC [ < button ; column ; row M`, with `m` where the button is released, or `ESC [ M` with a byte for each. */
const report = /\u001b\[(?:<(\d{1,5});(\d{1,5});(\d{1,5})([Mm])|M([ -ÿ])([!-ÿ])([!-ÿ]))/g;
/** Answers to what a program before this one asked: OSC, DCS, APC, PM and SOS. */
const answer = /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[P_^X][^\u001b]*\u001b\\)/g;
/** An answer of which the rest is still to come; without more than its start, it is a key with Alt. */
const unfinishedAnswer = /\u001b(?:\]\d{1,4};|P(?:[>!@]|[01][$+])|_G)[^\u0000-\u001f]{0,4096}\u001b?$/;
/** Another sequence of which the rest is still to come. */
const unfinished = /\u001b\[(?:<?[\d:;]{1,40}|<|M[ -ÿ]{0,2})$/;
/** A key with its modifiers. Sources: kitty's keyboard protocol; xterm control sequences, modifyOtherKeys. */
const key = /\u001b\[(\d+)(?::(\d*))?(?::(\d*))?(?:;(\d*)(?::(\d))?)?(?:;([\d:]*))?([u~A-HP-S])/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: terminals send them.

const pasteStart = '\u001b[200~';
const pasteEnd = '\u001b[201~';
const ctrlC = '\u0003';

/**
 * Keys of a terminal as Ink takes them: reports of the mouse and answers of the terminal are taken out, which Ink drops or takes for text, other
 * protocols of keys are translated, and Ctrl-C ends a paste of which the end was lost, for which Ink would wait for ever.
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
    const added = chunk.toString('latin1');
    const isCutOff = unfinishedAnswer.test(this.#kept) && isOneKey(added);
    const text = isCutOff ? added : this.#kept + added;
    const keys = text
      .replace(answer, '')
      .replace(report, (_whole, ...parts: string[]) => this.#mouse(parts))
      .replace(key, (whole, ...parts: string[]) => translated(whole, parts));
    this.#kept = (unfinishedAnswer.exec(keys) ?? unfinished.exec(keys))?.[0] ?? '';
    const rest = this.#withEndOfPaste(keys.slice(0, keys.length - this.#kept.length));
    done(null, rest === '' ? undefined : Buffer.from(rest, 'latin1'));
  }

  #mouse([button, column, row, end, ...bytes]: string[]): string {
    const [coded = 0, x = 0, y = 0] = bytes.slice(0, 3).map((byte) => (byte?.charCodeAt(0) ?? 0) - 32);
    const kind = kindOf(Number(button ?? coded), end ?? 'M');
    if (kind) this.#onMouse({ kind, x: Number(column ?? x) - 1, y: Number(row ?? y) - 1 });
    return '';
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

/** Whether a user who types sent it, rather than a terminal that goes on with an answer. */
function isOneKey(text: string): boolean {
  return text.length === 1
    ? text !== '\u0007' && text !== '\\'
    : text.startsWith('\u001b') && text[1] !== '\\';
}

const [shiftBit, altBit, ctrlBit] = [1, 2, 4];
/** The keys of the number pad from 57399 on. */
const keypad = [...'0123456789./*-+'];

/** A sequence in the form that Ink reads: without keys that are released, alternatives of a layout, and modifyOtherKeys. */
function translated(whole: string, parts: string[]): string {
  const [code, shifted, base, mask, event, text, end] = parts;
  if (event === '3') return '';
  if (end === '~') return code === '27' && text ? `\u001b[${text};${mask}u` : whole;
  if (end !== 'u') return whole;
  const bits = Number(mask || 1) - 1;
  const typed = keypad[Number(code) - 57_399];
  if (typed !== undefined && (bits & ~shiftBit) % 64 === 0) return typed;
  // On other layouts than Latin ones, a shortcut is the key at the same place.
  const isShortcut = bits & (altBit | ctrlBit) && Number(code) > 127;
  const meant = (isShortcut ? base : bits & shiftBit ? shifted : undefined) || code;
  return meant === code ? whole : `\u001b[${meant};${mask}u`;
}
