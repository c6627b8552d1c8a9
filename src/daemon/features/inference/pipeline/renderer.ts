import type { ServiceAnswer } from '../../../../shared/contract/service-member.ts';
import { type ErrorCode, failures } from '../../../../shared/errors.ts';
import type { Tokens } from '../../../../shared/money.ts';
import type { Batch, FinishReason } from '../neutral.ts';

/** Who answers, known from the first event on. */
export interface Answering {
  requestId: string;
  /** The catalog's id of the model. */
  model: string;
  provider: string;
  /** Counted from 1. */
  attempt: number;
}

/** What is known once the call was settled. */
export interface Settled {
  finish: FinishReason;
  tokens: Tokens;
  service: ServiceAnswer;
  completedAt: number;
}

/** What a caller is told of a failure after the answer has started. */
export interface StartedFailure {
  type: string;
  code: string;
  message: string;
  /** What an answer that had not started would have been given. */
  status: number;
}

/** As the routes of model calls name it before an answer has started: a 401 of theirs has a type of its own. */
export function startedType(code: ErrorCode): string {
  return failures[code].status === 401 ? 'unauthorized' : failures[code].type;
}

/** Turns the neutral answer into one client format's stream. Each text is whole server-sent events. */
export interface StreamRenderer {
  head(): string;
  /** Empty when the batch shows nothing yet. Never the closing events: those wait until the call is settled. */
  batch(batch: Batch): string;
  finish(settled: Settled): string;
  fail(failure: StartedFailure, settled: Settled | undefined): string;
}
