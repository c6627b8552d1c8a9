import type { ServerCall } from '../server-call.ts';

/** Notes which page may read the answer. Only origins that were named get here; without any, nothing is ever noted. */
export function noteOrigin(call: ServerCall, origins: ReadonlySet<string>): void {
  const { origin } = call.headers;
  if (origin !== undefined && origins.has(origin)) call.corsOrigin = origin;
}

/** Whether a browser asks ahead for a page of an allowed origin. */
export function isPreflight(call: ServerCall): boolean {
  return (
    call.corsOrigin !== undefined &&
    call.request.method === 'OPTIONS' &&
    call.headers['access-control-request-method'] !== undefined
  );
}

export const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, idempotency-key, last-event-id, x-decision-order, x-workspace-id',
  'access-control-max-age': '600',
};
