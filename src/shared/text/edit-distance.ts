/** Counts insertions, deletions, substitutions and transpositions; infinite above `most`. */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      let distance = Math.min(
        at(above, column) + 1,
        at(current, column - 1) + 1,
        at(above, column - 1) + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) distance = Math.min(distance, at(before, column - 2) + 1);
      current.push(distance);
      least = Math.min(least, distance);
    }
    if (least > most) return Number.POSITIVE_INFINITY;
    before = above;
    above = current;
  }
  const distance = at(above, b.length);
  return distance <= most ? distance : Number.POSITIVE_INFINITY;
}

const at = (row: number[], column: number) => row[column] ?? Number.POSITIVE_INFINITY;

/** The known name most similar to a mistyped one. */
export function nearestTo(mistyped: string, known: readonly string[]): string | undefined {
  const near = known
    .map((name) => ({
      name,
      distance: editDistance(mistyped.toLowerCase(), name, Math.ceil(name.length / 3)),
    }))
    .filter(({ distance }) => Number.isFinite(distance))
    .toSorted((a, b) => a.distance - b.distance);
  return near[0]?.name;
}
