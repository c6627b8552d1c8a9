/** An editable text and its cursor, in UTF-16 units. */
export interface LineEdit {
  readonly text: string;
  readonly cursor: number;
  /** The last text that was cut, for Ctrl-Y. */
  readonly killed: string;
}

export const emptyEdit: LineEdit = { text: '', cursor: 0, killed: '' };

export function editOf(text: string): LineEdit {
  return { text, cursor: text.length, killed: '' };
}

/** Inserts text at the cursor. */
export function insert(edit: LineEdit, text: string): LineEdit {
  const { cursor } = edit;
  return {
    ...edit,
    text: edit.text.slice(0, cursor) + text + edit.text.slice(cursor),
    cursor: cursor + text.length,
  };
}

type Step = (edit: LineEdit) => LineEdit;

/** The Emacs keys that shells use. */
const steps: Readonly<Record<string, Step>> = {
  left: (edit) => at(edit, before(edit)),
  'ctrl-b': (edit) => at(edit, before(edit)),
  right: (edit) => at(edit, after(edit)),
  'ctrl-f': (edit) => at(edit, after(edit)),
  home: (edit) => at(edit, lineStart(edit)),
  'ctrl-a': (edit) => at(edit, lineStart(edit)),
  end: (edit) => at(edit, lineEnd(edit)),
  'ctrl-e': (edit) => at(edit, lineEnd(edit)),
  'alt-b': (edit) => at(edit, wordBefore(edit)),
  'alt-left': (edit) => at(edit, wordBefore(edit)),
  'ctrl-left': (edit) => at(edit, wordBefore(edit)),
  'alt-f': (edit) => at(edit, wordAfter(edit)),
  'alt-right': (edit) => at(edit, wordAfter(edit)),
  'ctrl-right': (edit) => at(edit, wordAfter(edit)),
  backspace: (edit) => cut(edit, before(edit), edit.cursor),
  'ctrl-h': (edit) => cut(edit, before(edit), edit.cursor),
  delete: (edit) => cut(edit, edit.cursor, after(edit)),
  'ctrl-d': (edit) => cut(edit, edit.cursor, after(edit)),
  'ctrl-k': (edit) => kill(edit, edit.cursor, lineEnd(edit) === edit.cursor ? after(edit) : lineEnd(edit)),
  'ctrl-u': (edit) => kill(edit, lineStart(edit), edit.cursor),
  'ctrl-w': (edit) => kill(edit, blankBefore(edit), edit.cursor),
  'alt-backspace': (edit) => kill(edit, wordBefore(edit), edit.cursor),
  'ctrl-backspace': (edit) => kill(edit, wordBefore(edit), edit.cursor),
  'alt-d': (edit) => kill(edit, edit.cursor, wordAfter(edit)),
  'ctrl-delete': (edit) => kill(edit, edit.cursor, wordAfter(edit)),
  'ctrl-y': (edit) => insert(edit, edit.killed),
  'ctrl-t': transpose,
};

/** Applies a key; undefined if it does not edit text. `input` is the text that a plain key types. */
export function applyKey(edit: LineEdit, key: string, input: string): LineEdit | undefined {
  const step = Object.hasOwn(steps, key) ? steps[key] : undefined;
  if (step) return step(edit);
  if (key === 'space') return insert(edit, ' ');
  const isText = input !== '' && !/^(ctrl|alt)-/.test(key) && key === input;
  return isText ? insert(edit, withoutControls(input)) : undefined;
}

/** Moves the cursor to the same column of the line above; undefined in the first line. */
export function lineUp(edit: LineEdit): LineEdit | undefined {
  const start = lineStart(edit);
  if (start === 0) return undefined;
  const above = lineStart({ ...edit, cursor: start - 1 });
  return at(edit, graphemeAt(edit.text, Math.min(above + edit.cursor - start, start - 1)));
}

/** Moves the cursor to the line below; undefined in the last line. */
export function lineDown(edit: LineEdit): LineEdit | undefined {
  const end = lineEnd(edit);
  if (end === edit.text.length) return undefined;
  const below = { ...edit, cursor: end + 1 };
  return at(edit, graphemeAt(edit.text, Math.min(end + 1 + edit.cursor - lineStart(edit), lineEnd(below))));
}

/** Removes control characters from typed or pasted text. */
export function withoutControls(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/[^\P{Cc}\n\t]/gu, '');
}

function at(edit: LineEdit, cursor: number): LineEdit {
  return { ...edit, cursor };
}

function cut(edit: LineEdit, from: number, to: number): LineEdit {
  return { ...edit, text: edit.text.slice(0, from) + edit.text.slice(to), cursor: from };
}

function kill(edit: LineEdit, from: number, to: number): LineEdit {
  if (from === to) return edit;
  return { ...cut(edit, from, to), killed: edit.text.slice(from, to) };
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The start of the grapheme at a position, which may be within it. */
function graphemeAt(text: string, position: number): number {
  return segmenter.segment(text).containing(position)?.index ?? text.length;
}

/** The start of the grapheme before the cursor. */
function before({ text, cursor }: LineEdit): number {
  let start = 0;
  for (const { index } of segmenter.segment(text.slice(0, cursor))) start = index;
  return start;
}

function after({ text, cursor }: LineEdit): number {
  for (const { segment } of segmenter.segment(text.slice(cursor))) return cursor + segment.length;
  return cursor;
}

function lineStart({ text, cursor }: LineEdit): number {
  return text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ text, cursor }: LineEdit): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}

function wordBefore(edit: LineEdit): number {
  return lastBefore(edit, /[\p{L}\p{N}]+/gu);
}

function wordAfter({ text, cursor }: LineEdit): number {
  const found = /^[^\p{L}\p{N}]*[\p{L}\p{N}]+/u.exec(text.slice(cursor));
  return found ? cursor + found[0].length : text.length;
}

function blankBefore(edit: LineEdit): number {
  return lastBefore(edit, /\S+/g);
}

/** Where the last match before the cursor starts. */
function lastBefore({ text, cursor }: LineEdit, words: RegExp): number {
  return [...text.slice(0, cursor).matchAll(words)].at(-1)?.index ?? 0;
}

function transpose(edit: LineEdit): LineEdit {
  const end = edit.cursor === edit.text.length ? edit.cursor : after(edit);
  const second = before({ ...edit, cursor: end });
  const first = before({ ...edit, cursor: second });
  if (first === second) return edit;
  const { text } = edit;
  const swapped = text.slice(second, end) + text.slice(first, second);
  return { ...edit, text: text.slice(0, first) + swapped + text.slice(end), cursor: end };
}
