/** The most repetitions of one part of a pattern. */
const charsMax = 2000;
/** The most steps in generating one text, including empty repetitions. */
const stepsMax = 10_000;
const repeatsTried = 40;

/** A parsed part of a pattern: generates one text that matches it. */
type Generator = (output: Output) => string;

interface Output {
  /** How often unbounded repetitions are repeated beyond their minimum. */
  extra: number;
  /** Increases with each character chosen from a class, so that `[A-Z]{3}` gives `ABC`. */
  turn: number;
  stepsLeft: number;
}

/**
 * A text that matches a JavaScript regular expression and has between `lengthMin` and `lengthMax` characters; undefined
 * if none is found or the pattern has unsupported syntax (back references, Unicode sets). Lookaround is ignored.
 */
export function textForPattern(
  pattern: string,
  { lengthMin, lengthMax, ordinal }: { lengthMin: number; lengthMax: number; ordinal: number },
): string | undefined {
  try {
    const write = parsePattern(pattern);
    for (let extra = 0; extra <= repeatsTried; extra += 1) {
      const text = write({ extra, turn: ordinal, stepsLeft: stepsMax });
      const { length } = [...text];
      if (length >= lengthMin && length <= lengthMax) return text;
    }
    return undefined;
  } catch (error) {
    if (error instanceof UnsupportedPattern) return undefined;
    throw error;
  }
}

function parsePattern(pattern: string): Generator {
  const reader: PatternReader = { chars: [...pattern], at: 0, depth: 0 };
  const generator = alternatives(reader);
  if (reader.at < reader.chars.length) throw new UnsupportedPattern();
  return generator;
}

/** Parses all alternatives; the first one is generated. */
function alternatives(reader: PatternReader): Generator {
  reader.depth += 1;
  if (reader.depth > 50) throw new UnsupportedPattern();
  const first = sequence(reader);
  while (reader.chars[reader.at] === '|') {
    reader.at += 1;
    sequence(reader);
  }
  reader.depth -= 1;
  return first;
}

function sequence(reader: PatternReader): Generator {
  const generators: Generator[] = [];
  for (;;) {
    const char = reader.chars[reader.at];
    if (char === undefined || char === '|' || char === ')') break;
    generators.push(repeated(reader, atom(reader)));
  }
  return (output) => generators.map((generator) => generator(output)).join('');
}

function repeated(reader: PatternReader, generator: Generator): Generator {
  const range = quantifier(reader);
  if (!range) return generator;
  const { min, max } = range;
  return (output) => {
    const times = Math.min(max, min + output.extra);
    if (times > charsMax) throw new UnsupportedPattern();
    let text = '';
    for (let i = 0; i < times; i += 1) text += step(output, generator(output));
    return text;
  };
}

function quantifier(reader: PatternReader): { min: number; max: number } | undefined {
  const rest = reader.chars.slice(reader.at, reader.at + 24).join('');
  const match = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/.exec(rest);
  if (!match) return undefined;
  reader.at += match[0].length;
  const [, sign, least, comma, most] = match;
  if (sign === '?') return { min: 0, max: 1 };
  if (sign !== undefined) return { min: sign === '+' ? 1 : 0, max: Number.POSITIVE_INFINITY };
  const min = Number(least);
  if (comma === undefined) return { min, max: min };
  return { min, max: most === '' ? Number.POSITIVE_INFINITY : Number(most) };
}

function atom(reader: PatternReader): Generator {
  const char = reader.chars[reader.at];
  reader.at += 1;
  if (char === '^' || char === '$') return () => '';
  if (char === '(') return group(reader);
  if (char === '[') return chosenFrom(readClass(reader));
  if (char === '.') return chosenFrom(letters);
  if (char === '\\') return escaped(reader);
  if (char === undefined || char === '*' || char === '+' || char === '?') throw new UnsupportedPattern();
  return literal(char);
}

