import { createHash } from 'node:crypto';
import { ApiError, type ErrorDetails } from '../../../shared/errors.ts';
import { formatUsd, type NanoUsd } from '../../../shared/money/money.ts';
import { formatReceipt } from '../../../shared/payments/payment-scheme.ts';
import { formatX402, type SettlementResponse } from '../../../shared/payments/x402.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Caller, credentialId, type Identified, identified } from '../../base/handler.ts';
import type { World } from '../../base/world.ts';
import type { Admission, PaymentDue } from '../metering/index.ts';
import type { Invoices } from '../wallet/index.ts';
import type { Challenges } from './challenges.ts';
import { offerOf, requestHashOf } from './offer.ts';
import { type Proof, proofIn, type RefusalReason, termsMismatch } from './proof.ts';
import type { Challenge, ChallengesStore, PaidRequest } from './store.ts';

/** A request, or a message on a socket, that a payment can be bound to. */
export interface PayableRequest {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Path and query, as they were sent; absent for a message on a socket. */
  target?: string;
  rawBody?: Uint8Array;
  remoteAddress?: string;
  /** Set for a message on a socket. */
  isMessage?: true;
  /** Set if it carried a payment that was refused. */
  refused?: RefusalReason;
}

/** A call of an endpoint that takes payments. */
export interface PayableCall {
  caller: Caller;
  requestId: string;
  endpoint: { path: string };
  request: PayableRequest;
}

/** An accepted payment. */
export interface Accepted {
  /** For the answer. */
  headers: Record<string, string>;
  creditedUsd: string;
}

export interface PaidCallsDeps {
  store: ChallengesStore;
  challenges: Pick<Challenges, 'forCall'>;
  invoices: Pick<Invoices, 'receivedFor'>;
  admission: Pick<Admission, 'balanceOf'>;
  isPrepaid: (workspaceId: string) => boolean;
  /** The configured address of this host; undefined for the one that the client used. */
  publicUrl: () => string | undefined;
  world: Pick<World, 'now'>;
  /** What expiries are compared with. */
  passed: () => number;
}

/** A call that was rejected, and what it would have cost at most. */
export interface UnpaidCall {
  caller: Identified;
  endpoint: string;
  request: PayableRequest;
  due: PaymentDue;
  price: NanoUsd | undefined;
}

/** Payment for single calls: invoices for those that the balance does not cover, and the retries that prove a payment. */
export class PaidCalls {
  readonly #deps: PaidCallsDeps;

  constructor(deps: PaidCallsDeps) {
    this.#deps = deps;
  }

