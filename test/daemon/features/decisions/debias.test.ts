import { describe, expect, test } from 'vitest';
import {
  type AskOrdered,
  Debiaser,
  type OrderedQuestion,
} from '../../../../src/daemon/features/decisions/debias.ts';
import {
  atTemperature,
  divided,
  expectedIndex,
  geometricMean,
  isDistribution,
  mean,
  normalised,
  topOf,
} from '../../../../src/daemon/features/decisions/distribution.ts';
import type { Debias, Question } from '../../../../src/daemon/features/decisions/question.ts';
import { chiSquare } from '../../../support/chi-square.ts';
import { Random } from '../../../support/random.ts';

describe('the arithmetic', () => {
  test('agrees with values worked out by hand', () => {
    expect(normalised([1, 3])).toEqual([0.25, 0.75]);
    expect(normalised([0, 0])).toEqual([0.5, 0.5]);
    // √(.9·.6) : √(.1·.4) = .7348 : .2
    const [yes, no] = geometricMean([
      [0.9, 0.1],
      [0.6, 0.4],
    ]);
    expect(yes).toBeCloseTo(0.786, 3);
    expect(no).toBeCloseTo(0.214, 3);
    expect(divided([0.6, 0.4], [0.75, 0.25])[0]).toBeCloseTo(1 / 3, 12);
    // .8² : .2² = 16 : 1
    expect(atTemperature([0.8, 0.2], 0.5)[0]).toBeCloseTo(16 / 17, 12);
    expect(atTemperature([0.8, 0.2], 1)[0]).toBeCloseTo(0.8, 12);
    expect(
      mean([
        [0.2, 0.8],
        [0.6, 0.4],
      ])[0],
    ).toBeCloseTo(0.4, 12);
    expect(expectedIndex([0.1, 0.2, 0.7])).toBeCloseTo(1.6, 12);
  });

  test('prefers the first of equal options, and checks sums within a tolerance', () => {
    expect(topOf([0.2, 0.4, 0.4])).toBe(1);
    expect(isDistribution([0.5, 0.5000001], 2, 1e-6)).toBe(true);
    expect(isDistribution([0.5, 0.51], 2, 1e-6)).toBe(false);
    expect(isDistribution([0.5, Number.NaN], 2, 1)).toBe(false);
    expect(isDistribution([1.5, -0.5], 2, 1)).toBe(false);
    expect(isDistribution([1], 2, 1)).toBe(false);
  });
});

/** Prefers positions by their letter, whatever stands there: roughly as measured with real models. */
function blindModel(asked: readonly OrderedQuestion[]) {
  return asked.map(({ order }) => ({
    probabilities: normalised(order.map((_, position) => 1 / (position + 1) ** 1.3)),
    mass: 0.9,
  }));
}

/** Knows that an option is right, and prefers positions on top of it. */
const knowing =
  (right: string): AskOrdered =>
  async (asked) =>
    asked.map(({ question, order }) => ({
      probabilities: normalised(
        order.map((place, position) => (question.options[place]?.label === right ? 5 : 1) / (position + 1)),
      ),
    }));

const question = (options: readonly string[], type: Question['type'] = 'choice'): Question => ({
  type,
  name: null,
  instructions: 'Which?',
  options: options.map((label) => ({ value: label, label })),
});

const many = (count: number) => Array.from({ length: count }, (_, at) => `option ${at}`);

async function ask(
  debiaser: Debiaser,
  asked: Question,
  mode: Debias,
  model: AskOrdered = async (all) => blindModel(all),
) {
  const [answer] = await debiaser.answer([asked], { mode, model: 'blind', optionsMax: 16 }, model);
  if (answer === undefined || 'refused' in answer) throw new Error('refused');
  return answer;
}

