import { isUtf8 } from 'node:buffer';
import { ApiError } from '../../shared/errors.ts';

const quote = 0x22;
const backslash = 0x5c;
/** Of one object. */
const membersMax = 10_000;

const sentences = {
  deep: (depthMax: number) => `The body is nested more than ${depthMax} levels deep.`,
  wide: () => `An object in the body has more than ${membersMax} members.`,
};

/** Whether a body of this content type is read: JSON in UTF-8 and nothing else, so that no web form can be sent. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false;
  if (contentType === 'application/json') return true;
  return /^application\/json *(; *charset="?utf-8"? *)?$/i.test(contentType);
}

/** Parses a body. Undefined when it is empty; fails with `invalid_json`. */
export function parseJson(bytes: Buffer, depthMax: number): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.' });
  const fault = bytes.length > depthMax ? shapeFault(bytes, { depthMax, membersMax }) : undefined;
  if (fault !== undefined) throw new ApiError('invalid_json', { message: sentences[fault](depthMax) });
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = bytes.toString('utf8', hasByteOrderMark ? 3 : 0);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which belongs in no log.
    throw new ApiError('invalid_json');
  }
}

/**
 * Counts brackets and colons outside strings. A deep body would overflow the stack of whatever walks over it later; an
 * object of so many members that it becomes a dictionary takes microseconds for each one, whenever it is made or copied.
 */
export function shapeFault(
  bytes: Buffer,
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
function stringEnd(bytes: Buffer, start: number): number {
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
