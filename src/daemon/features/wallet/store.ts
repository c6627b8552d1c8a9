import type { LightningNetwork } from '../../../shared/payments/wallet-backends.ts';
import type { BackendName, PaymentFailure } from '../lightning/index.ts';
import type { SealedSecret } from '../vault/index.ts';

/** A wallet. Times are milliseconds since 1970, amounts millisatoshis. */
export interface WalletRecord {
  id: string;
  /** The user or agent whose wallet it is. */
  ownerId: string;
  /** The workspace in which its events appear. */
  workspaceId: string;
  /** The public key that signs its invoices, in hexadecimal. */
  nodeId: string;
  /** Where the money is that it may spend: it pays and is paid only there. */
  backend: BackendName;
  network: LightningNetwork;
  createdAt: number;
}

/** A back end and its network. */
export type WalletBook = Pick<WalletRecord, 'backend' | 'network'>;

export interface WalletBalance {
  /** The balance that can be spent. */
  available: number;
  /** Reserved for pending payments and their fees. */
  pending: number;
}

export interface InvoiceRecord {
  id: string;
  walletId: string;
  /** In hexadecimal. */
  paymentHash: string;
  /** The BOLT 11 text in lower case. */
  invoice: string;
  amount: number;
  description: string;
  backend: BackendName;
  state: 'open' | 'paid';
  /** The amount received; null until it is paid. */
  received: number | null;
  createdAt: number;
  expiresAt: number;
  paidAt: number | null;
}

/** `preimage` is sealed; null if the back end has it. */
export type NewInvoice = Omit<InvoiceRecord, 'state' | 'received' | 'paidAt'> & { preimage: string | null };

export interface PaymentRecord {
  id: string;
  walletId: string;
  paymentHash: string;
  /** The BOLT 11 text in lower case. */
  invoice: string;
  amount: number;
  /** The most that may be paid in fees. */
  feeLimit: number;
  /** Null until it succeeded. */
  fee: number | null;
  /** The payee's node id. */
  payee: string;
  description: string | null;
  /** Whom the caller says it pays. */
  host: string | null;
  /** `embedded` if it was settled within the host. */
  backend: BackendName;
  state: 'pending' | 'succeeded' | 'failed';
  failure: PaymentFailure | null;
  /** Sealed; null until it succeeded, and if its success was declared without a proof. */
  preimage: string | null;
  /** The owner of the host who declared how it ended; null if the back end reported it. */
  resolvedBy: string | null;
  /** The name of the budget that it counts against. */
  budget: string | null;
  createdAt: number;
  /** When the invoice expires. */
  expiresAt: number;
  settledAt: number | null;
}

/** The most that a wallet may pay within a budget, in amounts and fees of payments since a time that did not fail. */
export interface PaymentBudget {
  name: string;
  since: number;
  max: number;
}

export interface NewPayment
  extends Omit<
    PaymentRecord,
    'fee' | 'state' | 'failure' | 'preimage' | 'settledAt' | 'budget' | 'resolvedBy'
  > {
  budget?: PaymentBudget;
}

/** Why no payment was recorded. `taken`: another payment of the invoice is pending or succeeded. */
export type PaymentRefusal =
  | { refused: 'insufficient'; available: number }
  | { refused: 'budget'; left: number }
  | { refused: 'taken'; payment: Pick<PaymentRecord, 'id' | 'walletId' | 'state'> }
  | { refused: 'expired' | 'unknown-invoice' | 'unreconciled' };

/**
 * The comparison of the wallets of a back end with their node, after a backup of an earlier time was restored. Until it has
 * ended, the wallets pay nothing and are not funded.
 */
export interface ReconciliationRecord extends WalletBook {
  /** What the node did since then may be unknown here. */
  since: number;
  openedAt: number;
  endedAt: number | null;
  /** The owner of the host who accepted the difference that was left; null if there was none. */
  acceptedBy: string | null;
}

/** A payment that the node made, and the wallet that made it. `preimage` is sealed. */
export interface BookedPayment
  extends Pick<
    PaymentRecord,
    | 'id'
    | 'walletId'
    | 'paymentHash'
    | 'invoice'
    | 'amount'
    | 'payee'
    | 'description'
    | 'backend'
    | 'createdAt'
    | 'expiresAt'
  > {
  fee: number;
  preimage: string;
  /** Set if the node says whose it was: what the wallet lacks is then taken from what no wallet holds, as `depositId`. */
  mayFallShort: boolean;
  depositId: string;
}

/** A receipt of the node, and the wallet whose invoice it was for. */
export type BookedReceipt = NewInvoice & { received: number };

export interface MovesToBook extends WalletBook {
  /** Of the reconciliation. */
  openedAt: number;
  /** What the node has; null if it does not say. */
  held: number | null;
  /** Oldest first, like the payments. */
  receipts: readonly BookedReceipt[];
  payments: readonly BookedPayment[];
  at: number;
}

/**
 * What became of each receipt and payment that was not known, by id. `held-back`: the wallets would hold more than the node has, or the wallet lacks the
 * money.
 */
export type BookedStates = Record<string, 'booked' | 'held-back'>;

/** How a pending payment ended. */
export type Settlement = { id: string; at: number; resolvedBy?: string } & (
  | { state: 'succeeded'; fee: number; preimage: string | null }
  | { state: 'failed'; failure: PaymentFailure }
);

export interface ItemPage {
  limit: number;
  /** Only items with lower ids. */
  before: string | undefined;
}

