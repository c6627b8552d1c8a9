import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { ApiError } from '../../shared/errors.ts';
import type { Caller } from './handler.ts';

/** A request, or a message on a socket, that got an error, or nothing because its client left before the answer began. */
export interface FailedRequest {
  requestId: string;
  /** Undefined if no endpoint matches, and for requests rejected before it was known. */
  endpoint: Endpoint | undefined;
  method: string;
  url: string;
  caller: Caller;
  remoteAddress: string;
  headers: IncomingHttpHeaders;
  /** The body or message, if it was parsed. */
  body: unknown;
  /** Undefined if the client left. */
  error: ApiError | undefined;
  /** The status of the response; null if the client left. */
  status: number | null;
  durationMs: number;
}