  /**
   * Accepts the payment of a request that carries one, before the call: each payment becomes credit once, and the call is
   * then paid from the balance. Returns headers for its answer, or why the payment is refused.
   */
  async accept(call: PayableCall): Promise<Accepted | { refused: RefusalReason }> {
    const proof = proofIn(call.request.headers);
    if (!proof) return { refused: 'malformed_credential' };
    const challenge = await this.#challengeOf(proof);
    const caller = identified(call.caller);
    if (!challenge || challenge.credentialId !== credentialId(caller))
      return { refused: 'unknown_challenge' };
    const request = paidRequestOf(call.endpoint.path, call.request);
    const url = this.#urlOf(call.endpoint.path, call.request);
    const refused =
      refusalOf(proof, challenge, { request, url, now: this.#deps.passed() }) ??
      (await this.#unpaid(challenge));
    // Paid in time, but proven too late: the money becomes credit.
    if (refused === 'expired' && !(await this.#unpaid(challenge))) await this.redeem(challenge);
    if (refused) return { refused };
    const redeemed = await this.redeem(challenge);
    if (redeemed !== 'redeemed') return { refused: redeemed === 'used' ? 'already_used' : 'invoice_unpaid' };
    return { headers: this.#receipt(proof, challenge), creditedUsd: formatUsd(challenge.credit) };
  }

  /** Turns a paid challenge into credit, which later calls can use. */
  redeem({ id }: Pick<Challenge, 'id'>) {
    const { store, world } = this.#deps;
    return store.redeem({ id, at: world.now() });
  }

  /** The error for a rejected call: with an invoice if the host can issue one. Fails with `rate_limited`. */
  async offer({ caller, endpoint, request, due, price }: UnpaidCall): Promise<ApiError> {
    const { challenges, isPrepaid } = this.#deps;
    const { refused, remoteAddress = '' } = request;
    const { workspaceId } = caller;
    const paid = paidRequestOf(endpoint, request);
    const url = this.#urlOf(endpoint, request);
    const challenge =
      price === undefined || !isPrepaid(workspaceId)
        ? undefined
        : await challenges.forCall({
            caller,
            remoteAddress,
            request: paid,
            requestHash: canHash(request) ? requestHashOf(paid, url) : undefined,
            due: price - due.available,
          });
    if (!challenge && !refused) return due;
    const balance = await this.#balanceOf(workspaceId);
    const extra = { ...due.extra, ...(balance !== undefined && { balance_usd: formatUsd(balance) }) };
    const { headers, pay } = challenge ? offerOf(challenge, { url, error: due.message }) : noOffer;
    const details: ErrorDetails = { message: messageOf(due, refused), headers, extra: { ...extra, pay } };
    if (!refused) {
      const code = due.code === 'insufficient_balance' ? 'payment_required' : due.code;
      return new ApiError(code, { ...details, type: 'payment_required' });
    }
    const failed = request.headers['payment-signature'] !== undefined && {
      'payment-response': failedSettlement(refused),
    };
    return new ApiError('payment_refused', {
      ...details,
      headers: { ...headers, ...failed },
      extra: { ...extra, reason: refused, pay },
    });
  }

  /** The credential to which a challenge was issued, for a `Payment` credential that stands in for it. */
  async issuedTo(authorization: string): Promise<{ workspaceId: string; id: string } | undefined> {
    const proof = proofIn({ authorization });
    const challenge = proof && (await this.#challengeOf(proof));
    // Only the preimage is a secret: someone who pays for another user's credit must not be able to call as that user.
    if (!challenge?.request || !isPreimage(proof?.preimage, challenge)) return undefined;
    return { workspaceId: challenge.workspaceId, id: challenge.credentialId };
  }

  async #challengeOf(proof: Proof): Promise<Challenge | undefined> {
    const { store } = this.#deps;
    if (proof.scheme === 'payment') return await store.find(proof.credential.challenge.id);
    if (proof.claims !== undefined) return await store.byInvoice(proof.claims);
    const { invoice } = proof.payment.accepted.extra ?? {};
    return typeof invoice === 'string' ? await store.byInvoice(invoice.toLowerCase()) : undefined;
  }

  async #unpaid({ paymentHash, amount }: Challenge): Promise<RefusalReason | undefined> {
    const received = await this.#deps.invoices.receivedFor(paymentHash);
    if (received === undefined) return 'invoice_unpaid';
    return received < amount ? 'amount_mismatch' : undefined;
  }

  /** Whether a client used TLS is configured, as any client could claim it in a header. */
  #urlOf(path: string, { headers: { host }, target = path }: PayableRequest): string {
    const base = this.#deps.publicUrl() ?? `http://${typeof host === 'string' ? host : 'localhost'}`;
    return base.replace(/\/$/, '') + target;
  }

  async #balanceOf(workspaceId: string): Promise<NanoUsd | undefined> {
    const { admission, isPrepaid } = this.#deps;
    return isPrepaid(workspaceId) ? await admission.balanceOf(workspaceId) : undefined;
  }

  #receipt(proof: Proof, challenge: Challenge): Record<string, string> {
    const { id: challengeId, paymentHash: reference, invoice } = challenge;
    if (proof.scheme === 'payment') {
      const timestamp = isoTime(this.#deps.world.now());
      const receipt = { status: 'success', method: 'lightning', challengeId, reference, timestamp } as const;
      return { 'payment-receipt': formatReceipt(receipt), 'cache-control': 'private' };
    }
    const { network, ...accepted } = proof.payment.accepted;
    const amount = String(accepted.amount);
    const settled: SettlementResponse =
      proof.claims === undefined
        ? { success: true, transaction: reference, network, amount }
        : { success: true, payer: 'anonymous', transaction: invoice, network, amount };
    return { 'payment-response': formatX402(settled) };
  }
}

/** Why a proof is refused, judged by the challenge alone. */
function refusalOf(
  proof: Proof,
  challenge: Challenge,
  { request, url, now }: { request: PaidRequest; url: string; now: number },
): RefusalReason | undefined {
  const mismatch = termsMismatch(proof, challenge);
  if (mismatch) return mismatch;
  if (proof.preimage !== undefined && !isPreimage(proof.preimage, challenge)) return 'invalid_preimage';
  const { request: issuedFor, usedAt, expiresAt } = challenge;
  if (!issuedFor) return 'unknown_challenge';
  const isSame = (['method', 'path', 'digest'] as const).every((name) => issuedFor[name] === request[name]);
  if (!isSame) return 'request_mismatch';
  const isCommitted = proof.scheme === 'x402' && proof.preimage !== undefined;
  if (isCommitted && challenge.commitment?.requestHash !== requestHashOf(request, url))
    return 'request_mismatch';
  if (usedAt !== null) return 'already_used';
  return expiresAt <= now ? 'expired' : undefined;
}

function isPreimage(preimage: string | undefined, { paymentHash }: Challenge): boolean {
  return preimage !== undefined && sha256(Buffer.from(preimage, 'hex')) === paymentHash;
}

const noOffer = { headers: { 'cache-control': 'no-store' }, pay: { methods: ['credit'] } };

const refusals: Record<RefusalReason, string> = {
  malformed_credential: 'it is malformed',
  unknown_challenge: 'no such invoice was issued to this key',
  already_used: 'it was used before',
  expired: 'it came after the invoice expired',
  invalid_preimage: 'the preimage is not that of the invoice',
  invoice_unpaid: 'the invoice is not paid',
  amount_mismatch: 'the amount is another one',
  network_mismatch: 'the network is another one',
  request_mismatch: 'it is for a request with another method, path or body',
};

function messageOf(due: PaymentDue, refused: RefusalReason | undefined): string {
  if (refused) return `The payment was not accepted: ${refusals[refused]}.`;
  return `${due.message} Pay the invoice in \`pay\` and send the request again with the proof.`;
}

function failedSettlement(reason: RefusalReason): string {
  return formatX402({ success: false, errorReason: reason, transaction: '', network: '' });
}

function paidRequestOf(path: string, { isMessage, rawBody }: PayableRequest): PaidRequest {
  return { method: isMessage ? 'GET' : 'POST', path, digest: sha256(rawBody ?? new Uint8Array()) };
}

/** The body is hashed as it was sent, which is no longer known of a compressed one. */
function canHash({ isMessage, headers }: PayableRequest): boolean {
  return !isMessage && headers['content-encoding'] === undefined;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
