import { noCost } from '../../../shared/money/money.ts';
import { noTokens } from '../calls/index.ts';
import type { Debiaser, OrderedAnswer } from './debias.ts';
import { addTokens, type DecisionSource, SourceFailure } from './decision-source.ts';
import { isDistribution, normalised } from './distribution.ts';
import type { DecisionEngine, EngineAnswer } from './engine.ts';
import { batchesOf, nativeDebias } from './native-answers.ts';
import type { Option } from './question.ts';
import { lettersMax } from './token-probabilities.ts';

/** Engines compute in single precision. */
const sumTolerance = 1e-3;

/** An engine of the host as a source. Where positions can influence it, it is asked in several orders at once. */
export function engineSource(name: string, engine: DecisionEngine, debiaser: Debiaser): DecisionSource {
  return {
    name,
    benchKey: name,
    async decide({ input, questions }, { debias }, signal) {
      const status = engine.status();
      if (!status.available) throw new SourceFailure('unavailable', status.reason);
      const { identity, method } = status;
      let tokens = noTokens;
      const answers = await debiaser.answer(
        questions,
        method === 'native'
          ? nativeDebias(debias, identity)
          : { mode: debias, model: identity, optionsMax: lettersMax },
        async (asked) => {
          const ordered = asked.map(({ question: { type, instructions, options }, order }) => ({
            type,
            instructions,
            options: order.map((index) => options[index] as Option),
          }));
          const answers: OrderedAnswer[] = [];
          for (const batch of batchesOf(input, ordered)) {
            const answer = await engine.ask({ input, questions: batch }, signal);
            tokens = addTokens(tokens, answer.tokens);
            answers.push(...batch.map(({ options }, at) => verified(answer.answers[at], options.length)));
          }
          return answers;
        },
      );
      return { model: identity, method, answers, tokens, cost: noCost, ownKey: false };
    },
  };
}

function verified(answer: EngineAnswer | undefined, options: number): OrderedAnswer {
  if (answer && 'refused' in answer) return answer;
  if (answer === undefined || !isDistribution(answer.probabilities, options, sumTolerance)) {
    throw new SourceFailure('wrong_shape', 'the answers of the engine do not fit the questions');
  }
  return { probabilities: normalised(answer.probabilities), mass: answer.mass };
}
