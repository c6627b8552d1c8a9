import type { World } from '../../base/world.ts';
import type { AskNative, NativeAnswer, Option, Question } from '../../features/decisions/index.ts';
import { UpstreamFailure } from '../../features/upstreams/upstream.ts';
import { behaviourOf, limitedRetryAfterSeconds, simulatorId, slowPace } from './models.ts';

/** Softens small differences of overlap. */
const wordsPrior = 0.5;
/** Characters per token, for counts. */
const charactersPerToken = 4;

/**
 * Decisions of the simulator: an option is as probable as it shares words with the evidence. The same request gets the
 * same answer. `sim/refuses` declines, `sim/limited` is rate limited, `sim/flaky` fails every other call, `sim/broken` and
 * `sim/filtered` send one answer too few.
 */
export function simulatedDecisions({ sleep }: Pick<World, 'sleep'>): AskNative {
  let flakyCalls = 0;
  return async ({ model, request }, signal): Promise<NativeAnswer | undefined> => {
    const id = simulatorId(model);
    const behaviour = behaviourOf(id);
    if (behaviour === 'limited') {
      const details = { status: 429, retryAfterSeconds: limitedRetryAfterSeconds };
      throw new UpstreamFailure('rate-limited', 'the simulator is rate limited', details);
    }
    if (behaviour === 'flaky') {
      flakyCalls += 1;
      if (flakyCalls % 2 === 1) throw new UpstreamFailure('server', 'the simulator failed', { status: 503 });
    }
    if (behaviour === 'slow') await sleep(slowPace.latencyMs, signal);
    const { input, questions } = request;
    const words = wordsOf(input);
    const answers = questions.map((question) =>
      behaviour === 'refuses' ? ('refused' as const) : overlaps(words, question),
    );
    const isCut = behaviour === 'broken' || behaviour === 'filtered';
    const characters = input.length + questions.reduce((sum, each) => sum + textOf(each).length, 0);
    return {
      model: id,
      answers: isCut ? answers.slice(1) : answers,
      tokens: {
        input: Math.ceil(characters / charactersPerToken),
        cachedInput: 0,
        cacheWrite: 0,
        output: 0,
        reasoning: 0,
      },
    };
  };
}

/** Of a predicate, the words of the question stand for yes. */
function overlaps(evidence: ReadonlySet<string>, question: Question): number[] {
  const { type, instructions, options } = question;
  const weights =
    type === 'predicate'
      ? [share(evidence, wordsOf(instructions)) + wordsPrior / 2, wordsPrior]
      : options.map((option) => share(evidence, wordsOf(described(option))) + wordsPrior / options.length);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}

/** The share of the words that are in the evidence. */
function share(evidence: ReadonlySet<string>, words: ReadonlySet<string>): number {
  if (words.size === 0) return 0;
  return [...words].filter((word) => evidence.has(word)).length / words.size;
}

const described = ({ label, description = '' }: Option) => `${label} ${description}`;

function textOf({ instructions, options }: Question): string {
  return [instructions, ...options.map(described)].join(' ');
}

/** Small words say nothing about a text. */
const smallWords = new Set(
  'a an and are as at be by for from has have in is it its of on or that the this to was were will with'.split(
    ' ',
  ),
);

/** Lower-case words, without a plural's s. */
function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(
    words.filter((word) => !smallWords.has(word)).map((word) => word.replace(/(?<=.{3})s$/, '')),
  );
}
