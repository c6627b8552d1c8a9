/** `plural(2, 'image')` returns `2 images`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The text in quotation marks, as the end of a sentence. A long text is cut at a word, and its length is added. */
export function quote(text: string, charsMax: number): string {
  const line = text.trim();
  if (line.length <= charsMax) return /[.!?…]$/.test(line) ? `“${line}”` : `“${line}”.`;
  const cut = line.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, '');
  const atWord = cut.lastIndexOf(' ');
  const start = atWord > charsMax / 2 ? cut.slice(0, atWord) : cut;
  return `“${start}…” (${line.length} characters in all).`;
}

/** `joinWords(['a', 'b', 'c'])` returns `a, b and c`. */
export function joinWords(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
