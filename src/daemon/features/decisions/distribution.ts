/** Arithmetic of probabilities over options. Inputs are finite and not negative. */

/** Keeps logarithms finite. */
const probabilityMin = 1e-12;

/** Scales weights so that they add up to 1; uniform if all are 0. */
export function normalised(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => (total > 0 ? weight / total : 1 / weights.length));
}

/** The normalised geometric mean of distributions over the same options: their average in log space. */
export function geometricMean(distributions: readonly (readonly number[])[]): number[] {
  const [first = []] = distributions;
  const logs = first.map((_, at) => {
    const sum = distributions.reduce((total, each) => total + logOf(each[at] ?? 0), 0);
    return sum / distributions.length;
  });
  return fromLogs(logs);
}

/** The distribution with each probability divided by that of the same index in `prior`. */
export function divided(distribution: readonly number[], prior: readonly number[]): number[] {
  return fromLogs(distribution.map((probability, at) => logOf(probability) - logOf(prior[at] ?? 0)));
}

/** The distribution at a temperature: above 1 it becomes flatter, below 1 sharper. */
export function atTemperature(distribution: readonly number[], temperature: number): number[] {
  return fromLogs(distribution.map((probability) => logOf(probability) / temperature));
}

/** The mean of distributions over the same options. */
export function mean(distributions: readonly (readonly number[])[]): number[] {
  const [first = []] = distributions;
  return normalised(first.map((_, at) => distributions.reduce((sum, each) => sum + (each[at] ?? 0), 0)));
}

/** The index of the highest probability; the first of several. */
export function topOf(distribution: readonly number[]): number {
  return distribution.indexOf(Math.max(...distribution));
}

/** The indexes of the highest probabilities, highest first; lower ones come first among equals. */
export function highest(distribution: readonly number[], count: number): number[] {
  const indexes = [...distribution.keys()];
  return indexes.sort((a, b) => (distribution[b] ?? 0) - (distribution[a] ?? 0)).slice(0, count);
}

/** The probability-weighted index: 0 is the first option. */
export function expectedIndex(distribution: readonly number[]): number {
  return distribution.reduce((sum, probability, at) => sum + probability * at, 0);
}

/** Whether these are the probabilities of so many options: finite, not negative, and adding up to 1 within `tolerance`. */
export function isDistribution(values: readonly number[], count: number, tolerance: number): boolean {
  if (values.length !== count || !values.every((value) => Number.isFinite(value) && value >= 0)) return false;
  return Math.abs(values.reduce((sum, value) => sum + value, 0) - 1) <= tolerance;
}

function logOf(probability: number): number {
  return Math.log(Math.max(probability, probabilityMin));
}

function fromLogs(logs: readonly number[]): number[] {
  const highest = Math.max(...logs);
  return normalised(logs.map((log) => Math.exp(log - highest)));
}
