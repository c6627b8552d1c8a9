import { createHash, randomBytes } from 'node:crypto';
import { decodeInvoice, encodeInvoice } from '../../../src/daemon/features/lightning/bolt11.ts';
import type { LightningNetwork } from '../../../src/shared/payments/wallet-backends.ts';

export interface FakeInvoice {
  invoice: string;
  paymentHash: string;
  preimage: Uint8Array;
  amountMsat: number;
  state: 'open' | 'paid' | 'canceled';
  /** Milliseconds since 1970. */
  expiresAt: number;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** What it was created with, if the back end keeps that. */
  mark?: string | undefined;
}

export interface FakePayment {
  paymentHash: string;
  invoice: string;
  amountMsat: number;
  state: 'in-flight' | 'succeeded' | 'failed';
  preimage: Uint8Array;
  feeMsat: number;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Resolves when it ended. */
  ended: Promise<void>;
}

/** What happens to the next payment. `vanish`: it is sent, but the connection breaks before the answer. */
type Fate = 'succeed' | 'fail' | 'hold' | 'vanish';

/** The books of a Lightning node, which the fake servers of each back end show in their own formats. */
export class FakeNode {
  readonly network: LightningNetwork;
  nodeId = '02'.padEnd(66, 'a');
  balanceMsat = 1_000_000_000;
  /** What a payment costs. */
  feeMsat = 1000;
  isSynced = true;
  isLocked = false;
  readonly incoming = new Map<string, FakeInvoice>();
  readonly outgoing = new Map<string, FakePayment>();
  /** Every invoice that it was asked to pay, in order. */
  readonly asked: string[] = [];
  /** The state that it reports for payments instead of the real one, in the words of the back end. */
  reportedState: string | undefined;
  readonly #foreign = new Map<string, Uint8Array>();
  readonly #endings = new Map<string, (state: 'succeeded' | 'failed') => void>();
  readonly #fates: Fate[] = [];

  constructor(network: LightningNetwork = 'regtest') {
    this.network = network;
  }

  /** Decides about the next payments, in order; others succeed. */
  next(...fates: Fate[]): void {
    this.#fates.push(...fates);
  }

  createInvoice(terms: InvoiceTerms): FakeInvoice {
    const made = signedInvoice(this.network, terms);
    this.incoming.set(made.paymentHash, made);
    return made;
  }

  /** An invoice of another node, which this one can pay. */
  foreignInvoice(amountMsat: number): string {
    const { invoice, paymentHash, preimage } = signedInvoice(this.network, {
      amountMsat,
      description: 'Books',
    });
    this.#foreign.set(paymentHash, preimage);
    return invoice;
  }

  /** Whether an invoice of this node can be paid. */
  isOpen(invoice: string): boolean {
    return this.incoming.get(decodeInvoice(invoice).paymentHash)?.state === 'open';
  }

  /** Another node pays an invoice of this one; fails if it is not open. */
  receive(invoice: string): void {
    const found = this.incoming.get(decodeInvoice(invoice).paymentHash);
    if (found?.state !== 'open') throw new Error(`the invoice is ${found?.state ?? 'unknown'}`);
    found.state = 'paid';
  }

  /** Starts a payment. Throws with a sentence, as nodes do, if there is one already or it is refused. */
  pay(invoice: string, maxFeeMsat = Number.POSITIVE_INFINITY): { payment: FakePayment; vanishes: boolean } {
    this.asked.push(invoice);
    const { paymentHash, amountMsat } = decodeInvoice(invoice);
    const earlier = this.outgoing.get(paymentHash);
    if (earlier?.state === 'succeeded') throw new Error('this invoice has already been paid');
    if (earlier?.state === 'in-flight') throw new Error('another payment is in progress for that invoice');
    if (this.incoming.has(paymentHash)) throw new Error('self-payments not allowed');
    const preimage = this.#foreign.get(paymentHash);
    if (preimage === undefined) throw new Error('the recipient is unreachable');
    if (this.feeMsat > maxFeeMsat) throw new Error('no route within the fee limit');
    const payment = this.#open({ paymentHash, invoice, preimage, amountMsat: amountMsat ?? 0 });
    const fate = this.#fates.shift() ?? 'succeed';
    if (fate !== 'hold') this.end(invoice, fate === 'fail' ? 'failed' : 'succeeded');
    return { payment, vanishes: fate === 'vanish' };
  }

  /** Records a payment that found no route. */
  fail(invoice: string): FakePayment {
    const { paymentHash, amountMsat } = decodeInvoice(invoice);
    const preimage = new Uint8Array(32);
    const payment = this.#open({ paymentHash, invoice, preimage, amountMsat: amountMsat ?? 0 });
    this.end(invoice, 'failed');
    return payment;
  }

  #open(terms: Pick<FakePayment, 'paymentHash' | 'invoice' | 'preimage' | 'amountMsat'>): FakePayment {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const started = { feeMsat: this.feeMsat, startedAt: Date.now() };
    const payment: FakePayment = { ...terms, ...started, state: 'in-flight', ended };
    this.outgoing.set(terms.paymentHash, payment);
    this.#endings.set(terms.paymentHash, (state) => {
      payment.state = state;
      resolve();
    });
    return payment;
  }

  /** The invoices whose payments are held. */
  held(): string[] {
    return this.asked.filter(
      (invoice) => this.outgoing.get(decodeInvoice(invoice).paymentHash)?.state === 'in-flight',
    );
  }

  /** Ends a payment that is held. */
  end(invoice: string, state: 'succeeded' | 'failed'): void {
    this.#endings.get(decodeInvoice(invoice).paymentHash)?.(state);
  }
}

interface InvoiceTerms {
  amountMsat: number;
  description: string | { hash: Uint8Array };
  expirySeconds?: number | undefined;
  preimage?: Uint8Array | undefined;
  mark?: string | undefined;
}

function signedInvoice(
  network: LightningNetwork,
  { amountMsat, description, expirySeconds = 3600, preimage = randomBytes(32), mark }: InvoiceTerms,
): FakeInvoice {
  const hash = createHash('sha256').update(preimage).digest();
  const invoice = encodeInvoice(
    {
      network,
      amountMsat,
      timestamp: Math.floor(Date.now() / 1000),
      expirySeconds,
      paymentHash: hash,
      paymentSecret: randomBytes(32),
      description,
      features: [8, 14, 17],
    },
    new Uint8Array(32).fill(7),
  );
  const createdAt = Date.now();
  const paymentHash = hash.toString('hex');
  const expiresAt = createdAt + expirySeconds * 1000;
  return { invoice, paymentHash, preimage, amountMsat, state: 'open', createdAt, expiresAt, mark };
}
