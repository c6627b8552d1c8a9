import type { RelayReply } from '../../handler.ts';
import type { Idempotency, OnceCall } from './idempotency.ts';

/**
 * Runs a call with an optional Idempotency-Key once. Its answer contains a secret, so it is sealed where it is stored. Resolves
 * to a reply that is already serialised, as answers are stored in this form.
 */
export function secretOnce(
  idempotency: Pick<Idempotency, 'once'>,
  call: Pick<OnceCall, 'caller' | 'requestId' | 'headers' | 'signal' | 'remoteAddress'> & { body: unknown },
  endpoint: OnceCall['endpoint'],
  produce: () => Promise<RelayReply>,
): Promise<RelayReply> {
  const { caller, requestId, headers, body, signal, remoteAddress } = call;
  const asked: OnceCall = {
    caller,
    requestId,
    headers,
    body,
    signal,
    endpoint,
    isStreamed: false,
    isSecret: true,
    ...(remoteAddress !== undefined && { remoteAddress }),
  };
  return idempotency.once(asked, produce);
}
