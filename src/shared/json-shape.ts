const quote = 0x22;
const backslash = 0x5c;

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
 * Checks nesting depth and object size before parsing, by counting brackets and colons outside strings. A deep body
 * would overflow the stack of any recursive function; an object with very many members becomes a dictionary in V8 and
 * is slow to create or copy.
 */
export function shapeFault(
  bytes: Uint8Array,
  { depthMax, membersMax }: { depthMax: number; membersMax: number },
): 'deep' | 'wide' | undefined {
  const members = new Uint32Array(depthMax + 1);
  let depth = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number;
    if (byte === quote) {
      i = stringEnd(bytes, i + 1);
      if (i < 0) return undefined;
    } else if (byte === 0x3a) {
      const count = (members[depth] ?? 0) + 1;
      if (count > membersMax) return 'wide';
      members[depth] = count;
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > depthMax) return 'deep';
      members[depth] = 0;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth -= 1;
    }
  }
  return undefined;
}

/** The index of the closing quote of a string; -1 when there is none. */
function stringEnd(bytes: Uint8Array, start: number): number {
  // Most strings are short and a native search has a fixed cost; the rest may be megabytes of base64.
  const near = Math.min(start + 48, bytes.length);
  let i = start;
  while (i < near) {
    const byte = bytes[i];
    if (byte === quote) return i;
    i += byte === backslash ? 2 : 1;
  }
  for (;;) {
    const end = bytes.indexOf(quote, i);
    if (end < 0) return -1;
    let first = end;
    while (first > i && bytes[first - 1] === backslash) first -= 1;
    if ((end - first) % 2 === 0) return end;
    i = end + 1;
  }
}
