/** Where a member of an object or an element of an array is in a JSON text. */
export interface JsonSpan {
  /** The name of the member, or the number of the element. */
  name: string | number;
  start: number;
  end: number;
}

const space = /[ \t\n\r]/;

/**
 * Finds the members of the object, or the elements of the array, that starts at this character. The text must be valid JSON;
 * another value has none.
 */
export function jsonSpans(text: string, at: number): JsonSpan[] {
  const open = text[at];
  if (open !== '{' && open !== '[') return [];
  const spans: JsonSpan[] = [];
  let next = skipSpace(text, at + 1);
  while (next < text.length && text[next] !== '}' && text[next] !== ']') {
    let name: string | number = spans.length;
    if (open === '{') {
      const end = endOfString(text, next);
      name = JSON.parse(text.slice(next, end)) as string;
      // Past the colon.
      next = skipSpace(text, skipSpace(text, end) + 1);
    }
    const end = endOfValue(text, next);
    spans.push({ name, start: next, end });
    next = skipSpace(text, end);
    if (text[next] === ',') next = skipSpace(text, next + 1);
  }
  return spans;
}

/** The first character from here on that is no white space. */
export function skipSpace(text: string, at: number): number {
  let next = at;
  while (next < text.length && space.test(text.charAt(next))) next += 1;
  return next;
}

/** After the closing quotation mark of the string that starts here. */
export function endOfString(text: string, at: number): number {
  let next = at + 1;
  for (;;) {
    const end = text.indexOf('"', next);
    if (end < 0) return text.length;
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
    next = end + 1;
  }
}

function endOfValue(text: string, at: number): number {
  let depth = 0;
  let next = at;
  while (next < text.length) {
    const character = text.charAt(next);
    if (character === '"') next = endOfString(text, next);
    else if (character === '{' || character === '[') {
      depth += 1;
      next += 1;
    } else if (character === '}' || character === ']') {
      if (depth === 0) return next;
      depth -= 1;
      next += 1;
    } else if (depth === 0 && (character === ',' || space.test(character))) return next;
    else next += 1;
    if (depth === 0 && /["}\]]/.test(character)) return next;
  }
  return text.length;
}
