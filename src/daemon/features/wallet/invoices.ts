import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { inputFault, wellFormed } from '../../../shared/input-faults.ts';
import type { Caller } from '../../handler.ts';
import type { World } from '../../world.ts';
import { type LightningBackend, loadBolt11 } from '../lightning/index.ts';
import type { DataSealer } from '../vault/index.ts';
import type { InvoiceRecord, ItemPage, WalletRecord, WalletStore } from './store.ts';
import type { Wallets } from './wallets.ts';

export interface InvoicesDeps {
  store: WalletStore;
  wallets: Pick<Wallets, 'of' | 'required'>;
  backend: LightningBackend;
  sealer: DataSealer;
  makeId: MakeId;
  world: Pick<World, 'now'>;
}

const expirySeconds = 3600;
/** BOLT 11 limits descriptions to 639 bytes; the contract counts characters. */
const descriptionBytesMax = 600;

/** Invoices of wallets. */
export function invoices(deps: InvoicesDeps) {
  const { store, backend } = deps;
  return {
    /** Fails with `invalid_request` without a wallet, and with `unavailable` if the back end cannot issue an invoice. */
    async create(
      caller: Caller,
      { amountSats, description = '' }: { amountSats: number; description?: string | undefined },
    ): Promise<InvoiceRecord> {
      wellFormed(description, 'description');
      if (Buffer.byteLength(description) > descriptionBytesMax)
        throw inputFault('description', 'is too long');
      return await issue(deps, await deps.wallets.required(caller), {
        amountMsat: amountSats * 1000,
        description,
      });
    },

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

    /** Credits what the back end received for open invoices. Returns the invoices that were paid. */
    async collect({ since, limit, signal }: { since: number; limit: number; signal: AbortSignal }) {
      const paid: InvoiceRecord[] = [];
      for (const invoice of await store.openInvoices({ backend: backend.name, since, limit })) {
        const found = await backend.lookUpInvoice(invoice.paymentHash, signal);
        if (found === undefined || found.receivedMsat <= 0) continue;
        const { id } = invoice;
        const record = await store.receive({ id, received: found.receivedMsat, at: deps.world.now() });
        if (record) paid.push(record);
      }
      return paid;
    },
  };
}

export type Invoices = ReturnType<typeof invoices>;

interface Terms {
  amountMsat: number;
  description: string;
}

/** Has the back end issue an invoice, checks it, and stores it with its sealed preimage. */
async function issue(
  { store, backend, sealer, makeId, world }: InvoicesDeps,
  wallet: WalletRecord,
  { amountMsat, description }: Terms,
): Promise<InvoiceRecord> {
  const request = { walletId: wallet.id, amountMsat, description, expirySeconds };
  const { invoice, preimage } = await backend.createInvoice(request);
  const { decodeInvoice } = await loadBolt11();
  const decoded = decodeInvoice(invoice);
  if (decoded.amountMsat !== amountMsat || decoded.network !== backend.network) {
    throw new Error('the Lightning back end issued another invoice than was requested');
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

/** What a sealed preimage is bound to. */
export function preimageOf(paymentHash: string): string {
  return `preimage|${paymentHash}`;
}
