import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import {
  BackendFailure,
  type Invoice,
  isPreimageOf,
  type LightningBackend,
  loadBolt11,
  type NodeMove,
} from '../lightning/index.ts';
import type { DataSealer } from '../vault/index.ts';
import { formatMsat } from './amounts.ts';
import type { Invoices } from './invoices.ts';
import { preimageOf } from './invoices.ts';
import type { Payments } from './payments.ts';
import type {
  BookedPayment,
  BookedReceipt,
  ReconciliationRecord,
  WalletBook,
  WalletRecord,
  WalletStore,
} from './store.ts';
import type { WalletMarks } from './wallet-marks.ts';

export interface ReconciliationDeps {
  store: WalletStore;
  backend: () => LightningBackend;
  payments: Pick<Payments, 'followUp'>;
  invoices: Pick<Invoices, 'collect'>;
  sealer: DataSealer;
  marks: Pick<WalletMarks, 'finderIn'>;
  makeId: MakeId;
  world: Pick<World, 'now'>;
  /** Called once a wallet's events are on disk. */
  announce: (wallet: Pick<WalletRecord, 'workspaceId'>) => void;
  log: Pick<Log, 'warn'>;
}

/** A payment or receipt of the node that is in no wallet, and why. */
export interface Unexplained extends Pick<NodeMove, 'kind' | 'paymentHash' | 'at'> {
  amountMsat: number;
  feeMsat: number;
  /**
   * `unknown_wallet`: the node does not say whose it is; `in_flight`: it has not ended; `not_covered`: the wallet lacks the
   * money, or the wallets would hold more than the node has.
   */
  reason: 'unknown_wallet' | 'in_flight' | 'not_covered';
  wallet: WalletRecord | undefined;
  /** The node that was paid, in hexadecimal, and what for, if its invoice is known. */
  payee: string | null;
  description: string | null;
}

/** How far the comparison of the wallets with their node is. */
export interface ReconciliationReport extends WalletBook {
  /** Undefined if no backup was restored. */
  record: ReconciliationRecord | undefined;
  /** Why the node's history is not known, or says not enough, as sentences. */
  problems: string[];
  /** Payments first; receipts that no wallet claims keep nothing from ending. */
  unexplained: Unexplained[];
  /** What was booked for this report. */
  booked: { payments: number; receipts: number };
  /** What the node has; null if it is not known. */
  held: number | null;
  owed: number;
}

export interface ReconcileRequest {
  /** Compares again, from this time on, in milliseconds since 1970. */
  since?: number | undefined;
  /** Wallets by the payment hashes of what they paid or received, according to the owner of the host. */
  assigned?: ReadonlyMap<string, string> | undefined;
  /** The owner of the host who accepts the difference that is left. */
  acceptedBy?: string | undefined;
}

/** Clocks of nodes may differ, and what is known is not booked again. */
const clockMarginMs = 60 * 60 * 1000;

/**
 * Compares wallets with their node after a backup of an earlier time was restored, whose balances lack what was received and
 * paid since. It ends by itself once the node explains everything; otherwise the owner of the host accepts the difference.
 */
export class Reconciliation {
  readonly #deps: ReconciliationDeps;
  #running: Promise<unknown> = Promise.resolve();
  #latest: ReconciliationReport | undefined;

  constructor(deps: ReconciliationDeps) {
    this.#deps = deps;
  }

  /** What keeps the wallets of the configured back end from paying, as sentences for the owner of the host. */
  async problems(): Promise<string[]> {
    const { store, backend } = this.#deps;
    const record = await store.reconciliation(bookOf(backend()));
    if (!record || record.endedAt !== null) return [];
    const latest = this.#latest?.record?.openedAt === record.openedAt ? this.#latest : undefined;
    const payments = latest?.unexplained.filter(blocks) ?? [];
    const sum = payments.reduce((total, { amountMsat, feeMsat }) => total + amountMsat + feeMsat, 0);
    const found = [
      ...(latest?.problems ?? []),
      ...(payments.length > 0
        ? [
            `${payments.length === 1 ? 'A move' : `${payments.length} moves`} of ${formatMsat(sum)} at the node could not be booked.`,
          ]
        : []),
    ];
    return [
      `A backup of ${isoTime(record.since)} was restored, and wallets pay nothing until they are compared with the node: gateway wallet reconcile`,
      ...found,
    ];
  }

  /** Reconciles the wallets of the configured back end, if a backup was restored. Returns whether it was open. */
  async runIfOpen(signal: AbortSignal): Promise<boolean> {
    const { store, backend } = this.#deps;
    const record = await store.reconciliation(bookOf(backend()));
    if (!record || record.endedAt !== null) return false;
    await this.run({}, signal);
    return true;
  }

  /**
   * Reconciles the wallets of the configured back end. Fails with `conflict` if nothing is open that could be assigned or
   * accepted, and with `invalid_request` for a wallet or payment that there is not.
   */
  async run(request: ReconcileRequest, signal: AbortSignal): Promise<ReconciliationReport> {
    const run = this.#running.then(() => this.#run(request, signal));
    this.#running = run.catch(() => {});
    return await run;
  }

