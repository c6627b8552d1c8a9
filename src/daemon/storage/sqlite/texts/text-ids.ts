/** The two parts of an id: of a thread and its run, or of a scope, which may have spaces, and its key. */
export function idParts(id: string): [first: string, second: string] {
  const end = id.lastIndexOf(' ');
  return end < 0 ? [id, ''] : [id.slice(0, end), id.slice(end + 1)];
}
