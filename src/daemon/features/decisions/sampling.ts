import { groupsOf, startingAt } from './debias.ts';
import { SourceFailure } from './decision-source.ts';
import { divided, geometricMean, highest, normalised, topOf } from './distribution.ts';
import type { CallModel } from './model-call.ts';
import type { Option, Question, QuestionAnswer } from './question.ts';
import { combined, drawSample, type Sample } from './samples.ts';

/** So many samples that agree end the sampling. */
const agreeingMin = 3;
const samplesDefault = 5;
/** More options than this are asked about in groups: each of so many can come first once. */
const togetherMax = 10;
/** What an option that got nothing is taken to have: models round to two digits. */
const shareMin = 0.005;
/** How much of a preference that few samples show is divided out. What the model wrote decides between equals. */
const preferenceTrust = 0.98;

export interface SamplingOptions {
  /** Answers about the same options at most; by default as many as there are options, and at least five. */
  samples?: number | undefined;
  randomBytes: (count: number) => Uint8Array;
}

/**
 * Asks for a probability per option, several times and with the options in different orders, and averages the answers. Stops
 * after three that prefer the same option. More than ten options are asked about in groups first, and the best of them
 * together. Fails with a `SourceFailure` if no answer can be read.
 */
export async function askForProbabilities(
  input: string,
  question: Question,
  call: CallModel,
  { samples, randomBytes }: SamplingOptions,
): Promise<QuestionAnswer> {
  const { length } = question.options;
  const sampling = new Sampling(input, question, call, samples);
  // A random start, so that no option profits from its group, or from its position in it, every time.
  const [high = 0, low = 0] = length > togetherMax ? randomBytes(2) : [];
  const options = startingAt([...question.options.keys()], high * 256 + low);
  const found = await sampling.probabilitiesOf(options);
  if (found === 'refused') return { refused: true, diagnostics: { samples: sampling.count } };
  const probabilities = Array<number>(length).fill(0);
  options.forEach((option, at) => {
    probabilities[option] = found.probabilities[at] ?? 0;
  });
  return { probabilities, diagnostics: { samples: sampling.count, agreement: found.agreement } };
}

interface Found {
  probabilities: readonly number[];
  /** The share of samples that prefer the most frequently preferred option. */
  agreement: number;
}

/** The samples of one question. */
class Sampling {
  /** How many were drawn. */
  count = 0;
  readonly #input: string;
  readonly #question: Question;
  readonly #call: CallModel;
  readonly #samplesMax: number | undefined;

  constructor(input: string, question: Question, call: CallModel, samplesMax: number | undefined) {
    this.#input = input;
    this.#question = question;
    this.#call = call;
    this.#samplesMax = samplesMax;
  }

  /** The probabilities of some of the options, in the given order. */
  probabilitiesOf(options: readonly number[]): Promise<Found | 'refused'> {
    return options.length <= togetherMax ? this.#askTogether(options) : this.#askInGroups(options);
  }

  async #askTogether(options: readonly number[]): Promise<Found | 'refused'> {
    const samplesMax = this.#samplesMax ?? Math.max(samplesDefault, options.length);
    const first = Math.min(samplesMax, agreeingMin);
    const drawn = await this.#draw(options, starts(samplesMax, options.length).slice(0, first));
    if (!isUnanimous(drawn)) {
      drawn.push(...(await this.#draw(options, starts(samplesMax, options.length).slice(first))));
    }
    const read = readable(drawn);
    return read === 'refused' ? read : combined(read, options.length);
  }

  /**
   * Asks about each group, then about the best options of all groups together. The others keep their probability relative to
   * the best of their group (Luce's choice axiom).
   */
  async #askInGroups(options: readonly number[]): Promise<Found | 'refused'> {
    const groups = groupsOf(options.length, togetherMax).map((group) => group.map((at) => options[at] ?? 0));
    const samplesEach = Math.max(1, Math.round(togetherMax / groups.length));
    const asked = await Promise.all(
      groups.map(async (group) => {
        const samplesMax = Math.min(samplesEach, group.length, this.#samplesMax ?? samplesEach);
        return readable(await this.#draw(group, starts(samplesMax, group.length)));
      }),
    );
    const read = asked.filter((samples) => samples !== 'refused');
    if (read.length < asked.length) return 'refused';
    const shares = withoutPositions(read);
    const keptEach = Math.max(1, Math.floor(Math.min(togetherMax, options.length / 2) / groups.length));
    const kept = shares.map((each) => highest(each, keptEach));
    const final = await this.probabilitiesOf(
      groups.flatMap((group, at) => (kept[at] ?? []).map((index) => group[index] ?? 0)),
    );
    if (final === 'refused') return final;
    const weights = shares.flatMap((each, at) => {
      const best = kept[at] ?? [];
      const won = final.probabilities.slice(at * keptEach, (at + 1) * keptEach);
      const scale = sum(won) / sum(best.map((index) => each[index] ?? 0));
      return each.map((share, index) => won[best.indexOf(index)] ?? share * scale);
    });
    return { probabilities: normalised(weights), agreement: final.agreement };
  }

  /** A sample for each start. */
  async #draw(options: readonly number[], starts: readonly number[]): Promise<Drawn[]> {
    this.count += starts.length;
    const question = {
      ...this.#question,
      options: options.map((index) => this.#question.options[index] as Option),
    };
    return await Promise.all(starts.map((first) => drawSample(this.#input, question, first, this.#call)));
  }
}

type Drawn = Sample | 'refused' | undefined;

/** Which option each of so many samples shows first: each option once, as far as there are as many samples. */
function starts(samples: number, options: number): number[] {
  const step = Math.max(1, options / samples);
  return Array.from({ length: samples }, (_, at) => Math.round(at * step) % options);
}

function isUnanimous(drawn: readonly Drawn[]): boolean {
  const tops = drawn.map((sample) => (typeof sample === 'object' ? topOf(sample.probabilities) : -1));
  return tops.every((top) => top >= 0 && top === tops[0]);
}

/** The samples that could be read, or that the model refused. */
function readable(drawn: readonly Drawn[]): Sample[] | 'refused' {
  const read = drawn.filter((sample) => typeof sample === 'object');
  if (read.length > 0) return read;
  if (drawn.includes('refused')) return 'refused';
  throw new SourceFailure('wrong_shape', 'the model wrote no probabilities');
}

/**
 * The probabilities of each group's options, without the model's preference for positions: what the samples of all groups have
 * in common.
 */
function withoutPositions(groups: readonly (readonly Sample[])[]): number[][] {
  const shown = groups.map((samples) =>
    samples.map(({ probabilities, first }) => {
      const atLeast = normalised(probabilities.map((probability) => probability + shareMin));
      return { byPosition: startingAt(atLeast, first), first };
    }),
  );
  const all = shown.flat().map(({ byPosition }) => byPosition);
  const positions = Math.max(...all.map(({ length }) => length));
  const preference = Array.from({ length: positions }, (_, position) => {
    // Relative to an even share, as groups differ in size.
    const logs = all.flatMap((each) => Math.log((each[position] ?? 0) * each.length)).filter(Number.isFinite);
    return Math.exp((preferenceTrust * sum(logs)) / logs.length);
  });
  return shown.map((samples) =>
    geometricMean(
      samples.map(({ byPosition, first }) =>
        startingAt(divided(byPosition, preference), byPosition.length - first),
      ),
    ),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
