const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const nothing = /\p{M}|\u200d/u;
/** Characters that combine with others into one: joiners, skin tones, flags, keycaps. */
const joins = /[\u200d\ufe0f\u20e3\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}]/u;
let segmenter: Intl.Segmenter | undefined;
const plain = /^[\x20-\x7e]*$/;

/** The width of a text in terminal cells. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  if (joins.test(text)) {
    for (const grapheme of graphemesOf(text))
      width += grapheme.includes('\ufe0f') ? 2 : Math.min(2, widthOfEach(grapheme));
    return width;
  }
  return widthOfEach(text);
}

/**
 * The characters of a text as a reader counts them, where some of it join: a flag, or a family. Otherwise single ones, of which
 * an accent has no width and so stays with its letter.
 */
export function graphemesOf(text: string): Iterable<string> {
  if (!joins.test(text)) return text;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function widthOfEach(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfOne(character);
  return width;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes that the painter writes.
export const styleCode = /\u001b\[[0-9;]*m/g;

/** The width of a line that may contain styles. */
export function paintedWidth(line: string): number {
  return widthOf(line.replace(styleCode, ''));
}

/** Truncates a text to `widthMax` cells, ending with `…`. */
export function cutToWidth(text: string, widthMax: number): string {
  if (widthOf(text) <= widthMax) return text;
  let width = 1;
  let fitting = '';
  for (const grapheme of graphemesOf(text)) {
    width += widthOf(grapheme);
    if (width > widthMax) break;
    fitting += grapheme;
  }
  return `${fitting}…`;
}

/** Wraps a text at spaces into lines of `widthMax` cells; longer words are not broken. */
export function wrapToWidth(text: string, widthMax: number): string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(' ')) {
    if (line === undefined) line = word;
    else if (widthOf(line) + 1 + widthOf(word) <= widthMax) line += ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line ?? ''];
}

function widthOfOne(character: string): number {
  if (nothing.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
