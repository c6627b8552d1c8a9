import { ApiError } from '../../../shared/errors.ts';
import type { NanoUsd } from '../../../shared/money/money.ts';
import { credentialId, type Identified } from '../../base/handler.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import { type LightningBackend, loadBolt11 } from '../lightning/index.ts';
import { type Invoices, requesterOf, type WalletRecord } from '../wallet/index.ts';
import { callExpirySeconds, canCommit, newChallengeId } from './offer.ts';
import { msatFor, type Rates, worthOf } from './rates.ts';
import type { Challenge, ChallengesStore, PaidRequest, Rate } from './store.ts';

/** A limit of new invoices: `take` returns 0, or the seconds to wait. */
interface RateLimit {
  take(name: string): number;
}

export interface ChallengesDeps {
  store: ChallengesStore;
  invoices: Pick<Invoices, 'issue'>;
  /** The wallet that receives payments: the host's. Fails with `unavailable` if there is none. */
  receiver: () => Promise<WalletRecord>;
  rates: Pick<Rates, 'current'>;
  backend: () => Pick<LightningBackend, 'network'>;
  /** Limits of new invoices, by credential and by address. */
  limits: { credential: RateLimit; address: RateLimit };
  /** Keys the ids of challenges. */
  secret: Uint8Array;
  world: Pick<World, 'now'>;
  /** What expiries are compared with. */
  passed: () => number;
  log: Pick<Log, 'warn'>;
}

/** The payer and its address. */
export interface Payer {
  caller: Identified;
  remoteAddress: string;
}

interface CallToPay extends Payer {
  request: PaidRequest;
  /** What an invoice may commit to; undefined if it cannot be computed for the request. */
  requestHash: string | undefined;
  /** The least amount to pay. */
  due: NanoUsd;
}

interface NewChallenge extends Payer {
  amount: (rate: Rate) => number;
  description: string;
  request: PaidRequest | null;
  requestHash?: string | undefined;
  expirySeconds: number;
}

/** An open challenge is offered again unless it expires this soon. */
const timeToPayMs = 60_000;
const creditExpirySeconds = 3600;
const noRate =
  'This host cannot take payments now: it has no exchange rate (payments.usd_per_btc or payments.rate_url).';

/** Issues invoices that turn into credit. */
export class Challenges {
  readonly #deps: ChallengesDeps;
  readonly #issuing = new Map<string, Promise<Challenge | undefined>>();

  constructor(deps: ChallengesDeps) {
    this.#deps = deps;
  }

  /**
   * The challenge for a call: the open one of the same caller and request, or a new one. Undefined if the host cannot
   * issue invoices. Fails with `rate_limited`.
   */
  async forCall(call: CallToPay): Promise<Challenge | undefined> {
    const { caller, request, requestHash } = call;
    const name = [credentialId(caller), request.method, request.path, request.digest, requestHash].join(' ');
    const issuing = this.#issuing.get(name);
    if (issuing) return await issuing;
    const issued = this.#forCall(call).finally(() => this.#issuing.delete(name));
    this.#issuing.set(name, issued);
    return await issued;
  }

  /** An invoice for credit. Fails with `rate_limited`, and with `unavailable` if the host cannot issue invoices. */
  forCredit(payer: Payer, amount: (rate: Rate) => number): Promise<Challenge> {
    const terms = { amount, description: 'Credit for model calls', request: null };
    return this.#issue({ ...payer, ...terms, expirySeconds: creditExpirySeconds });
  }

  async #forCall({ due, ...call }: CallToPay): Promise<Challenge | undefined> {
    const { store, passed } = this.#deps;
    const expiresAfter = passed() + timeToPayMs;
    const open = await store.openFor(credentialId(call.caller), call.request, expiresAfter);
    // An invoice that commits to a URL is for that URL alone.
    const isSameUrl = !open?.commitment || open.commitment.requestHash === call.requestHash;
    if (open && open.credit >= due && isSameUrl) return open;
    const { method, path } = call.request;
    const terms = {
      ...call,
      amount: (rate: Rate) => msatFor(due, rate),
      description: `${method} ${path}`,
      expirySeconds: callExpirySeconds,
    };
    return await this.#issue(terms).catch((error: unknown) => {
      // Without an invoice, the caller learns at least what is missing.
      if (error instanceof ApiError && error.code === 'unavailable') return undefined;
      throw error;
    });
  }

  /** Fails with `rate_limited`, and with `unavailable` if the host cannot issue invoices. */
  async #issue(terms: NewChallenge): Promise<Challenge> {
    const { store, invoices, receiver, rates, backend, secret, world, log } = this.#deps;
    const [wallet, rate] = await Promise.all([receiver(), rates.current()]);
    if (!rate) throw new ApiError('unavailable', { message: noRate });
    this.#limit(terms);
    const { caller, request, expirySeconds, description } = terms;
    const requestHash = canCommit(backend().network) ? terms.requestHash : undefined;
    const amount = terms.amount(rate);
    const requester = requesterOf(caller);
    const asked = { amountSats: amount / 1000, description, expirySeconds, ...(requester && { requester }) };
    const record = await invoices
      .issue(wallet, { ...asked, ...(requestHash !== undefined && { descriptionHash: requestHash }) })
      .catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'rate_limited') throw error;
        log.warn({ err: error }, 'an invoice for credit or a call could not be issued');
        if (error instanceof ApiError) throw error;
        throw new ApiError('unavailable', { message: 'This host could not issue an invoice.', cause: error });
      });
    const { decodeInvoice } = await loadBolt11();
    const decoded = decodeInvoice(record.invoice);
    const isCommitted = requestHash !== undefined && decoded.descriptionHash === requestHash;
    const challenge = {
      workspaceId: caller.workspaceId,
      credentialId: credentialId(caller),
      request,
      invoiceId: record.id,
      invoice: record.invoice,
      paymentHash: record.paymentHash,
      network: decoded.network,
      commitment: isCommitted ? { requestHash, payee: decoded.payee } : null,
      amount,
      credit: worthOf(amount, rate),
      rate,
      createdAt: world.now(),
      expiresAt: record.expiresAt,
      usedAt: null,
    };
    const stored = { id: newChallengeId(secret, challenge), ...challenge };
    await store.add(stored);
    return stored;
  }

  #limit({ caller, remoteAddress }: Payer): void {
    const { credential, address } = this.#deps.limits;
    const wait = credential.take(credentialId(caller)) || address.take(remoteAddress);
    if (wait === 0) return;
    throw new ApiError('rate_limited', {
      message: 'Too many invoices were requested and not paid.',
      retryAfterSeconds: wait,
    });
  }
}
