import type { EventView } from '../shared/contract/events.ts';
import type { TraceView } from '../shared/contract/traces.ts';

/** A request as a list of running and finished ones shows it. */
export interface CallRow {
  id: string;
  /** Milliseconds since 1970: when it arrived, or when it was first seen. */
  at: number;
  /** `running`, or the final status. */
  status: string;
  errorCode: string | null;
  model: string;
  provider: string | null;
  key: string | null;
  endpoint: string;
  inputTokens: number;
  outputTokens: number;
  costUsd: string | null;
  ttftMs: number | null;
  totalMs: number | null;
  /** Why it was rejected or failed, and how many similar requests were rejected before it and have no row. */
  reason: string | null;
  more: number;
  /** Of an unknown caller. */
  address: string | null;
  /** What else is known of one that has ended; events do not have it. */
  trace?: TraceView;
}

/** Whether an event is the last one of a request. */
export function isEndOfRequest(type: string): boolean {
  return /^request\.(completed|failed|rejected)$/.test(type);
}

interface RowContext {
  /** The same request as it was known. */
  before: CallRow | undefined;
  /** The time of the event, in milliseconds since 1970. */
  at: number;
  isEnd: boolean;
}

/** A request as it is after one of its events. */
export function rowOfEvent(id: string, data: EventView['data'], { before, at, isEnd }: RowContext): CallRow {
  const text = (value: unknown, fallback: string) => (typeof value === 'string' ? value : fallback);
  const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
  const number = (value: unknown) => (typeof value === 'number' ? value : null);
  const totalMs = isEnd ? number(data.total_ms) : null;
  return {
    id,
    at: before?.at ?? at - (totalMs ?? 0),
    status: isEnd ? text(data.status, 'unknown') : 'running',
    errorCode: textOrNull(data.error_code),
    model: text(data.model, before?.model ?? ''),
    provider: textOrNull(data.provider) ?? before?.provider ?? null,
    key: textOrNull(data.key) ?? before?.key ?? null,
    endpoint: text(data.endpoint, before?.endpoint ?? ''),
    inputTokens: number(data.input_tokens) ?? before?.inputTokens ?? 0,
    outputTokens: number(data.output_tokens) ?? before?.outputTokens ?? 0,
    costUsd: data.cost_usd === undefined ? (before?.costUsd ?? null) : textOrNull(data.cost_usd),
    ttftMs: number(data.ttft_ms) ?? before?.ttftMs ?? null,
    totalMs,
    reason: textOrNull(data.message),
    more: number(data.more) ?? 0,
    address: textOrNull(data.address),
  };
}

/** What the provider of the last attempt said, if the request failed. */
function failureOf({ status, attempts }: TraceView): string | null {
  return status === 'failed' ? (attempts.findLast(({ message }) => message)?.message ?? null) : null;
}

/** A finished request as a row. */
export function rowOfTrace(trace: TraceView): CallRow {
  const { request_id: id, status, error_code: errorCode, model, provider, key, endpoint } = trace;
  return {
    id,
    at: Date.parse(trace.created_at),
    status,
    errorCode,
    model: model ?? '',
    provider,
    key,
    endpoint,
    inputTokens: trace.tokens.input,
    outputTokens: trace.tokens.output,
    costUsd: trace.cost?.total_usd ?? null,
    ttftMs: trace.timings.first_token_ms,
    totalMs: trace.timings.total_ms,
    reason: trace.rejection?.message ?? failureOf(trace),
    more: trace.rejection?.more ?? 0,
    address: trace.rejection?.address ?? null,
    trace,
  };
}
