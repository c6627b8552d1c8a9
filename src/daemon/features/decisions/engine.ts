import type { Tokens } from '../../../shared/money/money.ts';
import type { Option, Question } from './question.ts';

/** The models that an engine of the host can serve: a large one and a small, fast one. */
export type EngineName = 'engine' | 'engine-flash';

/** A question whose options are in the order in which the model is to see them. */
export interface EngineQuestion extends Pick<Question, 'type' | 'instructions'> {
  options: readonly Option[];
}

/** Asked questions share the input, so that an engine can read it once and answer them in parallel. */
export interface EngineRequest {
  input: string;
  questions: readonly EngineQuestion[];
}

export type EngineAnswer =
  | {
      /** One per option, in the order of the request, finite and adding up to 1. */
      probabilities: readonly number[];
      /** The probability of all options together before scaling; absent where the engine does not know it. */
      mass?: number;
    }
  | { refused: true };

export type EngineStatus =
  | {
      available: true;
      /** The model: `qwen3-4b-q4@sha256:…`. */
      identity: string;
      method: 'native' | 'token_probabilities';
    }
  /** `reason` is a sentence that names the setting or command to use. */
  | { available: false; reason: string };

/**
 * A decision model of the host: an embedded one in a process of its own, or a System One server. Positions of options are
 * evened out by the caller, which asks the same question in several orders if `method` is `token_probabilities`.
 */
export interface DecisionEngine {
  status(): EngineStatus;
  /**
   * Answers every question, in order. Rejects with an `UpstreamFailure` if it cannot: of kind `caller` with the code
   * `context_length_exceeded` for an input that is too long, `server` if the process died; with the signal's reason when
   * it is aborted.
   */
  ask(
    request: EngineRequest,
    signal: AbortSignal,
  ): Promise<{ answers: readonly EngineAnswer[]; tokens: Tokens }>;
}

/** The engines of the host, which may change while the daemon runs. */
export type Engines = Readonly<Record<EngineName, DecisionEngine>>;
