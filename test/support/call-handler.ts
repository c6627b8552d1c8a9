import { Check, Errors } from 'typebox/value';
import {
  type Call,
  type Caller,
  type Handler,
  RelayReply,
  StreamReply,
} from '../../src/daemon/base/handler.ts';
import type { Endpoint, Result } from '../../src/shared/contract/endpoint.ts';

type Part = 'params' | 'query' | 'body';

/** A test's call: its caller and the parts of its input. */
export type CallBy<E extends Endpoint> = { caller: Caller } & Partial<
  Pick<Call<E>, Part | 'headers' | 'signal'>
>;

/** Calls the handler of an endpoint as the server would; the answer must match the contract. */
export async function callHandler<E extends Endpoint>(
  handlers: readonly Handler[],
  endpoint: E,
  call: CallBy<E>,
): Promise<Result<E>> {
  const reply = await replyOf(handlers, endpoint, call);
  const result = reply instanceof RelayReply ? JSON.parse(String(reply.body)) : reply;
  if (!Check(endpoint.result, result)) {
    const faults = Errors(endpoint.result, result).map((fault) => `${fault.instancePath} ${fault.message}`);
    throw new Error(`not what ${endpoint.id} promises: ${faults.join('; ')}`);
  }
  return result as Result<E>;
}

/** The same for an answer whose bytes or headers matter. */
export async function replyOf<E extends Endpoint>(
  handlers: readonly Handler[],
  endpoint: E,
  call: CallBy<E>,
): Promise<unknown> {
  const handler = handlers.find((candidate) => candidate.endpoint === endpoint);
  if (!handler) throw new Error(`no handler for ${endpoint.id}`);
  return await handler.handle({
    requestId: 'req_test',
    params: {},
    query: {},
    headers: {},
    signal: new AbortController().signal,
    ...call,
  });
}

/** The chunks of a streamed answer. */
export async function streamOf<E extends Endpoint>(
  handlers: readonly Handler[],
  endpoint: E,
  call: CallBy<E>,
): Promise<AsyncIterator<string>> {
  const reply = await replyOf(handlers, endpoint, call);
  if (!(reply instanceof StreamReply)) throw new Error(`${endpoint.id} gave no stream`);
  return reply.chunks[Symbol.asyncIterator]();
}
