import { RecentMap } from '../../../shared/recent-map.ts';
import { divided, geometricMean, normalised, topOf } from './distribution.ts';
import type { Debias, Diagnostics, Question, QuestionAnswer } from './question.ts';

/** A question with some of its options, in the order in which the model is to see them. */
export interface OrderedQuestion {
  question: Question;
  /** Indexes into `question.options`. */
  order: readonly number[];
}

/** The probabilities by position, or a refusal. */
export type OrderedAnswer =
  | { probabilities: readonly number[]; mass?: number | undefined; truncated?: boolean }
  | { refused: true };

/** Asks all questions; answers are in their order. */
export type AskOrdered = (asked: readonly OrderedQuestion[]) => Promise<readonly OrderedAnswer[]>;

export interface DebiasOptions {
  mode: Debias;
  /** Identifies what answers: preferences for positions differ by model and prompt. */
  model: string;
  /** How many options one call can distinguish. */
  optionsMax: number;
  /** Whether a question's options may be shown in another order; any question's by default. */
  canReorder?: (question: Question) => boolean;
}

/** Up to this many options, asking for every rotation is cheap. */
const rotatedMax = 4;
/** One in so many questions measures the preference for positions again. */
const remeasureEvery = 25;
/** A measurement weighs at least one in so many, so that the prior follows changes. */
const measurementsMax = 20;
const priorsMax = 1000;

interface Prior {
  /** By position; undefined until it is measured. */
  probabilities: number[] | undefined;
  measurements: number;
  uses: number;
  /** How often options were shown in a single order. */
  singles: number;
}

/** The part of a question's options that is asked together. */
interface Unit {
  question: Question;
  options: readonly number[];
  orders: readonly (readonly number[])[];
}

interface UnitAnswer {
  /** By option of the unit. */
  probabilities: number[];
  diagnostics: Diagnostics;
}

/**
 * Removes the influence of positions: models prefer letters, whatever stands behind them. Rotating the options through all
 * positions and averaging in log space cancels it; for many options, one answer is divided by the preference measured
 * with rotations earlier (PriDe, Zheng et al. 2023). Such answers start at each option in turn, so that errors of the
 * measurement favour none of them.
 */
export class Debiaser {
  readonly #priors = new RecentMap<string, Prior>(priorsMax);

