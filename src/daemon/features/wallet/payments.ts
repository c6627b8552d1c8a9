import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { bareInvoice } from '../../../shared/payments/bare-invoice.ts';
import type { Caller } from '../../base/handler.ts';
import type { Log } from '../../base/log.ts';
import { type World, within } from '../../base/world.ts';
import {
  BackendFailure,
  InvalidInvoice,
  type Invoice,
  isPreimageOf,
  type LightningBackend,
  loadBolt11,
  type PaymentOutcome,
} from '../lightning/index.ts';
import type { DataSealer } from '../vault/index.ts';
import { feeLimitFor } from './amounts.ts';
import { toApiError } from './backend-error.ts';
import { isInvoice } from './destinations.ts';
import { preimageOf } from './invoices.ts';
import { insufficient, overBudget, recorded, taken, unreconciled } from './payment-refusals.ts';
import {
  budgetOf,
  type PayOptions,
  requireWithinLimit,
  requireWithinMaximum,
  type SpendingLimits,
} from './spending-limits.ts';
import type {
  InvoiceRecord,
  ItemPage,
  NewPayment,
  PaymentRecord,
  WalletRecord,
  WalletStore,
} from './store.ts';
import type { WalletMarks } from './wallet-marks.ts';
import type { Wallets } from './wallets.ts';

export interface PaymentsDeps {
  store: WalletStore;
  wallets: Pick<Wallets, 'of' | 'required'>;
  backend: () => LightningBackend;
  sealer: DataSealer;
  marks: Pick<WalletMarks, 'markOf'>;
  /** Read on each payment: the hosts of which it has to declare one; empty for any. `*.example.com` matches every name below it. */
  settings: { readonly paymentHosts: readonly string[] };
  /** Called once a wallet's events are on disk. */
  announce: (wallet: Pick<WalletRecord, 'workspaceId'>) => void;
  /** Called once an invoice was paid within the host, and that is on disk. */
  onPaid?: (invoice: InvoiceRecord) => Promise<void>;
  makeId: MakeId;
  world: Pick<World, 'now' | 'sleep'>;
  log: Pick<Log, 'warn'>;
}

export interface PayRequest {
  invoice: string;
  host?: string | undefined;
  maxAmountMsats?: number | undefined;
  maxAmountSats?: number | undefined;
  timeoutMs?: number | undefined;
}

/** How a payment ended, according to a person. */
export interface Resolution {
  outcome: 'paid' | 'failed';
  /** Millisatoshis. */
  fee?: number | undefined;
  /** In hexadecimal. */
  preimage?: string | undefined;
  userId: string;
}

const defaultTimeoutMs = 12_000;
const pendingBatch = 100;
/** A payment that the back end does not know of can no longer start this long after its invoice expired. */
export const unknownGraceMs = 60 * 60 * 1000;

/** A preview of a payment. */
export interface InvoiceQuote {
  invoice: Invoice;
  /** The BOLT 11 text in lower case. */
  text: string;
  expiresAt: number;
  /** Null for invoices without an amount. */
  feeLimit: number | null;
  /** Why the caller cannot pay it now. */
  problem: ApiError | undefined;
  /** The caller's payment of it that is pending or succeeded. */
  paymentId: string | null;
}

/** A quote without a problem. */
type Payable = Omit<InvoiceQuote, 'problem' | 'feeLimit' | 'paymentId'> & {
  amount: number;
  isInternal: boolean;
};

