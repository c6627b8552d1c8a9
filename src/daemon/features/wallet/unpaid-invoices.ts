import { ApiError } from '../../../shared/errors.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { Caller } from '../../base/handler.ts';
import type { World } from '../../base/world.ts';
import type { InvoiceRecord, WalletStore } from './store.ts';

/** Someone who gets invoices without an account on the host. */
export interface Requester {
  kind: keyof typeof unpaidMax;
  /** The id of the agent, or the network of the address. */
  id: string;
}

/** How many unpaid invoices one requester has at a time. */
const unpaidMax = { agent: 20, address: 100 } as const;

/** The requester that a caller is; undefined for one with an account. */
export function requesterOf(caller: Caller): Requester | undefined {
  return caller.kind === 'agent' ? { kind: 'agent', id: caller.agentId } : undefined;
}

/** How often the invoices of a requester who has too many are looked up, in milliseconds. */
const lookUpEveryMs = 1000;
const lookUpsKept = 10_000;

interface UnpaidInvoicesDeps {
  world: Pick<World, 'now'>;
  store: Pick<WalletStore, 'invoiceByHash'>;
  /** How long after its expiry the node is asked about an invoice, in milliseconds. */
  graceMs: number;
}

type Issued = Pick<InvoiceRecord, 'paymentHash' | 'expiresAt'>;

/**
 * Bounds the unpaid invoices of requesters: the node is asked about each one until it is paid or lapses, so that hundreds
 * of them would delay the payments of everyone.
 */
export class UnpaidInvoices {
  readonly #world: Pick<World, 'now'>;
  readonly #store: Pick<WalletStore, 'invoiceByHash'>;
  /** How long after its expiry the node is asked about an invoice, in milliseconds. */
  readonly #graceMs: number;
  /** When each invoice lapses, by requester and payment hash; those that are being issued have a symbol and no end. */
  readonly #unpaid = new Map<string, Map<string | symbol, number>>();
  /** Requesters by payment hash, oldest invoice first. */
  readonly #requesters = new Map<string, string>();
  /** When the invoices of those who had too many were looked up last. */
  readonly #lookedUp = new RecentMap<string, number>(lookUpsKept);

  constructor({ world, store, graceMs }: UnpaidInvoicesDeps) {
    this.#world = world;
    this.#store = store;
    this.#graceMs = graceMs;
  }

  /** Issues an invoice. Fails with `rate_limited` if the requester has too many that are not paid. */
  async within<I extends Issued>({ kind, id }: Requester, issue: () => Promise<I>): Promise<I> {
    this.#forgetLapsed();
    const requester = `${kind} ${id}`;
    if (this.#of(requester).size >= unpaidMax[kind]) await this.#forgetPaid(requester);
    const unpaid = this.#of(requester);
    if (unpaid.size >= unpaidMax[kind]) throw this.#tooMany(kind, unpaid);
    const issuing = Symbol('an invoice that is being issued');
    this.#unpaid.set(requester, unpaid.set(issuing, Number.POSITIVE_INFINITY));
    try {
      const issued = await issue();
      unpaid.set(issued.paymentHash, issued.expiresAt + this.#graceMs);
      this.#requesters.set(issued.paymentHash, requester);
      return issued;
    } finally {
      this.#remove(requester, issuing);
    }
  }

  /** To be called when an invoice was paid. */
  paid({ paymentHash }: Pick<InvoiceRecord, 'paymentHash'>): void {
    const requester = this.#requesters.get(paymentHash);
    if (requester === undefined) return;
    this.#requesters.delete(paymentHash);
    this.#remove(requester, paymentHash);
  }

  /** Another daemon may have learnt that some were paid. */
  async #forgetPaid(requester: string): Promise<void> {
    const now = this.#world.now();
    const lookedUpAt = this.#lookedUp.get(requester);
    if (lookedUpAt !== undefined && now < lookedUpAt + lookUpEveryMs) return;
    this.#lookedUp.set(requester, now);
    const hashes = [...(this.#unpaid.get(requester)?.keys() ?? [])].filter(
      (each) => typeof each === 'string',
    );
    await Promise.all(
      hashes.map(async (paymentHash) => {
        const invoice = await this.#store.invoiceByHash(paymentHash);
        if (invoice?.state === 'paid') this.paid(invoice);
      }),
    );
  }

  /** The unpaid invoices of a requester, without those that lapsed. */
  #of(requester: string): Map<string | symbol, number> {
    const unpaid = this.#unpaid.get(requester) ?? new Map<string | symbol, number>();
    const now = this.#world.now();
    for (const [invoice, until] of unpaid) if (until <= now) unpaid.delete(invoice);
    return unpaid;
  }

  /** Requesters may never come back, so the oldest invoices of all are forgotten, too. */
  #forgetLapsed(): void {
    const now = this.#world.now();
    for (const [paymentHash, requester] of this.#requesters) {
      const until = this.#unpaid.get(requester)?.get(paymentHash);
      if (until !== undefined && until > now) return;
      this.#requesters.delete(paymentHash);
      this.#remove(requester, paymentHash);
    }
  }

  #remove(requester: string, invoice: string | symbol): void {
    const unpaid = this.#unpaid.get(requester);
    unpaid?.delete(invoice);
    if (unpaid?.size === 0) this.#unpaid.delete(requester);
  }

  #tooMany(kind: Requester['kind'], unpaid: ReadonlyMap<string | symbol, number>): ApiError {
    const next = Math.min(...unpaid.values());
    const waitMs = Number.isFinite(next) ? next - this.#world.now() : 0;
    return new ApiError('rate_limited', {
      message: `Pay one of your invoices first: ${unpaidMax[kind]} are unpaid, and an ${kind} cannot have more at a time.`,
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    });
  }
}
