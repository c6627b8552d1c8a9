import { describe, expect, test } from 'vitest';
import { normalised, topOf } from '../../../../src/daemon/features/decisions/distribution.ts';
import type { CallModel } from '../../../../src/daemon/features/decisions/model-call.ts';
import type { Question, QuestionAnswer } from '../../../../src/daemon/features/decisions/question.ts';
import { combined } from '../../../../src/daemon/features/decisions/samples.ts';
import { askForProbabilities } from '../../../../src/daemon/features/decisions/sampling.ts';
import { chiSquare } from '../../../support/chi-square.ts';
import { Random } from '../../../support/random.ts';

const choice = (count: number): Question => ({
  type: 'choice',
  name: null,
  instructions: 'Which?',
  options: Array.from({ length: count }, (_, at) => ({ value: `v${at}`, label: `v${at}` })),
});

interface Shown {
  keys: string[];
  /** Places in the question, in the order in which the model sees the options. */
  places: number[];
}

function optionsIn(user: string): Shown {
  const lines = [...user.matchAll(/^(\w+): v(\d+)$/gm)];
  return { keys: lines.map(([, key]) => key ?? ''), places: lines.map(([, , place]) => Number(place)) };
}

/** Writes the given weights as a model does: in two digits. */
const writing =
  (weightsOf: (places: readonly number[]) => number[]): CallModel =>
  async ({ user }) => {
    const { keys, places } = optionsIn(user);
    const written = normalised(weightsOf(places)).map((weight) => Number(weight.toFixed(2)));
    const text = JSON.stringify(Object.fromEntries(keys.map((key, at) => [key, written[at]])));
    return { text, refused: false, positions: [] };
  };

/** Names one of the options. */
const naming =
  (positionOf: (places: readonly number[]) => number): CallModel =>
  async ({ user }) => {
    const { keys, places } = optionsIn(user);
    return { text: `${keys[positionOf(places)]}.`, refused: false, positions: [] };
  };

async function ask(call: CallModel, options: number, seed = 1, samples?: number) {
  const random = new Random(seed);
  let calls = 0;
  const answer = await askForProbabilities(
    'text',
    choice(options),
    (question) => {
      calls += 1;
      return call(question);
    },
    { samples, randomBytes: (count) => Uint8Array.from({ length: count }, () => random.next() * 256) },
  );
  return { answer, calls, probabilities: probabilitiesOf(answer) };
}

function probabilitiesOf(answer: QuestionAnswer): readonly number[] {
  if ('refused' in answer) throw new Error('refused');
  return answer.probabilities;
}

const sizes = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 20, 21, 33, 50, 77, 100, 101, 255];

describe('a model that does not see the content comes out uniform', () => {
  const blind: [string, CallModel][] = [
    ['likes the first ones', writing((places) => places.map((_, position) => 1 / (position + 1) ** 1.3))],
    ['likes the last ones', writing((places) => places.map((_, position) => 1.5 ** position))],
    ['always writes the first', writing((places) => places.map((_, position) => (position === 0 ? 1 : 0)))],
    ['always names the first', naming(() => 0)],
    ['always names the last', naming((places) => places.length - 1)],
  ];

  test.each(blind)('if it %s', async (_, call) => {
    for (const size of sizes) {
      const { probabilities } = await ask(call, size);
      for (const each of probabilities) expect(Math.abs(each - 1 / size), `${size}`).toBeLessThan(0.03);
      expect(probabilities.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 9);
    }
  });

  test.each([11, 30, 100])('on average, if it answers at random: %i options', async (size) => {
    const random = new Random(size);
    const written = writing((places) => places.map((_, at) => Math.exp(3 * random.next()) / (at + 1)));
    const named = naming((places) => Math.floor(random.next() ** 2 * places.length));
    for (const call of [written, named]) {
      const decisions = 20 * size;
      const counts = Array<number>(size).fill(0);
      const means = Array<number>(size).fill(0);
      for (let at = 0; at < decisions; at += 1) {
        const { probabilities } = await ask(call, size, at);
        const top = topOf(probabilities);
        counts[top] = (counts[top] ?? 0) + 1;
        probabilities.forEach((each, option) => {
          means[option] = (means[option] ?? 0) + each / decisions;
        });
      }
      for (const each of means) expect(Math.abs(each - 1 / size)).toBeLessThan(0.03);
      // Four standard deviations above the mean. Names are often equal in number, and the first of equals is chosen.
      if (call === written) expect(chiSquare(counts)).toBeLessThan(size - 1 + 4 * Math.sqrt(2 * (size - 1)));
    }
  });
});