/** Each method is one transaction. */
export interface WalletStore {
  /**
   * Stores a wallet and its phrase. `replaces` is the owner's current wallet, if another is to take its place. If the owner
   * had the wallet of this phrase before, that one is used again, with its payments and invoices. Returns the wallet, or
   * without a change `stale` if the secret was sealed with an outdated master key or the current wallet is another one,
   * `in-use` if the wallet to replace holds money or awaits some, and `other-owner` if the phrase is another owner's.
   */
  create(
    wallet: WalletRecord,
    secret: SealedSecret,
    replaces: string | undefined,
  ): Promise<WalletRecord | 'stale' | 'in-use' | 'other-owner'>;
  /** The current wallet of a user or agent at a back end. */
  ofOwner(ownerId: string, book: WalletBook): Promise<WalletRecord | undefined>;
  find(id: string): Promise<WalletRecord | undefined>;
  balance(id: string): Promise<WalletBalance>;
  /** Adds play money. Returns false without a change if the balance would exceed `max`. */
  deposit(deposit: {
    id: string;
    walletId: string;
    amount: number;
    max: number;
    at: number;
  }): Promise<boolean>;

  /** The sum of all balances at a back end, pending payments included. */
  owed(book: WalletBook): Promise<number>;
  /**
   * Adds money of the wallet's back end, of which it has `held`. Returns what no wallet holds, without a change, if that
   * is less, and `unreconciled` if the wallets await that they are compared with the node.
   */
  fund(deposit: {
    id: string;
    walletId: string;
    amount: number;
    held: number;
    at: number;
  }): Promise<'funded' | 'unreconciled' | { unassigned: number }>;

  /** The node that holds the money of a back end's wallets. */
  trustedNode(book: WalletBook): Promise<string | undefined>;
  /** Replaces it; `replaces` is the current one. Returns false without a change if that is another one. */
  trustNode(
    node: WalletBook & { nodeId: string; replaces: string | undefined; at: number },
  ): Promise<boolean>;

  /** All wallets of a back end, those that others have replaced included. */
  walletsOf(book: WalletBook): Promise<WalletRecord[]>;
  reconciliation(book: WalletBook): Promise<ReconciliationRecord | undefined>;
  /** Lets the wallets of a back end await a comparison; one that has not ended keeps its earlier time. */
  openReconciliation(opening: WalletBook & { since: number; at: number }): Promise<void>;
  /**
   * Books what the node received and paid, unless it is known, and as long as the wallets hold no more than the node has.
   * Changes nothing if the reconciliation has ended.
   */
  bookMoves(moves: MovesToBook): Promise<BookedStates>;
  /** Returns false without a change if it has ended, or another one was opened. */
  endReconciliation(
    end: WalletBook & Pick<ReconciliationRecord, 'openedAt' | 'acceptedBy'> & { at: number },
  ): Promise<boolean>;

  addInvoice(invoice: NewInvoice): Promise<void>;
  invoice(id: string): Promise<InvoiceRecord | undefined>;
  invoiceByHash(paymentHash: string): Promise<InvoiceRecord | undefined>;
  /** Newest first. */
  invoices(walletId: string, page: ItemPage): Promise<InvoiceRecord[]>;
  /**
   * Invoices of a back end for which it may still receive money, oldest first, after the one with the id `after`: open ones
   * that have not lapsed, and those that were settled within the host but not cancelled at the back end.
   */
  openInvoices(options: {
    backend: BackendName;
    after: string | undefined;
    limit: number;
  }): Promise<InvoiceRecord[]>;
  /** Ends looking up an invoice: it expired, and nothing was received. */
  lapse(invoice: { id: string; at: number }): Promise<void>;
  /**
   * Credits what the back end received for an open invoice, or in addition for one that was settled within the host.
   * Returns undefined if it was credited before.
   */
  receive(invoice: { id: string; received: number; at: number }): Promise<InvoiceRecord | undefined>;

  /** The rest of a wallet's budget. */
  leftOfBudget(walletId: string, budget: PaymentBudget): Promise<number>;
  /**
   * Pays an invoice of this host: moves the amount between the wallets, marks the invoice as paid and copies its sealed
   * preimage to the payment. `revealed` is the sealed preimage of an invoice that the back end did not cancel.
   */
  payInternally(payment: NewPayment, revealed?: string): Promise<PaymentRecord | PaymentRefusal>;
  /** Records a pending payment and reserves its amount and fee limit. */
  startPayment(payment: NewPayment): Promise<PaymentRecord | PaymentRefusal>;
  /** Settles a pending payment and returns unused money. Returns undefined if it is not pending any more. */
  settlePayment(settlement: Settlement): Promise<PaymentRecord | undefined>;
  payment(id: string): Promise<PaymentRecord | undefined>;
  /** The pending or succeeded payment of a hash. */
  paymentByHash(paymentHash: string): Promise<PaymentRecord | undefined>;
  /** Newest first. */
  payments(walletId: string, page: ItemPage): Promise<PaymentRecord[]>;
  /** Pending payments at a back end whose invoices expired before a time, oldest first. */
  overduePayments(options: {
    backend: BackendName;
    expiredBefore: number;
    limit: number;
  }): Promise<PaymentRecord[]>;
  /** Makes the pending payments of a daemon that is gone those of this one. */
  adoptPayments(daemon: number): Promise<void>;
  /** The payments that this daemon follows up, oldest first, after the one with the id `after`. */
  pendingPayments(options: { after: string | undefined; limit: number }): Promise<PaymentRecord[]>;
}
