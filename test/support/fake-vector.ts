/** The unit vector that fake providers give an input; different inputs have different ones. */
export function fakeVector(input: string | readonly number[], dimensions = 8): number[] {
  const units = typeof input === 'string' ? [...input].map((each) => each.codePointAt(0) ?? 0) : input;
  const seed = units.reduce((sum, unit, at) => sum + unit * (at + 1), 1);
  const values = Array.from({ length: dimensions }, (_, at) => Math.sin(seed * (at + 1)));
  const length = Math.hypot(...values);
  return [...Float32Array.from(values, (value) => value / length)];
}
