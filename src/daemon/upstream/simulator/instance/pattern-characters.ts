/** Where the reading of a pattern stands. */
export interface Reading {
  chars: string[];
  at: number;
  /** Groups that are open. */
  depth: number;
}

/** The pattern has something that is not understood here. */
export class NotUnderstood extends Error {}

const range = (from: string, to: string) => {
  const start = from.codePointAt(0) ?? 0;
  const size = Math.min((to.codePointAt(0) ?? 0) - start + 1, 128);
  if (size < 1) throw new NotUnderstood();
  return Array.from({ length: size }, (_, i) => String.fromCodePoint(start + i));
};
export const letters = range('a', 'z');
const capitals = range('A', 'Z');
const digits = [...range('1', '9'), '0'];
const printable = [
  ...letters,
  ...capitals,
  ...digits,
  '_',
  '-',
  ' ',
  '.',
  ...'!#$%&*+,/:;<=>?@^~|()[]{}"\'`\\',
];
const wordChars = [...letters, ...capitals, ...digits, '_'];

const without = (chars: readonly string[]) => printable.filter((char) => !chars.includes(char));

const classes: Record<string, readonly string[]> = {
  d: digits,
  w: wordChars,
  s: [' '],
  D: without(digits),
  W: without(wordChars),
  S: without([' ']),
  n: ['\n'],
  r: ['\r'],
  t: ['\t'],
  f: ['\f'],
  v: ['\v'],
  0: ['\0'],
};

const unicodeClasses = new Map<string, readonly string[]>(
  Object.entries({
    L: letters,
    Letter: letters,
    Alphabetic: letters,
    Ll: letters,
    Lu: capitals,
    N: digits,
    Nd: digits,
    P: ['.', ',', '-'],
    Zs: [' '],
  }),
);

/** The characters that an escape may stand for; the backslash is read already. */
export function readEscape(reading: Reading): readonly string[] {
  const rest = reading.chars.slice(reading.at, reading.at + 40).join('');
  const code = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})/.exec(rest);
  if (code) {
    reading.at += code[0].length;
    const point = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16);
    if (point > 0x10ffff) throw new NotUnderstood();
    return [String.fromCodePoint(point)];
  }
  const property = /^p\{(?:[\w]+=)?(\w+)\}/.exec(rest);
  if (property) {
    reading.at += property[0].length;
    const chars = unicodeClasses.get(property[1] ?? '');
    if (!chars) throw new NotUnderstood();
    return chars;
  }
  const char = reading.chars[reading.at];
  if (char === undefined || /[1-9kpPxuc]/.test(char)) throw new NotUnderstood();
  reading.at += 1;
  return Object.hasOwn(classes, char) ? (classes[char] ?? []) : [char];
}

/** The characters of a `[…]`; the opening bracket is read already. */
export function readClass(reading: Reading): readonly string[] {
  const negated = reading.chars[reading.at] === '^';
  if (negated) reading.at += 1;
  const chars: string[] = [];
  for (;;) {
    const from = classMember(reading);
    if (from === undefined) break;
    const isRange =
      reading.chars[reading.at] === '-' && reading.chars[reading.at + 1] !== ']' && from.length === 1;
    if (!isRange) {
      chars.push(...from);
      continue;
    }
    reading.at += 1;
    const to = classMember(reading);
    if (to?.length !== 1) throw new NotUnderstood();
    chars.push(...range(from[0] ?? '', to[0] ?? ''));
  }
  const allowed = negated ? without(chars) : chars;
  if (allowed.length === 0) throw new NotUnderstood();
  return allowed;
}

function classMember(reading: Reading): readonly string[] | undefined {
  const char = reading.chars[reading.at];
  if (char === undefined) throw new NotUnderstood();
  reading.at += 1;
  if (char === ']') return undefined;
  if (char !== '\\') return [char];
  if (reading.chars[reading.at] !== 'b') return readEscape(reading);
  reading.at += 1;
  return ['\b'];
}
