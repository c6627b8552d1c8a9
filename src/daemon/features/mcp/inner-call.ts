import type { Endpoint, Input, Result } from '../../../shared/contract/endpoint.ts';
import { type Caller, RelayReply, StreamReply } from '../../handler.ts';

/** Who sent the message that a call is made for. */
export interface Sender {
  caller: Caller;
  requestId: string;
  signal: AbortSignal;
  remoteAddress?: string | undefined;
}

/** Calls other endpoints of this daemon as their callers do, without a connection. */
export interface InnerCalls {
  /** Whether the credential may call it at all; roles are found out by calling. */
  mayCall(endpoint: Endpoint, caller: Caller): boolean;
  /** Checks access and input, and resolves to what the handler gives. Fails with an ApiError. */
  call(endpoint: Endpoint, input: object, sender: Sender): Promise<unknown>;
}

/** What a tool has of this daemon: its endpoints, as the sender may call them. */
export interface Ask {
  mayCall(endpoint: Endpoint): boolean;
  /** The whole answer. */
  whole<E extends Endpoint>(endpoint: E, input: Partial<Input<E>>): Promise<Result<E>>;
  /** The chunks of a stream. */
  chunks<E extends Endpoint>(endpoint: E, input: Partial<Input<E>>): Promise<AsyncIterable<string>>;
}

export function askFor(calls: InnerCalls, sender: Sender): Ask {
  return {
    mayCall: (endpoint) => calls.mayCall(endpoint, sender.caller),
    // Not generic: the compiler would infer the type of every schema there is to compare it with its declaration.
    // biome-ignore lint/suspicious/noExplicitAny: the caller's endpoint decides the type of the answer.
    async whole(endpoint: Endpoint, input: object): Promise<any> {
      const answer = await calls.call(endpoint, input, sender);
      if (!(answer instanceof RelayReply)) return answer;
      const { body } = answer;
      return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
    },
    async chunks(endpoint: Endpoint, input: object) {
      const answer = await calls.call(endpoint, input, sender);
      if (!(answer instanceof StreamReply)) throw new Error(`${endpoint.id} gave no stream`);
      return answer.chunks;
    },
  };
}
