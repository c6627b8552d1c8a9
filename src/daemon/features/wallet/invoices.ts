import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import type { MakeId } from '../../../shared/ids.ts';
import type { Caller } from '../../base/handler.ts';
import type { Log } from '../../base/log.ts';
import { timeLimit, type World } from '../../base/world.ts';
import { BackendFailure, type LightningBackend, loadBolt11 } from '../lightning/index.ts';
import type { DataSealer } from '../vault/index.ts';
import { toApiError } from './backend-error.ts';
import type { InvoiceRecord, ItemPage, WalletRecord, WalletStore } from './store.ts';
import { type Requester, requesterOf, type UnpaidInvoices } from './unpaid-invoices.ts';
import type { WalletMarks } from './wallet-marks.ts';
import type { Wallets } from './wallets.ts';

export interface InvoicesDeps {
  store: WalletStore;
  wallets: Pick<Wallets, 'of' | 'required'>;
  backend: () => LightningBackend;
  sealer: DataSealer;
  marks: Pick<WalletMarks, 'markOf' | 'preimageFor'>;
  unpaid: Pick<UnpaidInvoices, 'within'>;
  /** Called once an invoice was paid over Lightning, and that is on disk. */
  onPaid?: (invoice: InvoiceRecord) => Promise<void>;
  makeId: MakeId;
  world: Pick<World, 'now' | 'sleep'>;
  /** The clock, without a time that may be wrong. */
  sure: () => number;
  /** Called once a wallet's events are on disk. */
  announce: (wallet: Pick<WalletRecord, 'workspaceId'>) => void;
  log: Pick<Log, 'warn'>;
}

const defaultExpirySeconds = 3600;
const lookUpTimeoutMs = 5_000;
/** BOLT 11 limits descriptions to 639 bytes; the contract counts characters. */
const descriptionBytesMax = 600;

/** Invoices of wallets. */
export function createInvoices(deps: InvoicesDeps) {
  const { store } = deps;
  return {
    /**
     * Fails with `invalid_request` without a wallet, with `rate_limited` for an agent with too many unpaid invoices, and
     * with `unavailable` if the back end cannot issue one.
     */
    async create(
      caller: Caller,
      { amountSats, description = '' }: { amountSats: number; description?: string | undefined },
    ): Promise<InvoiceRecord> {
      wellFormed(description, 'description');
      if (Buffer.byteLength(description) > descriptionBytesMax)
        throw inputFault('description', 'is too long');
      const requester = requesterOf(caller);
      const wallet = await deps.wallets.required(caller);
      return await issue(deps, wallet, { amountSats, description, ...(requester && { requester }) });
    },

    /** The millisatoshis that were received for an invoice; undefined if it is not paid. Asks the back end if necessary. */
    async receivedFor(paymentHash: string): Promise<number | undefined> {
      const invoice = await store.invoiceByHash(paymentHash);
      const backend = deps.backend();
      if (invoice?.state !== 'open' || invoice.backend !== backend.name)
        return invoice?.received ?? undefined;
      const limit = timeLimit(deps.world, lookUpTimeoutMs);
      await collectOne(deps, backend, invoice, limit.signal).finally(limit.clear);
      return (await store.invoice(invoice.id))?.received ?? undefined;
    },

    /**
     * An invoice for a wallet, such as that of a seller. Fails with `rate_limited` if its requester has too many that are
     * not paid, and with `unavailable` if the back end cannot issue one.
     */
    issue: (wallet: WalletRecord, terms: InvoiceTerms): Promise<InvoiceRecord> => issue(deps, wallet, terms),

    async list(caller: Caller, page: ItemPage): Promise<InvoiceRecord[]> {
      const wallet = await deps.wallets.of(caller);
      return wallet ? await store.invoices(wallet.id, page) : [];
    },

    /** Fails with `not_found` for another wallet's invoice, too. */
    async get(caller: Caller, id: string): Promise<InvoiceRecord> {
      const wallet = await deps.wallets.of(caller);
      const invoice = await store.invoice(id);
      if (wallet && invoice?.walletId === wallet.id) return invoice;
      throw new ApiError('not_found', { param: 'invoiceId' });
    },

    /**
     * Credits what the back end received for open invoices, and announces it. An invoice that cannot be looked up is
     * looked up again the next time.
     */
    async collect(signal: AbortSignal): Promise<void> {
      const backend = deps.backend();
      for (let after: string | undefined; !signal.aborted; ) {
        const page = await store.openInvoices({ backend: backend.name, after, limit: pageSize });
        for (const invoice of page) await collectOne(deps, backend, invoice, signal);
        if (page.length < pageSize) return;
        after = page.at(-1)?.id;
      }
    },
  };
}

