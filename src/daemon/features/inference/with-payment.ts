import { ApiError } from '../../../shared/errors.ts';
import { dollarText } from '../../../shared/money/money.ts';
import type { IdempotencySlot } from '../idempotency/index.ts';
import {
  carriesPayment,
  type PaidCalls,
  type PayableCall,
  type PayableRequest,
} from '../payment-required/index.ts';

/** An answer that can carry a receipt. */
export interface Receivable<R> {
  withHeaders(headers: Record<string, string>): R;
}

/** A call as its handler gets it. */
export type Payable = Pick<PayableCall, 'caller' | 'requestId'> & PayableRequest;

/** Accepts the payment that a call carries, and makes the call. Costs nothing for one without. */
export function withPayment<R extends Receivable<R>>(
  paidCalls: Pick<PaidCalls, 'accept'> | undefined,
  {
    endpoint,
    call,
    slot,
  }: { call: Payable; slot?: IdempotencySlot | undefined } & Pick<PayableCall, 'endpoint'>,
  respond: (request: PayableRequest) => Promise<R>,
): Promise<R> {
  if (!paidCalls || !carriesPayment(call.headers)) return respond(call);
  const { caller, requestId } = call;
  return pay(paidCalls, { caller, requestId, endpoint, request: call, slot }, respond);
}

/**
 * Accepts the payment of a call and makes the call. If the payment is refused, the call fails once its price is known, as
 * the error offers another invoice.
 */
export async function pay<R extends Receivable<R>>(
  paidCalls: Pick<PaidCalls, 'accept'>,
  { slot, ...call }: PayableCall & { slot?: IdempotencySlot | undefined },
  respond: (request: PayableRequest) => Promise<R>,
): Promise<R> {
  const { request } = call;
  const accepted = await paidCalls.accept(call);
  if ('refused' in accepted) {
    await respond({ ...requestOf(request), refused: accepted.refused });
    throw new ApiError('payment_refused', { extra: { reason: accepted.refused } });
  }
  slot?.addHeaders(accepted.headers);
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
    message: `${message} Your payment of ${dollarText(usd)} is kept as credit.`,
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
