import type { ServerCall } from '../server-call.ts';

/** Records which origin may read the response. Only configured origins get here. */
export function noteOrigin(call: ServerCall, origins: ReadonlySet<string>): void {
  const { origin } = call.headers;
  if (origin !== undefined && origins.has(origin)) call.corsOrigin = origin;
}

/** Whether this is a preflight request from an allowed origin. */
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
    'anthropic-beta, anthropic-dangerous-direct-browser-access, anthropic-version, authorization, content-type, ' +
    'idempotency-key, last-event-id, payment-authorization, payment-signature, x-api-key, x-decision-order, x-workspace-id',
  'access-control-max-age': '600',
};
