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

/** Parses the arguments of a call: long numbers are ids, of which each digit counts. Source: earendil-works/pi#8943. */
export function parseArguments(text: string): unknown {
  return longDigits.test(text) ? parseExactly(text) : JSON.parse(text);
}

/**
 * Parses JSON; whole numbers keep all digits in `const` and `enum`, the values that a JSON schema allows, and in an object that is the
 * `input` or the `arguments` of a call. All other numbers are numbers. Fails like `JSON.parse`.
 *
 * Long numbers are parsed as texts and then replaced: a reviver takes a hundred times the length of the text in memory.
 */
export function parseWithExactValues(text: string): unknown {
  const hasValues = exactMembers.some((member) => text.includes(member));
  const places = hasValues && longDigits.test(text) ? longNumbersIn(text) : [];
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

const exactMembers = ['"const"', '"enum"', '"input"', '"arguments"'];
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
    const inList = name === 'enum' ? inEnum : name === inInput ? inInput : '';
    for (let at = 0; at < value.length; at += 1) value[at] = withNumbers(value[at], numbers, inList);
  } else if (typeof value === 'object' && value !== null) {
    const object = value as Record<string, unknown>;
    const isInput = name === 'input' || name === 'arguments' || name === inInput;
    for (const key in object) {
      const changed = withNumbers(object[key], numbers, isInput ? inInput : key);
      // An assignment to `__proto__` would not create a member.
      if (changed !== object[key]) Object.defineProperty(object, key, { value: changed });
    }
  }
  return value;
}

/** Instead of a member's name: for the values that an `enum` lists. */
const inEnum = '\u0001enum';
/** For all that is within the input of a call. */
const inInput = '\u0001input';
const exactPlaces = new Set(['const', inEnum, inInput]);

function numberIn(name: string, source: string): unknown {
  const number = Number(source);
  const isExact = !Number.isInteger(number) || Number.isSafeInteger(number);
  return isExact || !exactPlaces.has(name) ? number : exactJson.rawJSON(source);
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const opening = 0x5b;
const closing = 0x5d;
const other = 0;
/** What each byte means outside strings. */
const kinds = new Uint8Array(256);
for (const kind of [quote, comma, colon, opening, closing]) kinds[kind] = kind;
kinds[0x7b] = opening;
kinds[0x7d] = closing;

/** Limits of a JSON text. */
export interface ShapeLimits {
  /** Nested arrays and objects. */
  depthMax: number;
  /** Members of one object. */
  membersMax: number;
  /** Arrays and objects in all. */
  containersMax: number;
  /** Elements and members in all. */
  valuesMax: number;
}

/**
 * What a request may have, besides its depth: more than any real one. The time and the memory that a body takes depend on
 * its values, not on its size; ten million objects fit into 30 MB.
 */
export const requestShape: Omit<ShapeLimits, 'depthMax'> = {
  membersMax: 10_000,
  /** As a conversation of 30,000 messages has. An object takes 64 bytes and, until it is sent on, several microseconds. */
  containersMax: 100_000,
  /** Three times the tokens that a call for embeddings may have. */
  valuesMax: 1_000_000,
};

/** No limits but that of depth, which has to be one. */
export const unbounded: Omit<ShapeLimits, 'depthMax'> = {
  membersMax: Number.POSITIVE_INFINITY,
  containersMax: Number.POSITIVE_INFINITY,
  valuesMax: Number.POSITIVE_INFINITY,
};

/**
 * Whether JSON text may be nested more deeply, by its length and its opening brackets alone, including those in strings: a
 * quick check that spares most texts the one below.
 */
export function mayBeDeep(text: string, depthMax: number): boolean {
  if (text.length <= 2 * depthMax) return false;
  let count = 0;
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > depthMax) return true;
    }
  }
  return false;
}

/**
 * The first limit that JSON text exceeds, found before parsing by counting brackets, colons and commas outside strings. A
 * deep text would overflow the stack of any recursive function; an object with very many members becomes a dictionary in V8
 * and is slow to create or copy; three bytes of `{},` become 64 in memory.
 */
export function shapeFault(bytes: Uint8Array, limits: ShapeLimits): keyof ShapeLimits | undefined {
  return measured(bytes, limits).fault;
}

/** Whether JSON texts that are parsed for one request have more arrays and objects in all than its body may have. */
export function haveTooManyContainers(texts: readonly string[]): boolean {
  let left = requestShape.containersMax;
  const characters = texts.reduce((sum, { length }) => sum + length, 0);
  if (characters <= 2 * left) return false;
  return texts.some((text) => {
    left -= measured(new TextEncoder().encode(text), {
      ...unbounded,
      depthMax: 1000,
      containersMax: left,
    }).containers;
    return left < 0;
  });
}

function measured(
  bytes: Uint8Array,
  { depthMax, membersMax, containersMax, valuesMax }: ShapeLimits,
): { fault?: keyof ShapeLimits; containers: number } {
  const members = new Uint32Array(depthMax + 1);
  let depth = 0;
  let containers = 0;
  let values = 1;
  for (let i = 0; i < bytes.length; i += 1) {
    const kind = kinds[bytes[i] as number];
    if (kind === other) continue;
    if (kind === quote) {
      i = stringEndIn(bytes, i + 1);
      if (i < 0) break;
    } else if (kind === comma) {
      values += 1;
      if (values > valuesMax) return { fault: 'valuesMax', containers };
    } else if (kind === colon) {
      const count = (members[depth] ?? 0) + 1;
      if (count > membersMax) return { fault: 'membersMax', containers };
      members[depth] = count;
    } else if (kind === opening) {
      depth += 1;
      if (depth > depthMax) return { fault: 'depthMax', containers };
      containers += 1;
      if (containers > containersMax) return { fault: 'containersMax', containers };
      members[depth] = 0;
    } else {
      depth -= 1;
    }
  }
  return { containers };
}

/** The index of the closing quote of a string; -1 when there is none. */
function stringEndIn(bytes: Uint8Array, start: number): number {
  let i = start;
  for (;;) {
    // Most strings are short and a native search has a fixed cost; the rest may be megabytes of base64.
    const near = Math.min(i + 48, bytes.length);
    while (i < near) {
      const byte = bytes[i];
      if (byte === quote) return i;
      i += byte === backslash ? 2 : 1;
    }
    const end = bytes.indexOf(quote, i);
    if (end < 0) return -1;
    let first = end;
    while (first > i && bytes[first - 1] === backslash) first -= 1;
    if ((end - first) % 2 === 0) return end;
    i = end + 1;
  }
}

/**
 * JSON text as `JSON.stringify` writes it, without halves of characters, which strict parsers refuse: tools that cut texts leave
 * them, and so do files that are no text. Source: anthropics/claude-code#1939.
 */
export function withoutHalfCharacters(text: string): string {
  if (!text.includes('\\ud')) return text;
  // A backslash of the text itself is written twice.
  return text.replace(/\\\\|\\ud[89a-f][\da-f]{2}/g, (each) => (each === '\\\\' ? each : '\\ufffd'));
}
