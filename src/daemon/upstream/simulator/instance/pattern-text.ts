import { letters, NotUnderstood, type Reading, readClass, readEscape } from './pattern-characters.ts';

/** Longer texts than this are not made from a pattern. */
const charsMax = 2000;
/** Steps of writing one text: repetitions of nothing count too. */
const stepsMax = 10_000;
const repeatsTried = 40;

/** A piece of a pattern as a function that writes one text matching it. */
type Piece = (writing: Writing) => string;

interface Writing {
  /** How often more than needed an open repetition is written. */
  extra: number;
  /** Counts up with each character chosen from a class, so that `[A-Z]{3}` gives `ABC`. */
  turn: number;
  left: number;
}

/**
 * A text that matches a JavaScript regular expression and is between `lengthMin` and `lengthMax` characters long;
 * undefined when none is found or the pattern has what is not understood here (back references, Unicode sets). What a
 * pattern looks ahead or back for is not obeyed.
 */
export function textForPattern(
  pattern: string,
  { lengthMin, lengthMax, ordinal }: { lengthMin: number; lengthMax: number; ordinal: number },
): string | undefined {
  try {
    const write = parsePattern(pattern);
    for (let extra = 0; extra <= repeatsTried; extra += 1) {
      const text = write({ extra, turn: ordinal, left: stepsMax });
      const { length } = [...text];
      if (length >= lengthMin && length <= lengthMax) return text;
    }
    return undefined;
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined;
    throw error;
  }
}

function parsePattern(pattern: string): Piece {
  const reading: Reading = { chars: [...pattern], at: 0, depth: 0 };
  const piece = alternatives(reading);
  if (reading.at < reading.chars.length) throw new NotUnderstood();
  return piece;
}

/** All branches are read, the first is written. */
function alternatives(reading: Reading): Piece {
  reading.depth += 1;
  if (reading.depth > 50) throw new NotUnderstood();
  const first = sequence(reading);
  while (reading.chars[reading.at] === '|') {
    reading.at += 1;
    sequence(reading);
  }
  reading.depth -= 1;
  return first;
}

function sequence(reading: Reading): Piece {
  const pieces: Piece[] = [];
  for (;;) {
    const char = reading.chars[reading.at];
    if (char === undefined || char === '|' || char === ')') break;
    pieces.push(repeated(reading, atom(reading)));
  }
  return (writing) => pieces.map((piece) => piece(writing)).join('');
}

function repeated(reading: Reading, piece: Piece): Piece {
  const range = quantifier(reading);
  if (!range) return piece;
  const { min, max } = range;
  return (writing) => {
    const times = Math.min(max, min + writing.extra);
    if (times > charsMax) throw new NotUnderstood();
    let text = '';
    for (let i = 0; i < times; i += 1) text += counted(writing, piece(writing));
    return text;
  };
}

function quantifier(reading: Reading): { min: number; max: number } | undefined {
  const rest = reading.chars.slice(reading.at, reading.at + 24).join('');
  const match = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(rest);
  if (!match) return undefined;
  reading.at += match[0].length;
  const [, sign, least, comma, most] = match;
  if (sign === '?') return { min: 0, max: 1 };
  if (sign !== undefined) return { min: sign === '+' ? 1 : 0, max: Number.POSITIVE_INFINITY };
  const min = Number(least);
  if (comma === '') return { min, max: min };
  return { min, max: most === '' ? Number.POSITIVE_INFINITY : Number(most) };
}

function atom(reading: Reading): Piece {
  const char = reading.chars[reading.at];
  reading.at += 1;
  if (char === '^' || char === '$') return () => '';
  if (char === '(') return group(reading);
  if (char === '[') return chosenFrom(readClass(reading));
  if (char === '.') return chosenFrom(letters);
  if (char === '\\') return escaped(reading);
  if (char === undefined || char === '*' || char === '+' || char === '?') throw new NotUnderstood();
  return literal(char);
}

function group(reading: Reading): Piece {
  const head = reading.chars.slice(reading.at, reading.at + 80).join('');
  const match = /^\?(?:(:)|(=|!|<=|<!)|<([^>=!]+)>)/.exec(head);
  if (head.startsWith('?') && !match) throw new NotUnderstood();
  reading.at += match ? [...match[0]].length : 0;
  const inner = alternatives(reading);
  if (reading.chars[reading.at] !== ')') throw new NotUnderstood();
  reading.at += 1;
  // What looks around adds no text.
  return match?.[2] === undefined ? inner : () => '';
}

function escaped(reading: Reading): Piece {
  const char = reading.chars[reading.at];
  if (char === 'b' || char === 'B') {
    reading.at += 1;
    return () => '';
  }
  return chosenFrom(readEscape(reading));
}

function chosenFrom(chars: readonly string[]): Piece {
  return (writing) => {
    const char = chars[writing.turn % chars.length] ?? '';
    writing.turn += 1;
    return counted(writing, char);
  };
}

function literal(char: string): Piece {
  return (writing) => counted(writing, char);
}

function counted(writing: Writing, char: string): string {
  writing.left -= 1;
  if (writing.left < 0) throw new NotUnderstood();
  return char;
}
