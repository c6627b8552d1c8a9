import { ApiError } from '../../../shared/errors.ts';
import type { SlotLimit } from './slot-table.ts';

const retryAfterSecondsMax = 60;

/** No more calls may wait for a slot. `retryAfterMs` is when one is likely to be free. */
export function queueFull(limit: SlotLimit, retryAfterMs: number): ApiError {
  const waiting =
    limit.queueMs === 0 ? '' : `, and ${counted(limit.queueMax)} ${limit.queueMax === 1 ? 'waits' : 'wait'}`;
  return rejection(`${runs(limit)}${waiting}.`, retryAfterMs);
}

/** The call has waited for as long as the limit allows. */
export function waitedTooLong(limit: SlotLimit, retryAfterMs: number): ApiError {
  return rejection(
    `${runs(limit)}, and this call has waited for one of them to end for ${seconds(limit.queueMs)}.`,
    retryAfterMs,
  );
}

function rejection(reason: string, retryAfterMs: number): ApiError {
  const wait = Math.ceil(retryAfterMs / 1000);
  const retryAfterSeconds = Math.min(Math.max(wait, 1), retryAfterSecondsMax);
  return new ApiError('rate_limited', {
    param: 'limits.concurrency',
    message: `${reason} Try again in ${seconds(retryAfterSeconds * 1000)}.`,
    retryAfterSeconds,
  });
}

function runs({ kind, name, calls }: SlotLimit): string {
  return `${kind === 'key' ? 'This key' : name} runs ${counted(calls)} at a time`;
}

function counted(calls: number): string {
  return `${calls} ${calls === 1 ? 'call' : 'calls'}`;
}

function seconds(ms: number): string {
  const count = Math.round(ms / 100) / 10;
  return `${count} ${count === 1 ? 'second' : 'seconds'}`;
}