function group(reader: PatternReader): Generator {
  const head = reader.chars.slice(reader.at, reader.at + 80).join('');
  const match = /^\?(?:(:)|(=|!|<=|<!)|<([^>=!]+)>)/.exec(head);
  if (head.startsWith('?') && !match) throw new UnsupportedPattern();
  reader.at += match ? [...match[0]].length : 0;
  const inner = alternatives(reader);
  if (reader.chars[reader.at] !== ')') throw new UnsupportedPattern();
  reader.at += 1;
  // Lookaround generates no text.
  return match?.[2] === undefined ? inner : () => '';
}

function escaped(reader: PatternReader): Generator {
  const char = reader.chars[reader.at];
  if (char === 'b' || char === 'B') {
    reader.at += 1;
    return () => '';
  }
  return chosenFrom(readEscape(reader));
}

function chosenFrom(chars: readonly string[]): Generator {
  return (output) => {
    const char = chars[output.turn % chars.length] ?? '';
    output.turn += 1;
    return step(output, char);
  };
}

function literal(char: string): Generator {
  return (output) => step(output, char);
}

function step(output: Output, char: string): string {
  output.stepsLeft -= 1;
  if (output.stepsLeft < 0) throw new UnsupportedPattern();
  return char;
}

/** A position in the pattern being parsed. */
interface PatternReader {
  chars: string[];
  at: number;
  /** The number of open groups. */
  depth: number;
}

/** The pattern has unsupported syntax. */
class UnsupportedPattern extends Error {}

const range = (from: string, to: string) => {
  const start = from.codePointAt(0) ?? 0;
  const size = Math.min((to.codePointAt(0) ?? 0) - start + 1, 128);
  if (size < 1) throw new UnsupportedPattern();
  return Array.from({ length: size }, (_, i) => String.fromCodePoint(start + i));
};
const letters = range('a', 'z');
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

/** The characters that an escape matches; the backslash has been read. */
function readEscape(reader: PatternReader): readonly string[] {
  const rest = reader.chars.slice(reader.at, reader.at + 40).join('');
  const code = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})/.exec(rest);
  if (code) {
    reader.at += code[0].length;
    const point = Number.parseInt(code[1] ?? code[2] ?? code[3] ?? '', 16);
    if (point > 0x10ffff) throw new UnsupportedPattern();
    return [String.fromCodePoint(point)];
  }
  const property = /^p\{(?:[\w]+=)?(\w+)\}/.exec(rest);
  if (property) {
    reader.at += property[0].length;
    const chars = unicodeClasses.get(property[1] ?? '');
    if (!chars) throw new UnsupportedPattern();
    return chars;
  }
  const char = reader.chars[reader.at];
  if (char === undefined || /[1-9kpPxuc]/.test(char)) throw new UnsupportedPattern();
  reader.at += 1;
  return Object.hasOwn(classes, char) ? (classes[char] ?? []) : [char];
}

/** The characters of a `[…]`; the opening bracket has been read. */
function readClass(reader: PatternReader): readonly string[] {
  const negated = reader.chars[reader.at] === '^';
  if (negated) reader.at += 1;
  const chars: string[] = [];
  for (;;) {
    const from = classMember(reader);
    if (from === undefined) break;
    const isRange =
      reader.chars[reader.at] === '-' && reader.chars[reader.at + 1] !== ']' && from.length === 1;
    if (!isRange) {
      chars.push(...from);
      continue;
    }
    reader.at += 1;
    const to = classMember(reader);
    if (to?.length !== 1) throw new UnsupportedPattern();
    chars.push(...range(from[0] ?? '', to[0] ?? ''));
  }
  const allowed = negated ? without(chars) : chars;
  if (allowed.length === 0) throw new UnsupportedPattern();
  return allowed;
}

function classMember(reader: PatternReader): readonly string[] | undefined {
  const char = reader.chars[reader.at];
  if (char === undefined) throw new UnsupportedPattern();
  reader.at += 1;
  if (char === ']') return undefined;
  if (char !== '\\') return [char];
  if (reader.chars[reader.at] !== 'b') return readEscape(reader);
  reader.at += 1;
  return ['\b'];
}
