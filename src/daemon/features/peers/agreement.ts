import { orAborted, whenAborted } from '../../../shared/async/when-aborted.ts';
import { timeLimit, type World } from '../../base/world.ts';
import {
  type DecisionRequest,
  type Question,
  type QuestionAnswer,
  type SourceAnswer,
  topOf,
} from '../decisions/index.ts';
import type { PeerState } from './peer-state.ts';

/** How many comparisons may be queued; further ones are dropped. */
const waitingMax = 100;
/** How long the second answer may take. */
const deadlineMs = 8000;
const randomMax = 2 ** 16;

export interface AgreementDeps {
  /** The share of questions to ask again, from 0 to 1; a reload can change it. */
  settings: { readonly agreementShare: number };
  world: Pick<World, 'randomBytes' | 'sleep'>;
  /** Called with whether the answers to each question were the same. */
  onCompared: (peer: PeerState, results: readonly boolean[]) => void;
}

/** An answer of a peer, and how to ask another source. */
export interface AnsweredByPeer {
  peer: PeerState;
  request: DecisionRequest;
  answer: Pick<SourceAnswer, 'answers'>;
  /** Rejects if no other source can answer. */
  askAgain: (request: DecisionRequest, signal: AbortSignal) => Promise<Pick<SourceAnswer, 'answers'>>;
}

/**
 * Asks another source a share of the questions that peers answered, and compares the answers. This happens after the caller
 * has got its answer, one decision at a time.
 */
export class AgreementChecks {
  readonly #deps: AgreementDeps;
  readonly #waiting: AnsweredByPeer[] = [];
  #wake = Promise.withResolvers<void>();

  constructor(deps: AgreementDeps) {
    this.#deps = deps;
  }

  /** Picks at random which questions to ask again. */
  sample({ request, answer, ...others }: AnsweredByPeer): void {
    const drawn = request.questions.flatMap((_, at) => (this.#isDrawn() ? [at] : []));
    if (drawn.length === 0 || this.#waiting.length >= waitingMax) return;
    this.#waiting.push({
      ...others,
      request: { ...request, questions: drawn.map((at) => request.questions[at] as Question) },
      answer: { answers: drawn.map((at) => answer.answers[at] as QuestionAnswer) },
    });
    this.#wake.resolve();
  }

  /** Compares what was sampled, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    whenAborted(signal, () => this.#wake.resolve());
    while (!signal.aborted) {
      const next = this.#waiting.shift();
      if (next) {
        await this.#compare(next, signal);
      } else {
        await this.#wake.promise;
        this.#wake = Promise.withResolvers();
      }
    }
  }

  #isDrawn(): boolean {
    const { settings, world } = this.#deps;
    if (settings.agreementShare === 0) return false;
    const [high = 0, low = 0] = world.randomBytes(2);
    return (high * 256 + low) / randomMax < settings.agreementShare;
  }

  async #compare({ peer, request, answer, askAgain }: AnsweredByPeer, signal: AbortSignal): Promise<void> {
    const { world, onCompared } = this.#deps;
    const late = timeLimit(world, deadlineMs, () => new Error('the second answer took too long'));
    try {
      const either = AbortSignal.any([signal, late.signal]);
      const second = await orAborted(askAgain(request, either), either);
      const results = request.questions.map((_, at) => isSame(answer.answers[at], second.answers[at]));
      onCompared(peer, results);
    } catch {
      // Without a second answer there is nothing to compare; why a source failed is recorded where it is asked.
    } finally {
      late.clear();
    }
  }
}

/** Whether two answers prefer the same option, or both declined. */
function isSame(first: QuestionAnswer | undefined, second: QuestionAnswer | undefined): boolean {
  if (!first || !second) return false;
  if ('refused' in first || 'refused' in second) return 'refused' in first && 'refused' in second;
  return topOf(first.probabilities) === topOf(second.probabilities);
}
