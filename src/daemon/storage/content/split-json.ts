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
 * repeat earlier messages, instructions and tools have parts in common. Joined, the parts are the bytes again, whatever they are.
 */
export function splitJson(bytes: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let start = 0;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isText = false;
      continue;
    }
    if (byte === quote) isText = true;
    else if (byte === open || byte === openArray) depth += 1;
    else if (byte === comma || byte === close || byte === closeArray) {
      if (depth <= 2 && at - start >= partBytesMin) {
        parts.push(bytes.subarray(start, at));
        start = at;
      }
      if (byte !== comma) depth -= 1;
    }
  }
  parts.push(bytes.subarray(start));
  return parts;
}
