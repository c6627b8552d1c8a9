import { failures, isErrorCode } from '../../shared/errors.ts';
import type { UsageRecord } from '../features/metering/index.ts';
import { askedModelOf } from '../features/routing/index.ts';
import {
  type Attributes,
  answerAttributes,
  attemptAttributes,
  operationOf,
  requestAttributes,
  serverAttributes,
} from './attributes.ts';

/** A part of a call, as spans report it. Times are milliseconds since 1970. */
export interface CallSpan {
  name: string;
  kind: 'server' | 'client';
  startedAt: number;
  endedAt: number;
  attributes: Attributes;
  isError: boolean;
}

/** A call: a span for the request, and one for each attempt within it. */
export interface CallSpans {
  request: CallSpan;
  attempts: CallSpan[];
}

/** The spans of a finished call. `settlementMs`: from the end of the answer until its cost was on disk. */
export function finishedCallSpans(usage: UsageRecord, settlementMs: number): CallSpans {
  const endedAt = usage.completedAt;
  const startedAt = endedAt - usage.totalMs;
  const isFailed = usage.status === 'failed';
  return {
    request: {
      name: `POST ${usage.endpoint}`,
      kind: 'server',
      startedAt,
      endedAt: endedAt + settlementMs,
      attributes: serverAttributes(usage, settlementMs),
      isError: isFailed,
    },
    attempts: usage.attempts.map((attempt, index) => {
      const answered = attempt.errorCode === null;
      // Within the request: its duration is in whole milliseconds, the beginnings of attempts are not.
      const begunAt = Math.min(startedAt + (usage.trace?.startedMs[index] ?? 0), endedAt);
      return {
        name: `${operationOf(usage)} ${askedModelOf(attempt)}`,
        kind: 'client' as const,
        startedAt: begunAt,
        endedAt: answered ? endedAt : Math.min(begunAt + attempt.ms, endedAt),
        attributes: { ...attemptAttributes(usage, attempt), ...(answered && answerAttributes(usage)) },
        isError: !answered || isFailed,
      };
    }),
  };
}

/** A call that was rejected before any provider was asked. */
export interface RejectedCallFacts {
  endpoint: string;
  requestId: string;
  code: string;
  /** When it was rejected, and how long after it arrived. */
  at: number;
  ms: number;
}

export function rejectedCallSpan({ endpoint, requestId, code, at, ms }: RejectedCallFacts): CallSpan {
  return {
    name: `POST ${endpoint}`,
    kind: 'server',
    startedAt: at - ms,
    endedAt: at,
    attributes: {
      ...requestAttributes(endpoint, requestId),
      'error.type': code,
      ...(isErrorCode(code) && { 'http.response.status_code': failures[code].status }),
    },
    // Client errors are not server errors.
    isError: code === 'server_error' || code === 'unavailable',
  };
}
