import type { Endpoint } from '../../shared/contract/endpoint.ts';
import type { Caller } from './handler.ts';

/** The sender of the message on whose behalf a call is made. */
export interface Sender {
  caller: Caller;
  requestId: string;
  signal: AbortSignal;
  remoteAddress?: string | undefined;
}

/** Calls other endpoints of this daemon without a connection. */
export interface InnerCalls {
  /** Whether the credential may call the endpoint; roles are only checked by the call. */
  mayCall(endpoint: Endpoint, caller: Caller): boolean;
  /** Checks access and input, and returns the handler's result. Fails with an ApiError. */
  call(endpoint: Endpoint, input: object, sender: Sender): Promise<unknown>;
}
