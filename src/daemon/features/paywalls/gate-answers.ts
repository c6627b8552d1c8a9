import { type ApiError, failures } from '../../../shared/errors.ts';
import { formatChallenge, type PaymentChallenge } from '../../../shared/payments/payment-scheme.ts';
import { inWords } from '../../../shared/text/in-words.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { l402Challenge } from './l402.ts';
import { type PaymentProblem, problemTexts } from './payment-problems.ts';
import type { PaywallRecord } from './store.ts';

/** An answer of the paywall itself. */
export interface GateAnswer {
  kind: 'answer';
  status: number;
  headers: Header[];
  body: string;
}

export type Header = [name: string, value: string];

/** An invoice that a paywall asks to pay. */
export interface PaywallInvoice {
  id: string;
  invoice: string;
  /** In hexadecimal. */
  paymentHash: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

interface Payable {
  paywall: PaywallRecord;
  invoice: PaywallInvoice;
  /** Null if L402 is not offered. */
  token: string | null;
  /** Null if the `Payment` scheme is not offered. */
  challenge: PaymentChallenge | null;
  problem: PaymentProblem | undefined;
  requestId: string;
}

/** Asks for a payment, or for another one. */
export function paymentRequired({
  paywall,
  invoice,
  token,
  challenge,
  problem,
  requestId,
}: Payable): GateAnswer {
  const price = `${paywall.priceSats} ${paywall.priceSats === 1 ? 'sat' : 'sats'}`;
  const message =
    problem === undefined
      ? `This costs ${price}. Pay the invoice, and repeat the request with ${waysToProve(token, challenge)}.`
      : problemTexts[problem];
  const type = problem === undefined ? 'payment_required' : 'payment_refused';
  const pay = {
    paywall: paywall.name,
    amount_sats: paywall.priceSats,
    amount_msats: paywall.priceSats * 1000,
    invoice: invoice.invoice,
    payment_hash: invoice.paymentHash,
    ...(token !== null && { macaroon: token }),
    ...(challenge && { challenge_id: challenge.id }),
    expires_at: isoTime(invoice.expiresAt),
  };
  return answerWith(
    { status: 402, type, code: type, message, ...(problem !== undefined && { reason: problem }), pay },
    requestId,
    [
      // Some clients of L402 read the first line only.
      ...(token === null ? [] : [authenticate(l402Challenge(token, invoice.invoice))]),
      ...(challenge ? [authenticate(formatChallenge(challenge))] : []),
    ],
  );
}

const authenticate = (challenge: string): Header => ['www-authenticate', challenge];

function waysToProve(token: string | null, challenge: PaymentChallenge | null): string {
  const ways = [
    ...(token === null ? [] : ['`Authorization: L402 <macaroon>:<preimage>`']),
    ...(challenge ? ['a credential of the `Payment` scheme'] : []),
  ];
  return inWords(ways);
}

/** An error in the format of the API. */
export function errorAnswer(error: ApiError, requestId: string): GateAnswer {
  const { status, message, param, retryAfter } = error;
  const { type } = failures[error.code];
  return answerWith(
    { status, type, code: error.reportedCode, message, param },
    requestId,
    retryAfter === undefined ? [] : [['retry-after', retryAfter]],
  );
}

/** An answer of the proxy about its upstream: 502, 504 or 508. */
export function upstreamFailed(failure: { status: number; message: string }, requestId: string): GateAnswer {
  return answerWith({ ...failure, type: 'upstream_failed', code: 'upstream_failed' }, requestId);
}

export function methodNotAllowed(allowed: string[], requestId: string): GateAnswer {
  const methods = allowed.includes('GET') ? [...new Set([...allowed, 'HEAD'])] : allowed;
  const allow = methods.join(', ');
  const error = {
    status: 405,
    type: 'invalid_request',
    code: 'method_not_allowed',
    message: `This path allows ${allow}.`,
  };
  return answerWith(error, requestId, [['allow', allow]]);
}

interface AnsweredError {
  status: number;
  type: string;
  code: string;
  message: string;
  param?: string | null;
  [member: string]: unknown;
}

function answerWith(
  { status, param = null, type, code, message, ...more }: AnsweredError,
  requestId: string,
  headers: Header[] = [],
): GateAnswer {
  const error = { type, code, message, param, request_id: requestId, ...more };
  return {
    kind: 'answer',
    status,
    headers: [
      ['content-type', 'application/json; charset=utf-8'],
      ['cache-control', 'no-store'],
      ['x-content-type-options', 'nosniff'],
      ['x-request-id', requestId],
      ...headers,
    ],
    body: JSON.stringify({ error }),
  };
}