describe('a model that knows the answer is right', () => {
  test.each([10, 12, 40, 100, 255])('although it prefers positions: %i options', async (size) => {
    const step = Math.max(1, Math.floor(size / 24));
    const models = (right: number): CallModel[] => [
      writing((places) => places.map((place, position) => (place === right ? 3 : 1) / (position + 1) ** 1.3)),
      naming((places) => Math.max(0, places.indexOf(right))),
    ];
    for (let right = 0; right < size; right += step) {
      for (const call of models(right)) {
        const { probabilities } = await ask(call, size, right);
        expect(topOf(probabilities)).toBe(right);
      }
    }
  });

  test.each([20, 50, 100])('as often as in one answer about all options: %i', async (size) => {
    const random = new Random(size);
    const gaussian = () =>
      Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
    const noisy = (right: number) => (places: readonly number[]) =>
      places.map(
        (place, position) => Math.exp((place === right ? 3 : 0) + gaussian()) / (position + 1) ** 0.5,
      );
    const all = Array.from({ length: size }, (_, at) => at);
    let once = 0;
    let decided = 0;
    for (let at = 0; at < 300; at += 1) {
      const right = Math.floor(random.next() * size);
      const order = all.toSorted(() => random.next() - 0.5);
      if (order[topOf(noisy(right)(order))] === right) once += 1;
      const { probabilities } = await ask(writing(noisy(right)), size, at);
      if (topOf(probabilities) === right) decided += 1;
    }
    expect(decided).toBeGreaterThanOrEqual(once);
  });
});

test('many options take few answers', async () => {
  const undecided = writing((places) => places.map((_, position) => (position === 0 ? 1 : 0)));
  for (const size of [10, 11, 20, 35, 50, 77, 100]) {
    const { calls, answer } = await ask(undecided, size);
    expect(calls).toBeLessThanOrEqual(20);
    expect(answer).toMatchObject({ diagnostics: { samples: calls } });
  }
  expect((await ask(undecided, 255)).calls).toBeLessThanOrEqual(50);
  // Each of 10 groups once, and the best ones once.
  expect((await ask(undecided, 100, 1, 1)).calls).toBe(11);
});

describe('samples', () => {
  const colours: Question = {
    ...choice(3),
    options: ['red', 'green', 'blue'].map((label) => ({ value: label, label })),
  };
  /** Answers with fixed weights by label, whatever the order. */
  const model =
    (weights: (sample: number) => Record<string, number>, write = JSON.stringify): CallModel =>
    async ({ user }) => {
      const byLabel = weights(count);
      count += 1;
      const keyed = [...user.matchAll(/^(\w+): (\w+)$/gm)].map(([, key, label]) => [
        key,
        byLabel[label ?? ''],
      ]);
      return { text: write(Object.fromEntries(keyed)), refused: false, positions: [] };
    };
  let count = 0;
  const ask = (call: CallModel, samples = 5) => {
    count = 0;
    const randomBytes = (bytes: number) => new Uint8Array(bytes);
    return askForProbabilities('text', colours, call, { samples, randomBytes });
  };

  test('are put back in the order of the options, and stop after three that agree', async () => {
    const answer = await ask(model(() => ({ red: 0.1, green: 0.7, blue: 0.2 })));
    expect(answer).toMatchObject({ diagnostics: { samples: 3, agreement: 1 } });
    expect(probabilitiesOf(answer)[1]).toBeCloseTo(0.7, 12);
    expect(count).toBe(3);
  });

  test('that disagree are all drawn and averaged', async () => {
    const answer = await ask(
      model((sample) => (sample === 0 ? { red: 1, green: 0, blue: 0 } : { red: 0, green: 1, blue: 0 })),
    );
    expect(answer).toMatchObject({ diagnostics: { samples: 5, agreement: 0.8 } });
    // The first and the fourth have the same order, which counts once: (0.5 + 1 + 1) / 3
    expect(probabilitiesOf(answer)[1]).toBeCloseTo(2.5 / 3, 12);
  });

  test('are clamped and scaled, and found among words', async () => {
    const write = (value: unknown) => `Sure:\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\``;
    const answer = await ask(model(() => ({ red: 3, green: -1, blue: 1 }), write));
    expect(probabilitiesOf(answer)).toEqual([0.5, 0, 0.5]);
  });

  test('are votes where the model names an option', () => {
    const vote = { probabilities: [1, 0, 0], isVote: true, first: 0 };
    // (3 + .5) / (3 + 1.5), and (0 + .5) / (3 + 1.5)
    const { probabilities } = combined([vote, vote, vote], 3);
    expect(probabilities[0]).toBeCloseTo(3.5 / 4.5, 12);
    expect(probabilities[1]).toBeCloseTo(0.5 / 4.5, 12);
  });

  test('that cannot be read fail', async () => {
    const call: CallModel = async () => ({ text: 'I cannot say.', refused: false, positions: [] });
    await expect(ask(call)).rejects.toMatchObject({ outcome: 'wrong_shape' });
  });
});
