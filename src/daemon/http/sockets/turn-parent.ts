import type { IncomingHttpHeaders } from 'node:http';

/**
 * The span that a message belongs to, in the form of the header `traceparent`. A socket has one handshake and many turns:
 * a client that tells the span of each does so among the `client_metadata` of the message. Source: Codex.
 */
export function turnParent(message: unknown, handshake: IncomingHttpHeaders): string | string[] | undefined {
  const { client_metadata: metadata } = message as { client_metadata?: unknown };
  const told =
    typeof metadata === 'object' && metadata !== null && 'ws_request_header_traceparent' in metadata
      ? metadata.ws_request_header_traceparent
      : undefined;
  return typeof told === 'string' ? told : handshake.traceparent;
}
