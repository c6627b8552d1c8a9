import { describe, expect, test } from 'vitest';
import { reliabilityLines, reliabilitySvg } from '../../../../src/cli/commands/decide/eval.ts';
import { powered } from '../../../../src/cli/commands/decide/examples.ts';
import {
  fittedTemperature,
  nllOf,
  type Scored,
  scoresOf,
} from '../../../../src/cli/commands/decide/scores.ts';

const answers: Scored[] = [
  { probabilities: [0.9, 0.1], right: 0 },
  { probabilities: [0.9, 0.1], right: 1 },
  { probabilities: [0.3, 0.7], right: 1 },
  { probabilities: [0.5, 0.25, 0.25], right: 0 },
];

describe('scores', () => {
  const scores = scoresOf(answers);

  test('agree with values worked out by hand', () => {
    expect(scores.accuracy).toBe(0.75);
    // −(ln .9 + ln .1 + ln .7 + ln .5) / 4
    expect(scores.nll).toBeCloseTo(0.8644, 4);
    // (.02 + 1.62 + .18 + .375) / 4
    expect(scores.brier).toBeCloseTo(0.54875, 10);
    // The bins of .9 (one of two right), .7 and .5: (2·.4 + .3 + .5) / 4
    expect(scores.ece).toBeCloseTo(0.4, 10);
  });

  test('have accuracy by coverage, most confident first', () => {
    expect(scores.coverage).toEqual([
      // Both of equal confidence: a threshold keeps all or none of them.
      { coverage: 0.5, confidence: 0.9, accuracy: 0.5 },
      { coverage: 0.75, confidence: 0.7, accuracy: 2 / 3 },
      { coverage: 1, confidence: 0.5, accuracy: 0.75 },
    ]);
  });

  test('are drawn by bin, also as SVG', () => {
    expect(reliabilityLines(scores)).toHaveLength(3);
    expect(reliabilityLines(scores).at(-1)).toMatch(/90 % {4}50 % {2}2 .*-40$/);
    const svg = reliabilitySvg(scores, 'a <model>');
    expect(svg).toContain('a &lt;model&gt;');
    expect(svg.match(/<title>/g)).toHaveLength(3);
  });

  test('count every confidence in one bin, 0 and 1 included', () => {
    const edges = [1 / 15, 2 / 15, 0.999999, 1].map((top) => ({ probabilities: [top], right: 0 }));
    expect(scoresOf(edges).bins.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  });
});

test('scores take confidences as equal that differ by rounding, also at the edge of a bin', () => {
  const almost = [0.6, 0.1 + 0.5, 0.6000000000000001, 0.5999999999999999, 2 / 3, 0.6666666666666667];
  const scores = scoresOf(almost.map((top, at) => ({ probabilities: [top, 1 - top], right: at % 2 })));
  expect(scores.bins.filter(({ count }) => count > 0)).toMatchObject([
    { to: 0.6, count: 4, accuracy: 0.5 },
    { from: 0.6, count: 2, accuracy: 0.5 },
  ]);
  expect(scores.coverage).toEqual([
    { coverage: 1 / 3, confidence: 2 / 3, accuracy: 0.5 },
    { coverage: 1, confidence: 0.5999999999999999, accuracy: 0.5 },
  ]);
});

test('a fit recovers the temperature that sharpened probabilities', () => {
  // True probabilities, of which a share as large is right, made sharper as if divided by .4.
  const examples = [0.55, 0.6, 0.7, 0.8, 0.9].flatMap((p) =>
    Array.from({ length: 200 }, (_, at) => ({
      probabilities: powered([p, 1 - p], 2.5),
      right: at < p * 200 ? 0 : 1,
    })),
  );
  const temperature = fittedTemperature((each) =>
    nllOf(
      examples.map(({ probabilities, right }) => ({
        right,
        probabilities: powered(probabilities, 1 / each),
      })),
    ),
  );
  expect(temperature).toBeCloseTo(2.5, 2);
});