export type Invoices = ReturnType<typeof createInvoices>;

const pageSize = 100;
/** A payment may be under way when its invoice expires. */
export const lapseGraceMs = 60 * 60 * 1000;

async function collectOne(
  { store, world, sure, log, announce, onPaid }: InvoicesDeps,
  backend: LightningBackend,
  { id, walletId, paymentHash, expiresAt, amount }: InvoiceRecord,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  // An invoice that lapses while the clock is wrong would not be looked up when it is paid.
  const lookedUpAt = sure();
  try {
    const found = await backend.lookUpInvoice(paymentHash, signal);
    if (found !== undefined) {
      if (found.receivedMsat === null)
        log.warn(
          { invoice: id, amount },
          'the back end does not say what it received; its whole amount counts',
        );
      const received = found.receivedMsat ?? amount;
      const paid = await store.receive({ id, received, at: world.now() });
      const wallet = paid && (await store.find(walletId));
      if (wallet) announce(wallet);
      // An internal payment of it was reported when it was made.
      if (paid?.received === received) await onPaid?.(paid);
    } else if (expiresAt + lapseGraceMs <= lookedUpAt) {
      await store.lapse({ id, at: lookedUpAt });
    }
  } catch (error) {
    if (!signal.aborted) log.warn({ err: error, invoice: id }, 'an invoice could not be looked up');
  }
}

export interface InvoiceTerms {
  amountSats: number;
  description: string;
  /** As in `InvoiceRequest`. */
  descriptionHash?: string;
  /** Default: an hour. */
  expirySeconds?: number;
  /** Set if it is for someone without an account. */
  requester?: Requester;
}

function issue(
  deps: InvoicesDeps,
  wallet: WalletRecord,
  { requester, ...terms }: InvoiceTerms,
): Promise<InvoiceRecord> {
  const make = () => issueNow(deps, wallet, terms);
  return requester ? deps.unpaid.within(requester, make) : make();
}

/** Has the back end issue an invoice, checks it, and stores it with its sealed preimage. */
async function issueNow(
  { store, backend: current, sealer, marks, makeId, world }: InvoicesDeps,
  wallet: WalletRecord,
  { amountSats, description, descriptionHash, expirySeconds = defaultExpirySeconds }: InvoiceTerms,
): Promise<InvoiceRecord> {
  const backend = current();
  const amountMsat = amountSats * 1000;
  const request = {
    walletId: wallet.id,
    amountMsat,
    description,
    expirySeconds,
    mark: marks.markOf(wallet),
    preimage: marks.preimageFor(wallet),
    ...(descriptionHash !== undefined && { descriptionHash }),
  };
  const { invoice, preimage } = await backend.createInvoice(request).catch((error: unknown) => {
    throw toApiError(error);
  });
  const { decodeInvoice } = await loadBolt11();
  const decoded = decodeInvoice(invoice);
  if (decoded.amountMsat !== amountMsat || decoded.network !== backend.network) {
    throw toApiError(
      new BackendFailure(
        'rejected',
        'The node issued an invoice with another amount or network than requested.',
      ),
    );
  }
  const { paymentHash } = decoded;
  const record = {
    id: makeId('inv'),
    walletId: wallet.id,
    paymentHash,
    invoice,
    amount: amountMsat,
    description,
    backend: backend.name,
    createdAt: world.now(),
    expiresAt: (decoded.timestamp + decoded.expirySeconds) * 1000,
  };
  await store.addInvoice({
    ...record,
    preimage: preimage === undefined ? null : sealer.seal(preimage, preimageOf(paymentHash)),
  });
  preimage?.fill(0);
  return { ...record, state: 'open', received: null, paidAt: null };
}

/** The context that a sealed preimage is bound to. */
export function preimageOf(paymentHash: string): string {
  return `preimage|${paymentHash}`;
}
