const quote = 0x22;
const backslash = 0x5c;

/**
 * Counts brackets and colons outside strings. A deep body would overflow the stack of whatever walks over it later; an
 * object of so many members that it becomes a dictionary takes microseconds for each one, whenever it is made or copied.
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

/** The index of the quote that ends a string; -1 when there is none. */
function stringEnd(bytes: Uint8Array, start: number): number {
  // Most strings are short, and a native search costs more than a few steps; the rest may be megabytes of base64.
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
