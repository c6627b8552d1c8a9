import { ApiError } from '../../../shared/errors.ts';
import type { Caller } from '../../base/handler.ts';

/** One server-sent event; without an id, clients do not resume from it. */
export function rowEvent(event: string, data: object, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Parses `Last-Event-ID` as the id of a row, if present. Fails with `invalid_request`. */
export function resumedAfter(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (typeof header !== 'string' || !/^\d{1,15}$/.test(header)) {
    const message = 'Last-Event-ID is not an id of this stream.';
    throw new ApiError('invalid_request', { param: 'last-event-id', message });
  }
  return Number(header);
}

/** When a caller's credential expires, if ever; revoking it aborts its signal. */
export function expiryOf(caller: Caller): number | null {
  return caller.kind === 'token' ? caller.expiresAt : null;
}