  async #run(
    { since, assigned = new Map(), acceptedBy }: ReconcileRequest,
    signal: AbortSignal,
  ): Promise<ReconciliationReport> {
    const { store, world, log } = this.#deps;
    const backend = this.#deps.backend();
    const book = bookOf(backend);
    if (since !== undefined) {
      if (!backend.isConnected)
        throw new ApiError('conflict', { message: 'No Lightning node is connected.' });
      await store.openReconciliation({ ...book, since, at: world.now() });
    }
    const record = await store.reconciliation(book);
    if (!record || record.endedAt !== null) {
      if (assigned.size > 0 || acceptedBy !== undefined)
        throw new ApiError('conflict', { message: 'The wallets are reconciled; there is no difference.' });
      return await this.#report(book, record, nothingFound);
    }
    const found = await this.#compare(record, { backend, assigned, signal });
    const isExplained = found.problems.length === 0 && !found.unexplained.some(blocks);
    if (isExplained || acceptedBy !== undefined) {
      const { openedAt } = record;
      const end = { ...book, openedAt, acceptedBy: isExplained ? null : (acceptedBy ?? null) };
      if (await store.endReconciliation({ ...end, at: world.now() })) {
        const unexplained = found.unexplained.map(({ paymentHash }) => paymentHash);
        log.warn({ ...end, booked: found.booked, unexplained }, 'the wallets are reconciled with the node');
      }
    }
    return await this.#report(book, await store.reconciliation(book), found);
  }

  async #report(
    book: WalletBook,
    record: ReconciliationRecord | undefined,
    found: Found,
  ): Promise<ReconciliationReport> {
    this.#latest = { ...book, record, ...found, owed: await this.#deps.store.owed(book) };
    return this.#latest;
  }

  /** Books what the node says whose it is. Fails only for a wrong request, or if the daemon itself fails. */
  async #compare(record: ReconciliationRecord, { backend, assigned, signal }: Comparison): Promise<Found> {
    const { store, payments, invoices } = this.#deps;
    let moves: NodeMove[];
    let held: number | null;
    try {
      if (!backend.history) throw new BackendFailure('rejected', 'The node does not list what it paid.');
      // What was pending when the backup was made, and what its open invoices received.
      if (backend.isConnected) await Promise.all([payments.followUp(signal), invoices.collect(signal)]);
      moves = await backend.history(Math.max(0, record.since - clockMarginMs), signal);
      // After the history, so that what was received is in both.
      held = (await backend.check(signal)).balanceMsat;
    } catch (error) {
      if (error instanceof BackendFailure || error instanceof ApiError)
        return { ...nothingFound, problems: [error.message] };
      throw error;
    }
    const wallets = await store.walletsOf(record);
    const { readable: unknown, problems } = await this.#unknown(moves);
    requireAssignable(assigned, unknown, wallets);
    const finder = this.#deps.marks.finderIn(wallets);
    const attributed = unknown.map(({ move, invoice }) => {
      const byHand = wallets.find(({ id }) => id === assigned.get(move.paymentHash));
      const wallet = byHand ?? finder(move);
      return { move, invoice, wallet, isByHand: byHand !== undefined };
    });
    const booked = await this.#book(record, { attributed, held, backend });
    const unexplained = attributed
      .filter((each) => !booked.has(each))
      .map(({ move, invoice, wallet }): Unexplained => {
        const { kind, paymentHash, amountMsat, feeMsat, at } = move;
        const reason = move.isPending ? 'in_flight' : wallet ? 'not_covered' : 'unknown_wallet';
        const facts = { payee: invoice?.payee ?? null, description: invoice?.description ?? null };
        return { kind, paymentHash, amountMsat, feeMsat, at, reason, wallet, ...facts };
      })
      .toSorted((a, b) => Number(blocks(b)) - Number(blocks(a)) || a.at - b.at);
    const owed = await store.owed(record);
    const count = (wanted: NodeMove['kind']) => [...booked].filter(({ move }) => move.kind === wanted).length;
    const counts = { payments: count('payment'), receipts: count('receipt') };
    return { problems: [...problems, ...gaps(backend, { held, owed })], unexplained, booked: counts, held };
  }

  /** The moves that are in no wallet, oldest first, with their invoices; and those of which the node does not say enough. */
  async #unknown(moves: readonly NodeMove[]): Promise<{ readable: UnknownMove[]; problems: string[] }> {
    const { store } = this.#deps;
    const { readInvoice } = await loadBolt11();
    const found = new Map<string, UnknownMove>();
    const problems: string[] = [];
    for (const move of moves.toSorted((a, b) => a.at - b.at)) {
      const { kind, paymentHash } = move;
      const known =
        kind === 'payment' ? await store.paymentByHash(paymentHash) : await store.invoiceByHash(paymentHash);
      if (known) continue;
      const read = move.invoice === undefined ? undefined : readInvoice(move.invoice);
      const invoice = read?.paymentHash === paymentHash ? read : undefined;
      const { feeMsat, amountMsat = null } = { ...move, amountMsat: move.amountMsat ?? invoice?.amountMsat };
      if (amountMsat === null || feeMsat === null)
        problems.push(`The node lists a ${kind} ${paymentHash} whose amount cannot be read.`);
      else found.set(`${kind} ${paymentHash}`, { move: { ...move, amountMsat, feeMsat }, invoice });
    }
    return { readable: [...found.values()], problems };
  }

  /** Returns what was booked. */
  async #book(
    { openedAt, ...record }: ReconciliationRecord,
    {
      attributed,
      held,
      backend,
    }: { attributed: Attributed[]; held: number | null; backend: LightningBackend },
  ): Promise<Set<Attributed>> {
    const { store, sealer, makeId, world, announce } = this.#deps;
    const { backend: name, network } = record;
    const receipts: BookedReceipt[] = [];
    const payments: BookedPayment[] = [];
    const ids = new Map<string, Attributed>();
    const expiryOf = (invoice: Invoice | undefined, at: number) =>
      invoice ? (invoice.timestamp + invoice.expirySeconds) * 1000 : at;
    for (const each of attributed) {
      const { move, invoice, wallet, isByHand } = each;
      const { paymentHash, preimage, at, amountMsat, feeMsat } = move;
      if (!wallet || amountMsat <= 0) continue;
      const isProven = preimage !== undefined && isPreimageOf(preimage, paymentHash);
      const sealed = isProven ? sealer.seal(preimage, preimageOf(paymentHash)) : null;
      const common = {
        walletId: wallet.id,
        paymentHash,
        invoice: move.invoice ?? '',
        backend: name,
        createdAt: at,
        expiresAt: expiryOf(invoice, at),
      };
      if (move.kind === 'receipt') {
        const amount = invoice?.amountMsat ?? amountMsat;
        const description = invoice?.description ?? '';
        const id = makeId('inv');
        ids.set(id, each);
        receipts.push({ ...common, id, amount, description, received: amountMsat, preimage: sealed });
      } else if (sealed !== null && !move.isPending) {
        const id = makeId('pay');
        ids.set(id, each);
        payments.push({
          ...common,
          id,
          depositId: makeId('dep'),
          amount: amountMsat,
          fee: feeMsat,
          payee: invoice?.payee ?? '',
          description: invoice?.description ?? null,
          preimage: sealed,
          mayFallShort: !isByHand && !backend.mayForget,
        });
      }
    }
    const moves = { backend: name, network, openedAt, held, receipts, payments, at: world.now() };
    const states = await store.bookMoves(moves);
    const booked = [...ids].filter(([id]) => states[id] === 'booked').map(([, each]) => each);
    for (const workspaceId of new Set(booked.map(({ wallet }) => wallet?.workspaceId)))
      if (workspaceId !== undefined) announce({ workspaceId });
    return new Set(booked);
  }
}