/** Payments from wallets. All of them, of people, agents and tools, go through `pay`. */
export class Payments {
  readonly #deps: PaymentsDeps;
  /** Payments that this process is sending; their state is not looked up meanwhile. */
  readonly #sending = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(deps: PaymentsDeps) {
    this.#deps = deps;
  }

  /**
   * Pays an invoice, and resolves when it is settled, `timeoutMs` is over or `signal` is aborted; the payment continues
   * then. Nothing is paid if the signal is aborted before. Fails with `invalid_request`,
   * `insufficient_balance`, `permission` if it exceeds the spending limits or, if a payment of the invoice is pending or
   * succeeded, `conflict`; nothing is sent then.
   */
  async pay(
    caller: Caller,
    request: PayRequest,
    { limits, signal }: PayOptions = {},
  ): Promise<PaymentRecord> {
    const { store, wallets, makeId, world } = this.#deps;
    const backend = this.#deps.backend();
    const { host = null, timeoutMs = defaultTimeoutMs } = request;
    const wallet = await wallets.required(caller);
    this.#requireHost(host);
    await this.#requireReconciled(wallet);
    const payable = await this.#payable(wallet, await readInvoice(request.invoice), backend);
    requireWithinMaximum(payable.amount, request);
    if (limits) requireWithinLimit(payable.amount, limits);
    const { invoice, text, amount, expiresAt } = payable;
    // What the wallet cannot pay must neither cancel an invoice nor reach the back end.
    const { available } = await store.balance(wallet.id);
    const needed = amount + (payable.isInternal ? 0 : feeLimitAt(backend, amount));
    if (available < needed) throw insufficient(needed, available);
    const budget = limits && budgetOf(limits, world.now());
    const left = budget ? await store.leftOfBudget(wallet.id, budget) : needed;
    if (left < needed) throw overBudget(needed, left, limits);
    const reserved = payable.isInternal && (await this.#reserve(invoice.paymentHash, backend));
    const isInternal = reserved !== false;
    if (!isInternal) await this.#prepare(backend);
    const payment: NewPayment = {
      id: makeId('pay'),
      walletId: wallet.id,
      paymentHash: invoice.paymentHash,
      invoice: text,
      amount,
      feeLimit: isInternal ? 0 : feeLimitAt(backend, amount),
      payee: invoice.payee,
      description: invoice.description,
      host,
      backend: isInternal ? 'embedded' : backend.name,
      createdAt: world.now(),
      expiresAt,
      ...(budget && { budget }),
    };
    if (isInternal) return await this.#payInternally(wallet, payment, { limits, ...reserved });
    // An invoice that was cancelled for this payment above can no longer be paid in another way.
    signal?.throwIfAborted();
    const started = recorded(payment, await store.startPayment(payment), limits);
    await within(world, this.#send(started, wallet, backend), timeoutMs, signal);
    return (await store.payment(started.id)) ?? started;
  }

  /** Previews the payment of an invoice by the caller. Fails with `invalid_request` for a text that is no invoice. */
  async quote(caller: Caller, text: string): Promise<InvoiceQuote> {
    const read = await readInvoice(text);
    const { invoice, expiresAt } = read;
    const wallet = await this.#deps.wallets.of(caller);
    const backend = this.#deps.backend();
    const { amountMsat, paymentHash } = invoice;
    const isInternal = isSettledInternally(await this.#deps.store.invoiceByHash(paymentHash), backend);
    const feeLimit = amountMsat === null ? null : isInternal ? 0 : feeLimitAt(backend, amountMsat);
    const earlier = wallet && (await this.#deps.store.paymentByHash(paymentHash));
    const paymentId = earlier?.walletId === wallet?.id ? (earlier?.id ?? null) : null;
    const quote = { invoice, text: read.text, expiresAt, feeLimit, problem: undefined, paymentId };
    try {
      const payer = wallet ?? (await this.#deps.wallets.required(caller));
      await this.#requireReconciled(payer);
      const { amount } = await this.#payable(payer, read, backend);
      const needed = feeLimit === null ? amount : amount + feeLimit;
      const { available } = await this.#deps.store.balance(wallet?.id ?? '');
      return { ...quote, problem: available < needed ? insufficient(needed, available) : undefined };
    } catch (error) {
      if (error instanceof ApiError) return { ...quote, problem: error };
      throw error;
    }
  }

  async list(caller: Caller, page: ItemPage): Promise<PaymentRecord[]> {
    const wallet = await this.#deps.wallets.of(caller);
    return wallet ? await this.#deps.store.payments(wallet.id, page) : [];
  }

  /** Fails with `not_found` for another wallet's payment, too. */
  async get(caller: Caller, id: string): Promise<PaymentRecord> {
    const wallet = await this.#deps.wallets.of(caller);
    const payment = await this.#deps.store.payment(id);
    if (wallet && payment?.walletId === wallet.id) return payment;
    throw new ApiError('not_found', { param: 'paymentId' });
  }

  /** The proof of a payment, in hexadecimal, for its payer; null until it succeeded. */
  preimage({ preimage, paymentHash }: PaymentRecord): string | null {
    if (preimage === null) return null;
    const opened = this.#deps.sealer.open(preimage, preimageOf(paymentHash));
    if (opened) return opened.toString('hex');
    this.#deps.log.warn({ payment_hash: paymentHash }, 'the preimage of a payment cannot be decrypted');
    return null;
  }

  /** Asks the back end for the state of pending payments, those of an earlier daemon included. */
  async followUp(signal: AbortSignal): Promise<void> {
    const { store } = this.#deps;
    const backend = this.#deps.backend();
    for (let after: string | undefined; !signal.aborted; ) {
      const page = await store.pendingPayments({ after, limit: pendingBatch });
      for (const payment of page) await this.#followOne(payment, backend, signal);
      if (page.length < pendingBatch) return;
      after = page.at(-1)?.id;
    }
  }

  /**
   * Ends a pending payment as the owner of the host declares, because the back end does not report it: `fee` is in
   * millisatoshis, by default all that is reserved for it. Fails with `not_found`, with `conflict` if it is not pending
   * or is being sent, and with `invalid_request` for a fee above the limit or a preimage of another invoice.
   */
  async resolve(id: string, { outcome, fee, preimage, userId }: Resolution): Promise<PaymentRecord> {
    const { store, sealer, world, log, announce } = this.#deps;
    const payment = await store.payment(id);
    if (!payment)
      throw new ApiError('not_found', {
        param: 'payment',
        message: 'No wallet of this host has such a payment.',
      });
    const { state, paymentHash, feeLimit } = payment;
    if (state !== 'pending') throw new ApiError('conflict', { message: `The payment ${state} already.` });
    if (this.#sending.has(id)) {
      throw new ApiError('conflict', { message: 'The payment is being sent; wait until the node answers.' });
    }
    const proof = preimage === undefined ? undefined : Buffer.from(preimage, 'hex');
    if (proof && !isPreimageOf(proof, paymentHash))
      throw inputFault('preimage', 'does not prove this payment');
    if (fee !== undefined && fee > feeLimit)
      throw inputFault('fee_msats', `must be at most ${feeLimit}, which is reserved for it`);
    const settled = await store.settlePayment(
      outcome === 'failed'
        ? { id, at: world.now(), resolvedBy: userId, state: 'failed', failure: 'failed' }
        : {
            id,
            at: world.now(),
            resolvedBy: userId,
            state: 'succeeded',
            fee: fee ?? feeLimit,
            preimage: proof ? sealer.seal(proof, preimageOf(paymentHash)) : null,
          },
    );
    if (!settled) throw new ApiError('conflict', { message: 'The payment has ended meanwhile.' });
    log.warn({ payment: id, state: settled.state, user: userId }, 'a payment was resolved by hand');
    const payer = await store.find(payment.walletId);
    if (payer) announce(payer);
    return settled;
  }

  async #followOne(payment: PaymentRecord, backend: LightningBackend, signal: AbortSignal): Promise<void> {
    const { world, log } = this.#deps;
    const { id, paymentHash } = payment;
    if (signal.aborted || this.#sending.has(id) || payment.backend !== backend.name) return;
    const lookedUpAt = world.now();
    try {
      const outcome = await backend.lookUpPayment(paymentHash, signal);
      // The payment may have been settled and tried again while the back end was asked.
      if (!this.#sending.has(id))
        await this.#settle(payment, finalOutcome(payment, outcome, backend, lookedUpAt));
    } catch (error) {
      if (!signal.aborted)
        log.warn({ err: error, payment: id }, 'the state of a payment could not be looked up');
    }
  }

  /** Stops waiting for the back end. Payments that are not settled stay pending, for the next start. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await Promise.allSettled(this.#sending.values());
  }

  #requireHost(host: string | null): void {
    if (host !== null) wellFormed(host, 'host');
    const { paymentHosts } = this.#deps.settings;
    if (paymentHosts.length === 0) return;
    if (host === null)
      throw inputFault('host', 'is required: each payment has to declare one of `wallet.declared_hosts`');
    const name = host.toLowerCase();
    const isAllowed = paymentHosts.some((allowed) =>
      allowed.startsWith('*.')
        ? name.endsWith(allowed.slice(1).toLowerCase())
        : name === allowed.toLowerCase(),
    );
    if (!isAllowed) throw inputFault('host', 'is not one of `wallet.declared_hosts`');
  }

  /** An invoice must not be cancelled for a payment that will be refused. */
  async #requireReconciled(wallet: WalletRecord): Promise<void> {
    const reconciliation = await this.#deps.store.reconciliation(wallet);
    if (reconciliation && reconciliation.endedAt === null) throw unreconciled();
  }

  /** Checks everything but the balance, which the write that records the payment checks. */
  async #payable(
    wallet: WalletRecord,
    { invoice, text, expiresAt }: ReadInvoice,
    backend: LightningBackend,
  ): Promise<Payable> {
    const { store, world } = this.#deps;
    const { amountMsat: amount, paymentHash } = invoice;
    if (amount === null)
      throw inputFault('invoice', 'has no amount; only invoices with an amount can be paid');
    const earlier = await store.paymentByHash(paymentHash);
    if (earlier) throw taken(wallet, earlier);
    if (expiresAt <= world.now()) throw inputFault('invoice', 'has expired');
    const own = await store.invoiceByHash(paymentHash);
    if (own && own.invoice !== text) {
      throw inputFault('invoice', 'is forged: it has the payment hash of another invoice');
    }
    if (own?.state === 'paid') throw new ApiError('conflict', { message: 'This invoice is already paid.' });
    const isInternal = isSettledInternally(own, backend);
    if (own?.backend === backend.name && !isInternal && backend.cannotPayItself)
      throw inputFault('invoice', notToItself);
    if (!isInternal && !backend.isConnected) {
      throw inputFault(
        'invoice',
        'was not created on this host, and its embedded wallet reaches no other; a Lightning back end can be configured as `wallet.backend`',
      );
    }
    if (!isInternal && invoice.network !== backend.network) {
      throw inputFault('invoice', `is for ${invoice.network}, but the wallet is on ${backend.network}`);
    }
    return { invoice, text, expiresAt, amount, isInternal };
  }

  /**
   * Prepares an invoice of this host for an internal payment: makes it unpayable from outside, or else gets its sealed
   * preimage. Returns false if it has to be paid over Lightning. Fails with `conflict` if it was already paid, and with
   * `unavailable` if the back end cannot be asked.
   */
  async #reserve(paymentHash: string, backend: LightningBackend): Promise<false | { revealed?: string }> {
    const { log, sealer } = this.#deps;
    const { signal } = this.#stopping;
    if (backend.revealPreimage) {
      const preimage = await backend.revealPreimage(paymentHash, signal).catch((error: unknown) => {
        throw toApiError(error);
      });
      if (preimage && isPreimageOf(preimage, paymentHash))
        return { revealed: sealer.seal(preimage, preimageOf(paymentHash)) };
      throw new ApiError('conflict', { param: 'invoice', message: 'This invoice is already paid.' });
    }
    try {
      return (await backend.cancelInvoice?.(paymentHash, signal)) === true && {};
    } catch (error) {
      log.warn({ err: error }, 'an invoice could not be cancelled');
      return false;
    }
  }

  /** Fails with `unavailable` if the back end could not send a payment now. */
  async #prepare(backend: LightningBackend): Promise<void> {
    try {
      await backend.prepare(this.#stopping.signal);
    } catch (error) {
      if (error instanceof BackendFailure)
        this.#deps.log.warn({ err: error }, 'the Lightning back end cannot be used');
      throw toApiError(error);
    }
  }

  async #payInternally(
    wallet: WalletRecord,
    payment: NewPayment,
    { limits, revealed }: { limits: SpendingLimits | undefined; revealed?: string },
  ): Promise<PaymentRecord> {
    const { store, announce, onPaid } = this.#deps;
    const paid = recorded(payment, await store.payInternally(payment, revealed), limits);
    announce(wallet);
    const invoice = await store.invoiceByHash(payment.paymentHash);
    const payee = invoice && (await store.find(invoice.walletId));
    if (payee) announce(payee);
    if (invoice) await onPaid?.(invoice);
    return paid;
  }

  /** Resolves when the payment is settled, or the back end has given up waiting for it. Never rejects. */
  #send(payment: PaymentRecord, wallet: WalletRecord, backend: LightningBackend): Promise<void> {
    const { log } = this.#deps;
    const { id, invoice, paymentHash, amount, feeLimit } = payment;
    const sending = (async () => {
      const outcome = await backend.pay({
        invoice,
        paymentHash,
        amountMsat: amount,
        maxFeeMsat: feeLimit,
        idempotencyKey: id,
        mark: this.#deps.marks.markOf(wallet),
        signal: this.#stopping.signal,
      });
      await this.#settle(payment, outcome, wallet);
    })()
      .catch((error: unknown) =>
        log.warn({ err: error, payment: id }, 'the state of a payment is not known yet'),
      )
      .finally(() => this.#sending.delete(id));
    this.#sending.set(id, sending);
    return sending;
  }

  async #settle(payment: PaymentRecord, outcome: PaymentOutcome, wallet?: WalletRecord): Promise<void> {
    const { store, sealer, world, log, announce } = this.#deps;
    const { id, paymentHash, feeLimit } = payment;
    const at = world.now();
    if (outcome.state === 'pending') return;
    if (outcome.state === 'succeeded' && !isPreimageOf(outcome.preimage, paymentHash)) {
      log.warn({ payment: id }, 'the Lightning back end reported a success without its proof; asking again');
      return;
    }
    if (outcome.state === 'succeeded' && outcome.feeMsat === null)
      log.warn(
        { payment: id, fee: feeLimit },
        'the fee of a payment cannot be read; all that is reserved counts',
      );
    const settled = await store.settlePayment(
      outcome.state === 'failed'
        ? { id, at, state: 'failed', failure: outcome.reason }
        : {
            id,
            at,
            state: 'succeeded',
            fee: Math.ceil(outcome.feeMsat ?? feeLimit),
            preimage: sealer.seal(outcome.preimage, preimageOf(paymentHash)),
          },
    );
    if (!settled) return;
    const payer = wallet ?? (await store.find(payment.walletId));
    if (payer) announce(payer);
  }
}