  /** Answers each question. With too many options, groups are asked first and their winners afterwards. */
  async answer(
    questions: readonly Question[],
    options: DebiasOptions,
    ask: AskOrdered,
  ): Promise<QuestionAnswer[]> {
    const grouped = questions.map((question) => ({
      question,
      groups: groupsOf(question.options.length, options.optionsMax),
    }));
    const first = await this.#answerUnits(
      grouped.flatMap(({ question, groups }) => groups.map((group) => ({ question, options: group }))),
      options,
      ask,
    );
    let from = 0;
    const halfway = grouped.map(({ question, groups }) => {
      const answers = first.slice(from, from + groups.length);
      from += groups.length;
      return { question, groups, answers };
    });
    const finals = halfway.flatMap(({ question, groups, answers }) => {
      const known = answers.filter((answer) => answer !== undefined);
      if (groups.length === 1 || known.length < groups.length) return [];
      const winners = groups.map((group, at) => group[topOf(known[at]?.probabilities ?? [])] ?? 0);
      return [{ question, options: winners }];
    });
    const finalAnswers = await this.#answerUnits(finals, options, ask);
    let next = 0;
    return halfway.map(({ question, groups, answers }): QuestionAnswer => {
      const known = answers.filter((answer) => answer !== undefined);
      if (known.length < groups.length) return { refused: true, diagnostics: {} };
      const [only] = known;
      if (groups.length === 1 && only) return only;
      const final = finalAnswers[next];
      next += 1;
      if (final === undefined) return { refused: true, diagnostics: {} };
      return {
        probabilities: joined(groups, known, final.probabilities, question.options.length),
        diagnostics: worst([...known, final].map(({ diagnostics }) => diagnostics)),
      };
    });
  }

  async #answerUnits(
    asked: readonly Pick<Unit, 'question' | 'options'>[],
    options: DebiasOptions,
    ask: AskOrdered,
  ): Promise<(UnitAnswer | undefined)[]> {
    if (asked.length === 0) return [];
    const measuring = new Set<number>();
    const units = asked.map((unit) => ({ ...unit, orders: this.#ordersFor(unit, options, measuring) }));
    const answers = await ask(
      units.flatMap(({ question, orders }) => orders.map((order) => ({ question, order }))),
    );
    let from = 0;
    const byUnit = units.map((unit) => {
      const found = answers.slice(from, from + unit.orders.length);
      from += unit.orders.length;
      return { unit, found };
    });
    // Before any use: the first question with so many options measures for the others.
    for (const { unit, found } of byUnit) if (unit.orders.length > 1) this.#measure(unit, found, options);
    return byUnit.map(({ unit, found }) => this.#combined(unit, found, options));
  }

  /** The orders in which to show a unit's options. */
  #ordersFor(
    { question, options }: Pick<Unit, 'question' | 'options'>,
    { mode, model, canReorder }: DebiasOptions,
    measuring: Set<number>,
  ): readonly (readonly number[])[] {
    const { length } = options;
    if (mode === 'off' || canReorder?.(question) === false) return [options];
    if (mode === 'full' || length <= rotatedMax) return rotations(options);
    const prior = this.#priorOf(model, length);
    const isDue = prior.probabilities === undefined || prior.uses % remeasureEvery === 0;
    prior.uses += 1;
    if (isDue && !measuring.has(length)) {
      measuring.add(length);
      return rotations(options);
    }
    const { singles } = prior;
    prior.singles += 1;
    // One further after each round: groups of one question, asked in the same sequence each time, get every start, too.
    return [startingAt(options, singles + Math.floor(singles / length))];
  }

  #priorOf(model: string, options: number): Prior {
    const key = `${options} ${model}`;
    let prior = this.#priors.get(key);
    if (prior === undefined) {
      prior = { probabilities: undefined, measurements: 0, uses: 0, singles: 0 };
      this.#priors.set(key, prior);
    }
    return prior;
  }

  /** Learns the preference for positions: over all rotations, each option was in each position once. */
  #measure(unit: Unit, answers: readonly OrderedAnswer[], { model }: DebiasOptions): void {
    const known = answers.flatMap((answer) => ('refused' in answer ? [] : [answer.probabilities]));
    if (known.length < unit.orders.length) return;
    const measured = geometricMean(known);
    const prior = this.#priorOf(model, unit.options.length);
    const weight = Math.min(prior.measurements, measurementsMax - 1);
    const before = prior.probabilities;
    const all = before ? [...Array<number[]>(weight).fill(before), measured] : [measured];
    prior.probabilities = geometricMean(all);
    prior.measurements = weight + 1;
  }

  #combined(
    { question, options, orders }: Unit,
    answers: readonly OrderedAnswer[],
    { mode, model, canReorder }: DebiasOptions,
  ): UnitAnswer | undefined {
    const known = answers.flatMap((answer) => ('refused' in answer ? [] : [answer]));
    if (known.length < orders.length) return undefined;
    const masses = known.flatMap(({ mass }) => mass ?? []);
    const diagnostics: Diagnostics = {
      ...(masses.length > 0 && { mass: masses.reduce((sum, mass) => sum + mass, 0) / masses.length }),
      permutations: orders.length,
      ...(known.some(({ truncated }) => truncated) && { truncated: true }),
    };
    const byOption = known.map(({ probabilities }, at) =>
      options.map((option) => probabilities[orders[at]?.indexOf(option) ?? 0] ?? 0),
    );
    if (orders.length > 1) return { probabilities: geometricMean(byOption), diagnostics };
    const [once = []] = byOption;
    const isAsIs = mode === 'off' || canReorder?.(question) === false;
    const [order = []] = orders;
    const prior = isAsIs ? undefined : this.#priorOf(model, options.length).probabilities;
    if (prior === undefined) return { probabilities: normalised(once), diagnostics };
    const priorByOption = options.map((option) => prior[order.indexOf(option)] ?? 0);
    return { probabilities: divided(once, priorByOption), diagnostics };
  }
}

/** Every rotation, so that each option is in each position once. */
function rotations(options: readonly number[]): number[][] {
  return options.map((_, start) => startingAt(options, start));
}

/** The items from one of them on, and then those before it. */
export function startingAt<T>(items: readonly T[], start: number): T[] {
  const first = start % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

/** Groups of nearly equal size, of at most `most` indexes. */
export function groupsOf(count: number, most: number): number[][] {
  const groups = Math.ceil(count / most);
  const indexes = Array.from({ length: count }, (_, index) => index);
  return Array.from({ length: groups }, (_, group) =>
    indexes.slice(Math.floor((group * count) / groups), Math.floor(((group + 1) * count) / groups)),
  );
}

/** Scales each group so that its winner has the weight it got among the winners (Luce's choice axiom). */
function joined(
  groups: readonly (readonly number[])[],
  answers: readonly UnitAnswer[],
  winners: readonly number[],
  count: number,
): number[] {
  const weights = Array<number>(count).fill(0);
  groups.forEach((group, at) => {
    const probabilities = answers[at]?.probabilities ?? [];
    const top = Math.max(...probabilities);
    group.forEach((option, index) => {
      weights[option] = ((probabilities[index] ?? 0) / top) * (winners[at] ?? 0);
    });
  });
  return normalised(weights);
}

/** One diagnostic for several calls: the lowest mass, the fewest orders. */
function worst(all: readonly Diagnostics[]): Diagnostics {
  const masses = all.flatMap(({ mass }) => mass ?? []);
  return {
    ...(masses.length > 0 && { mass: Math.min(...masses) }),
    permutations: Math.min(...all.map(({ permutations = 1 }) => permutations)),
    ...(all.some(({ truncated }) => truncated) && { truncated: true }),
  };
}
