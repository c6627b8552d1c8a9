import type { DecisionService } from '../../../shared/contract/decisions.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Cost, Tokens } from '../../../shared/money/money.ts';
import { type AttemptsCapture, UpstreamFailure } from '../upstreams/upstream.ts';
import type { Debias, DecisionRequest, Method, QuestionAnswer } from './question.ts';

/** How to answer, as the caller chose. */
export interface AskOptions {
  debias: Debias;
  /** Answers to average where a model has no token probabilities; by default as the number of options needs. */
  samples?: number;
  /** Set for a decision whose content is kept. */
  capture?: AttemptsCapture | undefined;
}

/** A source that was asked and did not answer. */
export type SourceAttempt = DecisionService['attempts'][number];

export interface SourceAnswer {
  /** The model that answered, as `model` of the answer. */
  model: string;
  method: Method;
  /** One per question, in order. */
  answers: readonly QuestionAnswer[];
  /** Whether they are at fitted temperatures already, as another gateway's may be; not by default. */
  calibrated?: boolean;
  tokens: Tokens;
  /** What it costs the host or the workspace at the provider; null if the price is unknown. */
  cost: Cost | null;
  /** Whether the workspace's own provider key pays. */
  ownKey: boolean;
  /** Which of the source's members answered, as `service.answered_by`; the source itself by default. */
  answeredBy?: string;
  /** Members that failed before. */
  failedAttempts?: readonly SourceAttempt[];
}

/** Something that answers decisions: an engine of the host, a peer, a model at a provider. */
export interface DecisionSource {
  /** As `service.answered_by`: `engine`, `peer:attic`, `openai`. */
  name: string;
  /** Identifies the source when it is skipped after a failure; sources with the same key are skipped together. */
  benchKey: string;
  /**
   * Rejects with a `SourceFailure` or an `UpstreamFailure` if another source may answer, with an `ApiError` if the request
   * itself is at fault, and with the signal's reason when it is aborted.
   */
  decide(request: DecisionRequest, options: AskOptions, signal: AbortSignal): Promise<SourceAnswer>;
}

/** Why a source did not answer, as an identifier for `service.attempts`. */
export class SourceFailure extends Error {
  readonly outcome: string;
  /** How long to skip the source. */
  readonly benchMs: number | undefined;
  /** Of a source with several members: which failed, in place of the source itself. */
  readonly attempts: readonly SourceAttempt[] | undefined;

  constructor(
    outcome: string,
    message: string,
    options: { benchMs?: number; attempts?: readonly SourceAttempt[]; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'SourceFailure';
    this.outcome = outcome;
    this.benchMs = options.benchMs;
    this.attempts = options.attempts;
  }
}

const accountBenchMs = 5 * 60_000;

const outcomes = {
  caller: 'invalid_request',
  'unknown-model': 'model_not_found',
  authentication: 'authentication',
  forbidden: 'authentication',
  billing: 'billing',
  'rate-limited': 'rate_limited',
  server: 'server_error',
  timeout: 'timeout',
  network: 'unreachable',
  broken: 'wrong_shape',
  empty: 'wrong_shape',
  filtered: 'wrong_shape',
} as const;

/** Converts a provider's failure; a request that is at fault itself becomes an `ApiError`. */
export function sourceFailureOf(failure: UpstreamFailure): SourceFailure | ApiError {
  const { kind, message, details } = failure;
  if (kind === 'caller') return refusedQuestion(failure);
  const isAccount = kind === 'authentication' || kind === 'billing';
  return new SourceFailure(outcomes[kind], message, {
    ...(isAccount && { benchMs: accountBenchMs }),
    ...(kind === 'rate-limited' &&
      details.retryAfterSeconds !== undefined && { benchMs: details.retryAfterSeconds * 1000 }),
    cause: failure,
  });
}

/** The model refuses the request as such: every other source would, too. */
function refusedQuestion({ details, message }: UpstreamFailure): ApiError {
  if (details.code === 'context_length_exceeded' || details.status === 413) {
    return new ApiError('limit_exceeded', {
      param: 'input',
      message: details.publicMessage ?? 'The input is longer than the model can read.',
    });
  }
  return new ApiError('invalid_request', { message: details.publicMessage ?? message });
}

/** Whether an error only means that this source cannot answer. */
export function asSourceFailure(error: unknown): SourceFailure | undefined {
  if (error instanceof SourceFailure) return error;
  if (!(error instanceof UpstreamFailure)) return undefined;
  const failure = sourceFailureOf(error);
  if (failure instanceof ApiError) throw failure;
  return failure;
}

/** The tokens of two calls together, as far as decisions use them. */
export function addTokens(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    cachedInput: a.cachedInput + b.cachedInput,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}
