import { ApiError } from '../../../shared/errors.ts';
import type { Caller } from '../../handler.ts';

/** One server-sent event; without an id where it is not resumed from. */
export function rowEvent(event: string, data: object, id?: number): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** `Last-Event-ID` as the id of a row; undefined when it was not sent. Fails with `invalid_request`. */
export function resumedAfter(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === '') return undefined;
  if (typeof header !== 'string' || !/^\d{1,15}$/.test(header)) {
    const message = 'Last-Event-ID is not an id of this stream.';
    throw new ApiError('invalid_request', { param: 'last-event-id', message });
  }
  return Number(header);
}

/** When a caller's credential ends by itself; null: never. What ends it before aborts its signal. */
export function endOf(caller: Caller): number | null {
  return caller.kind === 'token' ? caller.expiresAt : null;
}
