import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Call } from '../../handler.ts';
import {
  carriesPayment,
  type PaidCalls,
  type PayableCall,
  type PayableRequest,
} from '../payment-required/index.ts';

/** An answer that can carry a receipt. */
interface Receivable<R> {
  withHeaders(headers: Record<string, string>): R;
}

type Payable = Pick<Call<Endpoint>, 'caller' | 'requestId' | (keyof PayableRequest & keyof Call<Endpoint>)>;

/** Answers calls of an endpoint, and accepts the payments that they carry. Costs nothing for those without one. */
export function withPayments<C extends Payable, R extends Receivable<R>>(
  paidCalls: Pick<PaidCalls, 'accept'> | undefined,
  endpoint: PayableCall['endpoint'],
  respond: (call: C, request: PayableRequest) => Promise<R>,
): (call: C) => Promise<R> {
  if (!paidCalls) return (call) => respond(call, call);
  return (call) => {
    if (!carriesPayment(call.headers)) return respond(call, call);
    const { caller, requestId } = call;
    return pay(paidCalls, { caller, requestId, endpoint, request: call }, (request) =>
      respond(call, request),
    );
  };
}

/**
 * Accepts the payment of a call and makes the call. If the payment is refused, the call fails once its price is known, as
 * the error offers another invoice.
 */
export async function pay<R extends Receivable<R>>(
  paidCalls: Pick<PaidCalls, 'accept'>,
  call: PayableCall,
  respond: (request: PayableRequest) => Promise<R>,
): Promise<R> {
  const { request } = call;
  const accepted = await paidCalls.accept(call);
  if ('refused' in accepted) {
    await respond({ ...requestOf(request), refused: accepted.refused });
    throw new ApiError('payment_refused', { extra: { reason: accepted.refused } });
  }
  const reply = await respond(request).catch((error: unknown) => {
    throw error instanceof ApiError ? keptAsCredit(error, accepted.creditedUsd) : error;
  });
  return reply.withHeaders(accepted.headers);
}

/** The error of a call that failed after its payment. */
function keptAsCredit(error: ApiError, usd: string): ApiError {
  const { code, message, param, retryAfterSeconds, reportedCode, type, headers, extra } = error;
  return new ApiError(code, {
    param,
    reportedCode,
    type,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(headers && { headers }),
    message: `${message} Your payment of $${usd} is kept as credit.`,
    extra: { ...extra, credited_usd: usd },
    cause: error.cause,
  });
}

/** The members of a request, which may be getters. */
function requestOf({ headers, target, rawBody, remoteAddress, isMessage }: PayableRequest): PayableRequest {
  return {
    headers,
    ...(target !== undefined && { target }),
    ...(rawBody !== undefined && { rawBody }),
    ...(remoteAddress !== undefined && { remoteAddress }),
    ...(isMessage && { isMessage }),
  };
}
