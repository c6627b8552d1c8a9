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
    left -= measured(Buffer.from(text), { ...unbounded, depthMax: 1000, containersMax: left }).containers;
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
      i = stringEnd(bytes, i + 1);
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
function stringEnd(bytes: Uint8Array, start: number): number {
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
