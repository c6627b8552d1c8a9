/** JSON whose numbers keep the digits that JavaScript's numbers lose. */

/** Node's JSON with the source text of numbers, which TypeScript does not describe. */
const exactJson = JSON as unknown as {
  parse(
    text: string,
    revive: (this: unknown, name: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  /** A value that `JSON.stringify` writes as this text. */
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
};

/** Whether a value is a number that `parseExactly` keeps as it was written. */
export function isExactNumber(value: unknown): boolean {
  return exactJson.isRawJSON(value);
}

/** Parses JSON; a number that would be written differently becomes a value that `JSON.stringify` writes as it was. */
export function parseExactly(text: string): unknown {
  return exactJson.parse(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? exactJson.rawJSON(source)
      : value,
  );
}

/**
 * Parses JSON; whole numbers in `const` and `enum`, the values that a JSON schema allows, keep all digits. All other numbers
 * are numbers. Fails like `JSON.parse`.
 *
 * Long numbers are parsed as texts and then replaced: a reviver takes a hundred times the length of the text in memory.
 */
export function parseWithExactConstants(text: string): unknown {
  const hasConstants = text.includes('"const"') || text.includes('"enum"');
  const places = hasConstants && longDigits.test(text) ? longNumbersIn(text) : [];
  if (places.length === 0) return JSON.parse(text);
  const numbers: string[] = [];
  let marked = '';
  let from = 0;
  for (const [start, end] of places) {
    marked += text.slice(from, start) + JSON.stringify(mark + numbers.length);
    numbers.push(text.slice(start, end));
    from = end;
  }
  return withNumbers(JSON.parse(marked + text.slice(from)), numbers, '');
}

/** Starts the text in place of a number, which its place in a list follows. */
const mark = '\u0001number:';
const longDigits = /\d{16}/;
const wholeNumber = /^-?[1-9]\d{15,}$/;
/** More than in any schema; what comes after them is parsed like any number. */
const longNumbersMax = 10_000;

/** Where the whole numbers of a JSON text are that have more digits than JavaScript's are sure to keep. */
function longNumbersIn(text: string): [start: number, end: number][] {
  const places: [number, number][] = [];
  const next = /"|\d{16}/g;
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    if (found[0] === '"') {
      next.lastIndex = stringEnd(text, next.lastIndex);
      continue;
    }
    let start = found.index;
    let end = next.lastIndex;
    while (start > 0 && isInNumber(text.charCodeAt(start - 1))) start -= 1;
    while (end < text.length && isInNumber(text.charCodeAt(end))) end += 1;
    if (wholeNumber.test(text.slice(start, end))) places.push([start, end]);
    if (places.length === longNumbersMax) break;
    next.lastIndex = end;
  }
  return places;
}

/** The index after the closing quote of a string that begins before `start`; the text's length when there is none. */
export function stringEnd(text: string, start: number): number {
  let from = start;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    let first = quote;
    while (first > from && text.charCodeAt(first - 1) === 0x5c) first -= 1;
    from = quote + 1;
    if ((quote - first) % 2 === 0) return from;
  }
}

/** Digits, `+`, `-`, `.`, `e` and `E`. */
function isInNumber(code: number): boolean {
  const isDigit = code >= 0x30 && code <= 0x39;
  return isDigit || code === 0x2b || code === 0x2d || code === 0x2e || code === 0x65 || code === 0x45;
}

/** A parsed value, with numbers in place of the texts that stand for them; `name`: of the member that it is in. */
function withNumbers(value: unknown, numbers: readonly string[], name: string): unknown {
  if (typeof value === 'string' && value.startsWith(mark)) {
    const source = numbers[Number(value.slice(mark.length))];
    return source === undefined ? value : numberIn(name, source);
  }
  if (Array.isArray(value)) {
    const inList = name === 'enum' ? inEnum : '';
    for (let at = 0; at < value.length; at += 1) value[at] = withNumbers(value[at], numbers, inList);
  } else if (typeof value === 'object' && value !== null) {
    const object = value as Record<string, unknown>;
    for (const key in object) {
      const changed = withNumbers(object[key], numbers, key);
      // An assignment to `__proto__` would not create a member.
      if (changed !== object[key]) Object.defineProperty(object, key, { value: changed });
    }
  }
  return value;
}

/** Instead of a member's name: for the values that an `enum` lists. */
const inEnum = '\u0001enum';

function numberIn(name: string, source: string): unknown {
  const number = Number(source);
  const isExact = !Number.isInteger(number) || Number.isSafeInteger(number);
  return isExact || (name !== 'const' && name !== inEnum) ? number : exactJson.rawJSON(source);
}
