/** What a long test found: each fault is printed as it is found, the number of both at the end. */
export class Checks {
  #passed = 0;
  #failed = 0;

  check(isTrue: boolean, what: string): void {
    if (isTrue) this.#passed += 1;
    else {
      this.#failed += 1;
      process.stderr.write(`failed: ${what}\n`);
    }
  }

  /** Prints the numbers; the process exits with 1 if something failed. */
  finish(): void {
    process.stdout.write(`${this.#passed} passed, ${this.#failed} failed\n`);
    if (this.#failed > 0) process.exitCode = 1;
  }
}

/** Prints figures, a line each. */
export function printFigures(figures: Record<string, string | number>): void {
  const width = Math.max(...Object.keys(figures).map((name) => name.length));
  for (const [name, figure] of Object.entries(figures))
    process.stdout.write(`${name.padEnd(width)}  ${figure}\n`);
}

/** The number in the arguments of a script, or the usual one. */
export function numberArgument(usual: number): number {
  const [given] = process.argv.slice(2);
  const number = given === undefined ? usual : Number(given);
  if (!Number.isFinite(number) || number <= 0) throw new RangeError(`not a number above 0: ${given}`);
  return number;
}

/** The value below which that share of the values is; 0 without values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
