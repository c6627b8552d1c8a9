/** Scores of probabilistic answers. Sources: Brier 1950; Naeini et al. 2015 (ECE); Guo et al. 2017 (temperature scaling). */

/** An answer to a labelled example. */
export interface Scored {
  probabilities: readonly number[];
  /** The index of the right option. */
  right: number;
}

export interface Bin {
  /** The bounds of the confidence: above `from`, up to `to`. */
  from: number;
  to: number;
  count: number;
  /** Means over the bin; 0 for an empty one. */
  confidence: number;
  accuracy: number;
}

export interface Scores {
  examples: number;
  accuracy: number;
  /** Mean negative log-likelihood of the right option, in nats. */
  nll: number;
  /** Mean squared distance from the right answer over all options: 0 is perfect, 2 the worst. */
  brier: number;
  /** Expected calibration error: the mean distance of accuracy from confidence. */
  ece: number;
  bins: Bin[];
  /** The share of the examples from a confidence on, and their accuracy. */
  coverage: { coverage: number; confidence: number; accuracy: number }[];
}

const binsCount = 15;
const coverages = [0.1, 0.25, 0.5, 0.75, 0.9, 1];
/** Sums differ in their last digits: confidences this close are equal. */
const rounding = 1e-9;
/** A probability of 0 for the right option would be infinitely wrong. */
const probabilityMin = 1e-12;

export function scoresOf(answers: readonly Scored[]): Scores {
  const judged = answers.map(({ probabilities, right }) => {
    const confidence = Math.max(...probabilities);
    return { confidence, isRight: probabilities.indexOf(confidence) === right };
  });
  const bins = binsOf(judged);
  const ranked = judged.toSorted((a, b) => b.confidence - a.confidence);
  return {
    examples: answers.length,
    accuracy: shareRight(judged),
    nll: nllOf(answers),
    brier: average(answers.map(brierOf)),
    ece: bins.reduce(
      (sum, bin) => sum + (bin.count / answers.length) * Math.abs(bin.accuracy - bin.confidence),
      0,
    ),
    bins,
    coverage: thresholdsOf(ranked).map((confidence) => {
      const kept = ranked.filter((each) => each.confidence > confidence - rounding);
      return { coverage: kept.length / ranked.length, confidence, accuracy: shareRight(kept) };
    }),
  };
}

/** Confidence thresholds that about these shares of the examples exceed. Examples of equal confidence cannot be separated. */
function thresholdsOf(ranked: readonly Judged[]): number[] {
  const indexes = coverages.map((share) => Math.max(1, Math.round(share * ranked.length)) - 1);
  const lowestEqual = (confidence: number) =>
    ranked.findLast((each) => each.confidence > confidence - rounding)?.confidence ?? confidence;
  return [...new Set(indexes.flatMap((index) => ranked[index]?.confidence ?? []).map(lowestEqual))];
}

export function nllOf(answers: readonly Scored[]): number {
  return average(
    answers.map(({ probabilities, right }) => -Math.log(Math.max(probabilities[right] ?? 0, probabilityMin))),
  );
}

function brierOf({ probabilities, right }: Scored): number {
  return probabilities.reduce((sum, each, at) => sum + (each - Number(at === right)) ** 2, 0);
}

interface Judged {
  confidence: number;
  isRight: boolean;
}

function binsOf(judged: readonly Judged[]): Bin[] {
  return Array.from({ length: binsCount }, (_, at) => {
    const inside = judged.filter(
      ({ confidence }) =>
        Math.min(binsCount - 1, Math.max(0, Math.ceil(confidence * binsCount - rounding) - 1)) === at,
    );
    return {
      from: at / binsCount,
      to: (at + 1) / binsCount,
      count: inside.length,
      confidence: average(inside.map(({ confidence }) => confidence)),
      accuracy: shareRight(inside),
    };
  });
}

function shareRight(judged: readonly Judged[]): number {
  return average(judged.map(({ isRight }) => Number(isRight)));
}

function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

const temperatureMin = 0.05;
const temperatureMax = 20;
const goldenRatio = (Math.sqrt(5) - 1) / 2;
const searchSteps = 60;

/** The temperature with the lowest mean negative log-likelihood, found by golden-section search over its logarithm. */
export function fittedTemperature(nllAt: (temperature: number) => number): number {
  let low = Math.log(temperatureMin);
  let high = Math.log(temperatureMax);
  for (let step = 0; step < searchSteps; step += 1) {
    const left = high - goldenRatio * (high - low);
    const right = low + goldenRatio * (high - low);
    if (nllAt(Math.exp(left)) < nllAt(Math.exp(right))) high = right;
    else low = left;
  }
  return Math.exp((low + high) / 2);
}
