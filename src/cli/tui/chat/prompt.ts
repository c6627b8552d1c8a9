import { escapeControls } from '../../output/escape-controls.ts';
import { graphemesOf, widthOf } from '../../output/width.ts';
import { editOf, type LineEdit } from '../text/line-edit.ts';

const sign = '› ';
const indent = '  ';
const moreAbove = '↑ ';
const moreBelow = '↓ ';
/** Terminals move to a column instead. */
const tab = '  ';
const simple = /^[ -~]$/;

interface PromptLines {
  lines: string[];
  /** The cursor, in cells from the left and lines from the top. */
  x: number;
  y: number;
}

/** Wraps the prompt to the width; if it has more than `linesMax` lines, shows those around the cursor. */
export function promptLines(
  { text, cursor }: LineEdit,
  { width: columns, linesMax }: { width: number; linesMax: number },
): PromptLines {
  const room = Math.max(4, columns - sign.length - 1);
  const lines: string[] = [''];
  let width = 0;
  const end = () => ({ x: width, y: lines.length - 1 });
  let position = { x: 0, y: 0 };
  let at = 0;
  for (const character of graphemesOf(text)) {
    if (at === cursor) position = end();
    at += character.length;
    if (character === '\n') {
      lines.push('');
      width = 0;
      continue;
    }
    // Most characters are simple, and a long text is measured for every key.
    const isSimple = simple.test(character);
    const shown = isSimple ? character : character === '\t' ? tab : escapeControls(character);
    const added = isSimple ? 1 : widthOf(shown);
    if (width + added > room) {
      lines.push(shown);
      width = added;
    } else {
      lines[lines.length - 1] += shown;
      // Others may join those before them.
      width = isSimple ? width + 1 : widthOf(lines.at(-1) ?? '');
    }
  }
  if (at <= cursor) position = end();
  const top = Math.max(0, Math.min(position.y - linesMax + 1, lines.length - linesMax));
  const seen = lines.slice(top, top + linesMax);
  const below = lines.length - top - seen.length;
  const signOf = (index: number) => {
    if (index === 0) return top > 0 ? moreAbove : sign;
    return index === seen.length - 1 && below > 0 ? moreBelow : indent;
  };
  return {
    lines: seen.map((line, index) => signOf(index) + line),
    x: sign.length + position.x,
    y: position.y - top,
  };
}

const historyMax = 500;

/** Previous prompts, and the draft that was being typed when the user went back. */
export class History {
  readonly #texts: string[];
  #at: number;
  #draft: LineEdit | undefined;

  constructor(texts: readonly string[] = []) {
    this.#texts = [...texts];
    this.#at = texts.length;
  }

  add(text: string): void {
    if (this.#texts.at(-1) !== text) this.#texts.push(text);
    if (this.#texts.length > historyMax) this.#texts.shift();
    this.#at = this.#texts.length;
    this.#draft = undefined;
  }

  /** The next or previous prompt; after the newest one comes the draft. Undefined at either end. */
  go(by: 1 | -1, edit: LineEdit): LineEdit | undefined {
    const to = this.#at + by;
    if (to < 0 || to > this.#texts.length) return undefined;
    if (this.#at === this.#texts.length) this.#draft = edit;
    this.#at = to;
    const text = this.#texts[to];
    if (text === undefined) return this.#draft;
    return { ...editOf(text), killed: edit.killed };
  }
}
