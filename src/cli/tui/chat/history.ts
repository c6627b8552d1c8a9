import { editOf, type LineEdit } from '../text/line-edit.ts';

const keptMax = 500;

/** What was written before, and the draft that is left to look at it. */
export class History {
  readonly #texts: string[] = [];
  #at = 0;
  #draft: LineEdit | undefined;

  add(text: string): void {
    if (this.#texts.at(-1) !== text) this.#texts.push(text);
    if (this.#texts.length > keptMax) this.#texts.shift();
    this.#at = this.#texts.length;
    this.#draft = undefined;
  }

  /** The text so many places further; behind the newest one is what was being written. Undefined where there is none. */
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
