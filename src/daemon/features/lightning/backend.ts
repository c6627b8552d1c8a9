import type { LightningNetwork } from '../../../shared/payments/wallet-backends.ts';

/** A kind of back end, as the configuration names it. Stored ones may be of a later version. */
export type BackendName = 'embedded' | (string & {});

/**
 * What is known of a payment. `failed` only if the back end says that the payment failed for good and will not be
 * retried; everything else that is not a success, including each exception and unknown state, is `pending`.
 */
export type PaymentOutcome =
  /** `feeMsat`: null if the back end states a fee that cannot be read. */
  | { state: 'succeeded'; preimage: Uint8Array; feeMsat: number | null }
  /** `startedAt`: when the attempt that failed began, if the back end says so. Milliseconds since 1970. */
  | { state: 'failed'; reason: PaymentFailure; startedAt?: number }
  /** `isUnknown`: the back end has no record of the payment. */
  | { state: 'pending'; isUnknown?: true };

/** Why a payment failed. */
export type PaymentFailure =
  | 'no_route'
  | 'timeout'
  | 'insufficient_balance'
  | 'expired'
  | 'rejected'
  | 'failed';

export interface InvoiceRequest {
  walletId: string;
  amountMsat: number;
  description: string;
  /** In hexadecimal: a SHA-256 for the invoice to contain in place of the description, if the back end can do that. */
  descriptionHash?: string;
  expirySeconds: number;
  /** Whose it is, for the history of a back end that can keep that without showing it to the payer. */
  mark?: string;
  /** 32 bytes, for a back end that lets its callers choose the preimage. */
  preimage?: Uint8Array;
}

/** An invoice of a back end. */
export interface IssuedInvoice {
  /** The BOLT 11 text in lower case. */
  invoice: string;
  /** Known only to a back end that settles invoices itself, or lets its callers choose it. */
  preimage?: Uint8Array;
}

export interface PaymentRequest {
  /** The BOLT 11 text in lower case. */
  invoice: string;
  paymentHash: string;
  amountMsat: number;
  /** The most that may be paid on top; the back end must not exceed it. */
  maxFeeMsat: number;
  /** Identifies the payment, where the back end can tell a repetition from a new payment. */
  idempotencyKey: string;
  /** As in `InvoiceRequest`. */
  mark?: string;
  /** Aborted when the daemon stops; the payment's state is then looked up at the next start. */
  signal: AbortSignal;
}

/** An invoice that was paid. */
export interface InvoicePayment {
  /** Null if the back end does not say how much it received. */
  receivedMsat: number | null;
}

/** A back end's description of itself. */
export interface BackendInfo {
  /** The public key of the node, in hexadecimal; null if it does not report it. */
  nodeId: string | null;
  /** Null if it does not report it. */
  network: LightningNetwork | null;
  /** The amount that it can send; null if it does not report it. */
  balanceMsat: number | null;
  /** Why it cannot pay or be paid now, in sentences for the owner of the host; empty if it can. */
  problems: string[];
}

/** Money that a node received or paid. Amounts in millisatoshis. */
export interface NodeMove {
  kind: 'receipt' | 'payment';
  paymentHash: string;
  /** What was received, or paid without fees; null if it cannot be read. */
  amountMsat: number | null;
  /** Null if it cannot be read. */
  feeMsat: number | null;
  /** Milliseconds since 1970. */
  at: number;
  /** Set while a payment may still succeed or fail. */
  isPending?: true;
  preimage?: Uint8Array;
  /** The BOLT 11 text in lower case, if the node keeps it. */
  invoice?: string;
  /** What it was marked with, if the node keeps that. */
  mark?: string;
}

/** A way to receive and send payments over Lightning. Amounts in millisatoshis. */
export interface LightningBackend {
  readonly name: BackendName;
  /** The network whose invoices it issues and pays. */
  readonly network: LightningNetwork;
  /**
   * Set if it may have no record of a payment that it sent: that it knows none then proves nothing, and only a person can
   * end the payment.
   */
  readonly mayForget?: true;
  /** Whether it reaches other hosts; otherwise only invoices of this host's wallets can be paid. */
  readonly isConnected: boolean;
  /** The public key of the node, in hexadecimal; null if it does not report it. Fails like `check`. */
  nodeId(signal: AbortSignal): Promise<string | null>;
  /** Fails with a BackendFailure, or with `unavailable` if its secret cannot be read. */
  check(signal: AbortSignal): Promise<BackendInfo>;
  /**
   * Returns when a payment can be sent. Fails like `check`: nothing has been sent then, and the payment need not be
   * recorded.
   */
  prepare(signal: AbortSignal): Promise<void>;
  /** Fails like `check`. */
  createInvoice(request: InvoiceRequest): Promise<IssuedInvoice>;
  /**
   * Resolves when the payment ended, or the back end gave up waiting for it; callers may stop waiting sooner. May reject:
   * the caller counts that as pending.
   */
  pay(request: PaymentRequest): Promise<PaymentOutcome>;
  /** May reject: the caller counts that as pending. */
  lookUpPayment(paymentHash: string, signal: AbortSignal): Promise<PaymentOutcome>;
  /**
   * What was received for an invoice, with an amount of null if it cannot be read; undefined if it is not paid yet. May reject:
   * the caller retries.
   */
  lookUpInvoice(paymentHash: string, signal: AbortSignal): Promise<InvoicePayment | undefined>;
  /**
   * Makes an invoice unpayable from outside, before it is settled within the host. Returns false if that is not certain;
   * the invoice is then not settled within the host. A back end with neither this nor `revealPreimage` settles no invoices
   * within the host.
   */
  cancelInvoice?(paymentHash: string, signal: AbortSignal): Promise<boolean>;
  /**
   * The proof of an invoice that this back end issued, for one that cannot cancel invoices: others can still pay it after it
   * was settled within the host. Undefined if it was paid, or is not known. Fails like `check`.
   */
  revealPreimage?(paymentHash: string, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /**
   * What the node received and paid since a time, in milliseconds since 1970, including payments that have not ended; it may
   * begin earlier. With `mayForget`, payments may be missing. Fails like `check`.
   */
  history?(since: number, signal: AbortSignal): Promise<NodeMove[]>;
  /** Set if it cannot pay an invoice that it issued. */
  readonly cannotPayItself?: true;
  /** The fee for an amount, where the back end has its own price and takes no limit. */
  ownFeeMsat?(amountMsat: number): number;
  /** Ends its connections. */
  close?(): Promise<void>;
}

export type BackendFailureKind =
  /** No answer, or none that can be read. */
  | 'unreachable'
  /** The secret is wrong, or permits too little. */
  | 'unauthorized'
  /** The node answers, but does not work yet: its wallet is locked, or it is starting. */
  | 'not-ready'
  /** The node understood and refused. */
  | 'rejected'
  /** Another node answers than the one that holds the money of the wallets. */
  | 'other-node';

/** Why a back end did not do what it was asked to. `message` is a sentence for the owner of the host, without secrets. */
export class BackendFailure extends Error {
  readonly kind: BackendFailureKind;

  constructor(kind: BackendFailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'BackendFailure';
    this.kind = kind;
  }
}