/** The highest fee that is reserved; a back end with its own price may charge more than others. */
function feeLimitAt({ ownFeeMsat }: LightningBackend, amountMsat: number): number {
  const usual = feeLimitFor(amountMsat);
  return ownFeeMsat ? Math.max(usual, ownFeeMsat(amountMsat)) : usual;
}

/** Whether a payment of an invoice would be settled within the host, without fees. */
function isSettledInternally(
  own: InvoiceRecord | undefined,
  { name, cancelInvoice, revealPreimage }: LightningBackend,
): boolean {
  return own?.backend === name && (cancelInvoice !== undefined || revealPreimage !== undefined);
}

const notToItself =
  'was created on this host, whose Lightning node cannot pay its own invoices; pay it from another wallet';

/** What a look-up says about this payment: an attempt that started earlier says nothing. */
function finalOutcome(
  payment: PaymentRecord,
  outcome: PaymentOutcome,
  { mayForget }: LightningBackend,
  now: number,
): PaymentOutcome {
  if (outcome.state === 'succeeded') return outcome;
  const isEarlier =
    outcome.state === 'failed' &&
    outcome.startedAt !== undefined &&
    outcome.startedAt < Math.floor(payment.createdAt / 1000) * 1000;
  if (outcome.state === 'failed' && !isEarlier) return outcome;
  const isUnknown = isEarlier || (outcome.state === 'pending' && outcome.isUnknown === true);
  const isOver = payment.expiresAt + unknownGraceMs <= now;
  return isUnknown && isOver && !mayForget ? { state: 'failed', reason: 'expired' } : { state: 'pending' };
}

type ReadInvoice = Pick<InvoiceQuote, 'invoice' | 'text' | 'expiresAt'>;

async function readInvoice(given: string): Promise<ReadInvoice> {
  const { decodeInvoice } = await loadBolt11();
  const text = bareInvoice(given);
  if (!isInvoice(text)) throw inputFault('invoice', 'is not a Lightning invoice');
  try {
    // Mixed case is invalid, which lower-casing would hide.
    const invoice = decodeInvoice(text);
    return {
      invoice,
      text: text.toLowerCase(),
      expiresAt: (invoice.timestamp + invoice.expirySeconds) * 1000,
    };
  } catch (error) {
    if (error instanceof InvalidInvoice) throw inputFault('invoice', error.message);
    throw error;
  }
}