describe('a model that does not see the content', () => {
  test.each([
    ['predicate', 2, 'auto'],
    ['choice', 3, 'auto'],
    ['choice', 4, 'auto'],
    ['score', 5, 'auto'],
    ['score', 10, 'auto'],
    ['choice', 16, 'full'],
    ['choice', 17, 'auto'],
    ['choice', 77, 'auto'],
    ['choice', 255, 'auto'],
  ] as const)('comes out uniform: %s of %i options, %s', async (type, count, mode) => {
    const debiaser = new Debiaser();
    const first = await ask(debiaser, question(many(count), type), mode);
    const second = await ask(debiaser, question(many(count), type), mode);
    for (const { probabilities } of [first, second]) {
      expect(isDistribution(probabilities, count, 1e-6)).toBe(true);
      for (const probability of probabilities) expect(Math.abs(probability - 1 / count)).toBeLessThan(0.03);
    }
  });

  test('shows its preference for positions without debiasing', async () => {
    const { probabilities, diagnostics } = await ask(new Debiaser(), question(many(3)), 'off');
    expect(Math.max(...probabilities) - Math.min(...probabilities)).toBeGreaterThan(0.3);
    expect(diagnostics).toEqual({ mass: 0.9, permutations: 1 });
  });
});

describe('a model that answers at random', () => {
  /** Random weights, on top of a preference for positions. */
  const randomModel =
    (random: Random): AskOrdered =>
    async (asked) =>
      asked.map(({ order }) => ({
        probabilities: normalised(order.map((_, at) => Math.exp(random.next()) / (at + 1) ** 1.3)),
      }));

  // The critical values are those of p = .01, for all seeds together.
  test.each([
    ['7 options', 7, 8, 73.7],
    ['2 groups of 7 options', 14, 4, 78.6],
  ] as const)('chooses every option equally often: %s', async (_, count, seeds, critical) => {
    const optionsMax = 7;
    let total = 0;
    for (let seed = 0; seed < seeds; seed += 1) {
      const debiaser = new Debiaser();
      const model = randomModel(new Random(seed));
      const counts = Array<number>(count).fill(0);
      for (let at = 0; at < 4096; at += 1) {
        const options = { mode: 'auto', model: 'random', optionsMax } as const;
        const [answer] = await debiaser.answer([question(many(count))], options, model);
        if (answer === undefined || 'refused' in answer) throw new Error('refused');
        const top = topOf(answer.probabilities);
        counts[top] = (counts[top] ?? 0) + 1;
      }
      total += chiSquare(counts);
    }
    expect(total).toBeLessThan(critical);
  });
});

describe('a model that knows the answer', () => {
  test.each([3, 4, 7, 12, 40])('gives the same probabilities in any order of %i options', async (count) => {
    const debiaser = new Debiaser();
    const labels = many(count);
    const right = labels[count - 1] as string;
    const probabilitiesOf = async (order: string[]) => {
      const { probabilities } = await ask(debiaser, question(order), 'auto', knowing(right));
      return new Map(order.map((label, at) => [label, probabilities[at] ?? 0]));
    };
    const forward = await probabilitiesOf(labels);
    expect(topOf([...forward.values()])).toBe(count - 1);
    for (const order of [
      labels.toReversed(),
      labels.toSorted(),
      [...labels.slice(2), ...labels.slice(0, 2)],
    ]) {
      const other = await probabilitiesOf(order);
      for (const label of labels)
        expect(Math.abs((other.get(label) ?? 0) - (forward.get(label) ?? 0))).toBeLessThan(0.02);
    }
  });
});

test('many options are asked once, but for the first time and one in 25 times after it', async () => {
  const debiaser = new Debiaser();
  const calls: number[] = [];
  const counting: AskOrdered = async (asked) => {
    calls.push(asked.length);
    return blindModel(asked);
  };
  for (let time = 0; time < 30; time += 1) await ask(debiaser, question(many(8)), 'auto', counting);
  expect(calls.filter((count) => count === 8)).toHaveLength(2);
  expect(calls.filter((count) => count === 1)).toHaveLength(28);
});

test('one refused order refuses the question, and not the others', async () => {
  const model: AskOrdered = async (asked) =>
    asked.map(({ question: { name }, order }) =>
      name === 'bad' && order[0] === 1
        ? { refused: true }
        : { probabilities: normalised(order.map(() => 1)) },
    );
  const answers = await new Debiaser().answer(
    [{ ...question(['a', 'b']), name: 'bad' }, question(['a', 'b'])],
    { mode: 'auto', model: 'm', optionsMax: 16 },
    model,
  );
  expect(answers.map((answer) => 'refused' in answer)).toEqual([true, false]);
});
