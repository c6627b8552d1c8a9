/** Whether a name matches a pattern, in which `*` stands for any characters. */
export function matchesPattern(pattern: string, name: string): boolean {
  return pattern.includes('*') ? starIn(pattern, name) !== undefined : pattern === name;
}

/** What the first `*` of a pattern stands for in a name, as short as it can be; undefined if the name does not match. In linear time. */
export function starIn(pattern: string, name: string): { start: number; end: number } | undefined {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop() ?? '';
  const limit = name.length - last.length;
  if (limit < first.length || !name.startsWith(first) || !name.endsWith(last)) return undefined;
  let end: number | undefined;
  let from = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, from);
    if (found < 0 || found + part.length > limit) return undefined;
    end ??= found;
    from = found + part.length;
  }
  return { start: first.length, end: end ?? limit };
}
