import type { ServiceAnswer } from '../../../shared/contract/service-member.ts';
import { type ErrorCode, failures } from '../../../shared/errors.ts';
import type { Tokens } from '../../../shared/money/money.ts';
import type { Batch, FinishReason } from '../upstreams/neutral.ts';

/** The route that answers, known from the first event on. */
export interface Answering {
  requestId: string;
  /** The catalog's id of the model. */
  model: string;
  provider: string;
  /** Counted from 1. */
  attempt: number;
}

/** The result of a settled call. */
export interface Settled {
  finish: FinishReason;
  tokens: Tokens;
  service: ServiceAnswer;
  completedAt: number;
}

/** A failure after the answer has started. */
export interface StartedFailure {
  type: string;
  code: string;
  message: string;
  /** The HTTP status that the failure would have had before the answer started. */
  status: number;
}

/** The error type of model endpoints, where a 401 has a type of its own. */
export function errorType(code: ErrorCode): string {
  return failures[code].status === 401 ? 'unauthorized' : failures[code].type;
}

/** Renders the neutral answer as one client format's stream. Each text consists of whole server-sent events. */
export interface StreamRenderer {
  head(): string;
  /** Empty when the batch has nothing to show. Never includes the closing events, which wait for the settlement. */
  batch(batch: Batch): string;
  finish(settled: Settled): string;
  fail(failure: StartedFailure, settled: Settled | undefined): string;
}
