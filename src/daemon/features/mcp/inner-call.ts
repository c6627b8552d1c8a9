import type { Endpoint, Input, Result } from '../../../shared/contract/endpoint.ts';
import { RelayReply, StreamReply } from '../../base/handler.ts';
import type { InnerCalls, Sender } from '../../base/inner-calls.ts';

/** The daemon's endpoints for a tool, with the sender's permissions. */
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
