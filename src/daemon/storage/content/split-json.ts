/** Shorter parts cost more to look up than they save. */
const partBytesMin = 512;

const [quote, backslash, comma, open, openArray, close, closeArray] = Buffer.from('"\\,{[}]') as unknown as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

/**
 * Splits the bytes of a JSON object between its members, and between the elements of arrays in them, so that requests that
 * repeat earlier messages, instructions and tools have parts in common. A long element is a part of its own; short ones are
 * kept together. Joined, the parts are the bytes again, whatever they are.
 */
export function splitJson(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  /** Where the current part starts, and where its last element does. */
  let start = 0;
  let element = 0;
  const endElement = (at: number): void => {
    if (at - element >= partBytesMin && element > start) {
      parts.push(bytes.subarray(start, element));
      start = element;
    }
    if (at - start >= partBytesMin) {
      parts.push(bytes.subarray(start, at));
      start = at;
    }
    element = at;
  };
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === open || byte === openArray) {
      depth += 1;
      if (depth <= 2) endElement(at + 1);
    } else if (byte === comma || byte === close || byte === closeArray) {
      if (depth <= 2) endElement(at);
      if (byte !== comma) depth -= 1;
    }
  }
  endElement(bytes.length);
  if (start < bytes.length || parts.length === 0) parts.push(bytes.subarray(start));
  return parts;
}

/** The closing quotation mark of the string that starts here. */
function endOfString(bytes: Uint8Array, at: number): number {
  let end = bytes.indexOf(quote, at + 1);
  while (end > 0) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
    end = bytes.indexOf(quote, end + 1);
  }
  return bytes.length;
}
