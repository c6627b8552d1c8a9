/**
 * The text without any of the characters at its end. An expression such as `/x+$/` starts over at each `x` of the text, and
 * takes seconds for a long run of them that is elsewhere.
 */
export function trimEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The text without any of the characters at its start and end. */
export function trimBoth(text: string, characters: string): string {
  const before = trimEnd(text, characters);
  let start = 0;
  while (start < before.length && characters.includes(before.charAt(start))) start += 1;
  return before.slice(start);
}
