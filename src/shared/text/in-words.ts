/** The parts of a sentence: `a`, `a or b`, `a, b or c`. */
export function inWords(parts: readonly string[], conjunction: 'and' | 'or' = 'or'): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} ${conjunction} ${last}`;
}