interface Comparison {
  backend: LightningBackend;
  assigned: ReadonlyMap<string, string>;
  signal: AbortSignal;
}

/** A move whose amounts are known. */
interface UnknownMove {
  move: NodeMove & { amountMsat: number; feeMsat: number };
  invoice: Invoice | undefined;
}

interface Attributed extends UnknownMove {
  wallet: WalletRecord | undefined;
  isByHand: boolean;
}

type Found = Pick<ReconciliationReport, 'problems' | 'unexplained' | 'booked' | 'held'>;

const nothingFound: Found = {
  problems: [],
  unexplained: [],
  booked: { payments: 0, receipts: 0 },
  held: null,
};

const bookOf = ({ name, network }: Pick<LightningBackend, 'name' | 'network'>): WalletBook => ({
  backend: name,
  network,
});

/** Whether wallets could spend again what was paid, or lack what they received. Receipts without a wallet are the node's own. */
function blocks({ kind, wallet }: Pick<Unexplained, 'kind' | 'wallet'>): boolean {
  return kind === 'payment' || wallet !== undefined;
}

/** Why a history without a difference proves nothing. */
function gaps(
  { mayForget }: LightningBackend,
  { held, owed }: { held: number | null; owed: number },
): string[] {
  const found: string[] = [];
  if (mayForget) found.push('The wallet that is connected may not list everything that it paid.');
  if (held !== null && held < owed)
    found.push(`The wallets hold ${formatMsat(owed)}, but the node has only ${formatMsat(held)}.`);
  return found;
}

function requireAssignable(
  assigned: ReadonlyMap<string, string>,
  unknown: readonly { move: NodeMove }[],
  wallets: readonly WalletRecord[],
): void {
  for (const [paymentHash, walletId] of assigned) {
    if (!unknown.some(({ move }) => move.paymentHash === paymentHash)) {
      throw new ApiError('invalid_request', {
        param: 'assign',
        message: `The payment hash ${paymentHash} is none that is to be explained.`,
      });
    }
    if (wallets.some(({ id }) => id === walletId)) continue;
    throw new ApiError('invalid_request', {
      param: 'assign',
      message: `${walletId} is no wallet of this back end.`,
    });
  }
}
