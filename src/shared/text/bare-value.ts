/**
 * What a variable or a pasted text says, without what others leave around it: blanks, the line end of Windows, and the quotation marks
 * of an env file, which Docker keeps.
 */
export function bareValue(text: string): string {
  const trimmed = text.trim();
  const [mark] = trimmed;
  const isQuoted = trimmed.length > 1 && (mark === '"' || mark === "'") && trimmed.endsWith(mark);
  return isQuoted ? trimmed.slice(1, -1).trim() : trimmed;
}

/** The same of a provider's key, which may have been copied together with the scheme of its header. */
export function bareKey(text: string): string {
  return bareValue(text)
    .replace(/^Bearer /i, '')
    .trim();
}

/** Whether a key can be sent in a header: one with typographic quotation marks or a second line is none. */
export function isSendableKey(key: string): boolean {
  return /^[\x20-\x7e]*$/.test(key);
}
