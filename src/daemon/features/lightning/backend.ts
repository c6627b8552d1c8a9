import type { InvoiceNetwork } from './bolt11.ts';

/** A kind of back end, as the configuration names it. */
export type BackendName = 'embedded' | (string & {});

/**
 * What is known of a payment. `failed` only if the back end says that the payment failed for good and will not be
 * retried; everything else that is not a success, including each exception and unknown state, is `pending`.
 */
export type PaymentOutcome =
  | { state: 'succeeded'; preimage: Uint8Array; feeMsat: number }
  | { state: 'failed'; reason: PaymentFailure }
  /** `isUnknown`: the back end has no record of the payment. */
  | { state: 'pending'; isUnknown?: true };

/** Why a payment failed. */
export type PaymentFailure = 'no_route' | 'insufficient_balance' | 'expired' | 'rejected' | 'failed';

export interface InvoiceRequest {
  walletId: string;
  amountMsat: number;
  description: string;
  expirySeconds: number;
}

/** An invoice of a back end. */
export interface IssuedInvoice {
  /** The BOLT 11 text in lower case. */
  invoice: string;
  /** Known only to a back end that settles invoices itself. */
  preimage?: Uint8Array;
}

export interface PaymentRequest {
  /** The BOLT 11 text in lower case. */
  invoice: string;
  paymentHash: string;
  amountMsat: number;
  /** The most that may be paid on top; the back end must not exceed it. */
  maxFeeMsat: number;
  /** How long the caller waits. The payment itself may go on for longer. */
  timeoutMs: number;
  /** Identifies the payment, where the back end can tell a repetition from a new payment. */
  idempotencyKey: string;
  /** Aborted when the daemon stops; the payment's state is then looked up at the next start. */
  signal: AbortSignal;
}

/** A way to receive and send payments over Lightning. Amounts in millisatoshis. */
export interface LightningBackend {
  readonly name: BackendName;
  /** The network whose invoices it issues and pays. */
  readonly network: InvoiceNetwork;
  /** Whether it reaches other hosts; otherwise only invoices of this host's wallets can be paid. */
  readonly isConnected: boolean;
  /** Fails if the back end cannot be reached; the message is for the owner of the host. */
  check(signal: AbortSignal): Promise<{ nodeId: string | null; balanceMsat: number | null }>;
  createInvoice(request: InvoiceRequest): Promise<IssuedInvoice>;
  /** May reject: the caller counts that as pending. */
  pay(request: PaymentRequest): Promise<PaymentOutcome>;
  /** May reject: the caller counts that as pending. */
  lookUpPayment(paymentHash: string, signal: AbortSignal): Promise<PaymentOutcome>;
  /** What was received for an invoice; undefined if nothing was yet. */
  lookUpInvoice(paymentHash: string, signal: AbortSignal): Promise<{ receivedMsat: number } | undefined>;
  /**
   * Makes an invoice unpayable from outside, before it is settled within the host. Returns false if that is not certain;
   * the invoice is then not settled within the host. A back end without it settles no invoices within the host.
   */
  cancelInvoice?(paymentHash: string, signal: AbortSignal): Promise<boolean>;
}
