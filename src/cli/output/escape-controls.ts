/**
 * Makes control characters visible, because text from others may contain terminal commands: colours, cursor moves, reversed
 * writing. Line ends and tabs are kept.
 */
export function escapeControls(text: string): string {
  return text.replace(/\r\n|[\p{Cc}\p{Bidi_Control}]/gu, (control) => visibleControl(control));
}

/** A control character, or a line end of two, as it may be written. */
export function visibleControl(control: string): string {
  if (control === '\r\n') return '\n';
  return control === '\n' || control === '\t' ? control : pictureOf(control.charCodeAt(0));
}

/** Like `escapeControls`, for one table cell: line ends and tabs are replaced too. */
export function escapeCell(text: string): string {
  return escapeControls(text).replace(/\t/g, ' ').replace(/\n/g, '␤');
}

/** Escapes tabs and line ends as `\t` and `\n` for one cell of a tab-separated row. */
export function tabSeparatedCell(text: string): string {
  return text.replace(/[\t\n\r]/g, (character) =>
    character === '\t' ? '\\t' : character === '\n' ? '\\n' : '\\r',
  );
}

/** Escapes control characters that JSON leaves raw; the JSON value is unchanged. */
export function escapeJson(json: string): string {
  return json.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A visible sign for a control character. */
function pictureOf(code: number): string {
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
