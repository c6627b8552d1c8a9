/** Seconds. From what a loopback answer takes to what a long one of a slow model does. */
export const secondsBounds: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
];

/** Counts of values by the smallest bound that they keep; the last count is of those beyond all. */
export class Histogram {
  readonly counts: number[] = new Array(secondsBounds.length + 1).fill(0);
  sum = 0;
  count = 0;

  observe(seconds: number): void {
    let place = 0;
    while (place < secondsBounds.length && seconds > (secondsBounds[place] as number)) place += 1;
    this.counts[place] = (this.counts[place] as number) + 1;
    this.sum += seconds;
    this.count += 1;
  }
}
