/**
 * Text that comes from others may hold characters that a terminal obeys: colours, cursor moves, reversed writing. Here they are
 * made visible instead. Line ends and tabs stay.
 */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character) => {
    if (character === '\n' || character === '\t') return character;
    return pictureOf(character.charCodeAt(0));
  });
}

/** As `visible`, for one cell of a table: line ends and tabs would break its row. */
export function visibleCell(text: string): string {
  return visible(text).replace(/\t/g, ' ').replace(/\n/g, '␤');
}

/** For one cell of a tab-separated row: tabs and line ends are written as `\t` and `\n`, the rest is left alone. */
export function tabSeparatedCell(text: string): string {
  return text.replace(/[\t\n\r]/g, (character) =>
    character === '\t' ? '\\t' : character === '\n' ? '\\n' : '\\r',
  );
}

/** Writes the characters that JSON leaves raw though a terminal may obey them as `\u` escapes: still the same JSON. */
export function visibleJson(json: string): string {
  return json.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function pictureOf(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
