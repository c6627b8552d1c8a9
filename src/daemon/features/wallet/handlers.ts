import {
  createInvoice,
  decodeInvoice,
  getInvoice,
  getPayment,
  listInvoices,
  listPayments,
  type Payment,
  payInvoice,
  requestInvoice,
  type WalletInvoice,
} from '../../../shared/contract/payments.ts';
import { pageSizeMax } from '../../../shared/contract/site.ts';
import {
  createWallet,
  getBalance,
  showPhrase,
  useFaucet,
  type Wallet,
} from '../../../shared/contract/wallet.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Caller, type Handler, implement } from '../../base/handler.ts';
import { withSecret } from '../../base/replies.ts';
import { type Idempotency, onceSealed } from '../idempotency/index.ts';
import { invoiceFor } from './invoice-requests.ts';
import type { Invoices } from './invoices.ts';
import type { LnurlPayDeps } from './lnurl-pay.ts';
import type { Payments } from './payments.ts';
import type { SpendingLimits } from './spending-limits.ts';
import type { InvoiceRecord, PaymentRecord, WalletRecord } from './store.ts';
import type { Wallets } from './wallets.ts';

interface WalletHandlersDeps {
  wallets: Wallets;
  invoices: Invoices;
  payments: Payments;
  idempotency: Pick<Idempotency, 'once'>;
  lnurlPay: LnurlPayDeps;
  /** Limits on what models may pay with tools; read on each payment. */
  settings: { readonly toolSpending: Pick<SpendingLimits, 'perPaymentMsat' | 'perDayMsat'> };
  now: () => number;
}

const toolLimitNames = { perPayment: 'mcp.max_payment_sats', perDay: 'mcp.max_daily_sats' };

export function walletHandlers(deps: WalletHandlersDeps): Handler[] {
  const { wallets } = deps;
  const viewOf = async (wallet: WalletRecord): Promise<Wallet> => ({
    id: wallet.id,
    createdAt: isoTime(wallet.createdAt),
    ...(await factsOf(deps, wallet)),
  });
  return [
    implement(createWallet, async ({ caller, body }) => {
      const phrase = body?.mnemonic;
      const { wallet, action, mnemonic } =
        phrase === undefined ? await wallets.create(caller) : await wallets.import(caller, phrase);
      const data = { wallet: await viewOf(wallet), action, ...(mnemonic !== undefined && { mnemonic }) };
      return withSecret<typeof createWallet>({ data });
    }),
    implement(showPhrase, async ({ caller }) => {
      const wallet = await ownWallet(wallets, caller);
      const { id: walletId, backend } = wallet;
      const mnemonic = await wallets.phraseOf(wallet);
      return withSecret<typeof showPhrase>({ data: { walletId, backend, mnemonic } });
    }),
    implement(getBalance, async ({ caller }) => {
      const wallet = await ownWallet(wallets, caller);
      return { data: { walletId: wallet.id, ...(await factsOf(deps, wallet)) } };
    }),
    implement(useFaucet, async ({ caller, body }) => ({
      data: { wallet: await viewOf(await wallets.fill(caller, body.amountSats)) },
    })),
  ];
}

async function ownWallet(wallets: Wallets, caller: Caller): Promise<WalletRecord> {
  const wallet = await wallets.of(caller);
  if (wallet) return wallet;
  throw new ApiError('not_found', { message: 'You have no wallet yet.' });
}

export function paymentHandlers(deps: WalletHandlersDeps): Handler[] {
  const { invoices, payments, idempotency } = deps;
  const viewOf = (payment: PaymentRecord) => paymentView(payment, payments.preimage(payment));
  const invoiceViewOf = (invoice: InvoiceRecord) => invoiceView(invoice, deps.now());
  return [
    implement(payInvoice, (call) =>
      onceSealed(idempotency, call, payInvoice, async () => {
        const { toolSpending } = deps.settings;
        const limits = { budget: 'tools', ...toolSpending, names: toolLimitNames };
        const payment = viewOf(await payments.pay(call.caller, call.body, call.isTool ? { limits } : {}));
        return withSecret<typeof payInvoice>({ data: { payment } });
      }),
    ),
    implement(createInvoice, (call) =>
      onceSealed(idempotency, call, createInvoice, async () => {
        const invoice = invoiceViewOf(await invoices.create(call.caller, call.body));
        return withSecret<typeof createInvoice>({ data: { invoice } });
      }),
    ),
    implement(decodeInvoice, async ({ caller, body }) => {
      const { invoice, expiresAt, feeLimit, problem, paymentId } = await payments.quote(caller, body.invoice);
      const { amountMsat, description, descriptionHash, payee, network, paymentHash, timestamp } = invoice;
      return {
        data: {
          amountMsats: amountMsat,
          amountSats: amountMsat === null ? null : Math.ceil(amountMsat / 1000),
          maxFeeMsats: feeLimit,
          description,
          descriptionHash,
          payee,
          network,
          paymentHash,
          createdAt: isoTime(timestamp * 1000),
          expiresAt: isoTime(expiresAt),
          problem: problem?.message ?? null,
          paymentId,
        },
      };
    }),
    implement(requestInvoice, async ({ body }) => {
      const { invoice, payee, service, thanks } = await invoiceFor(deps.lnurlPay, body);
      return {
        data: {
          invoice,
          payee,
          description: service?.description ?? null,
          minMsats: service?.min ?? null,
          maxMsats: service?.max ?? null,
          commentMax: service ? service.commentMax : 0,
          thanks,
        },
      };
    }),
    implement(listPayments, async ({ caller, query }) => {
      const page = pageIn(query);
      const found = await payments.list(caller, page);
      return { data: found.map(viewOf), meta: { nextCursor: cursorAfter(found, page.limit) } };
    }),
    implement(listInvoices, async ({ caller, query }) => {
      const page = pageIn(query);
      const found = await invoices.list(caller, page);
      return { data: found.map(invoiceViewOf), meta: { nextCursor: cursorAfter(found, page.limit) } };
    }),
    implement(getInvoice, async ({ caller, params }) => ({
      data: { invoice: invoiceViewOf(await invoices.get(caller, params.invoiceId)) },
    })),
    implement(getPayment, async ({ caller, params }) => ({
      data: { payment: viewOf(await payments.get(caller, params.paymentId)) },
    })),
  ];
}

const pageSizeDefault = 50;

function pageIn({ limit = pageSizeDefault, before_id }: { limit?: number; before_id?: string }) {
  return { limit: Math.min(limit, pageSizeMax), before: before_id };
}

/** The cursor after a full page, which may be followed by another. */
function cursorAfter(rows: readonly { id: string }[], limit: number): string | null {
  return rows.length < limit ? null : (rows.at(-1)?.id ?? null);
}

async function factsOf({ wallets }: WalletHandlersDeps, wallet: WalletRecord) {
  const { available, pending } = await wallets.balanceOf(wallet);
  return {
    identityPubkey: wallet.nodeId,
    network: wallet.network,
    backend: wallet.backend,
    balanceSats: Math.floor(available / 1000),
    balanceMsats: available,
    pendingMsats: pending,
    problem: await wallets.problemOf(wallet),
  };
}

function invoiceView(invoice: InvoiceRecord, now: number): WalletInvoice {
  const { id, amount, description, state, received, createdAt, expiresAt, paidAt } = invoice;
  return {
    id,
    paymentRequest: invoice.invoice,
    paymentHash: invoice.paymentHash,
    amountSats: Math.floor(amount / 1000),
    amountMsats: amount,
    description,
    status: state === 'open' && expiresAt <= now ? 'expired' : state,
    receivedMsats: received,
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    paidAt: paidAt === null ? null : isoTime(paidAt),
  };
}

function paymentView(payment: PaymentRecord, preimage: string | null): Payment {
  const { id, state, failure, amount, feeLimit, fee, paymentHash, invoice, payee } = payment;
  const { description, host, resolvedBy, createdAt, settledAt } = payment;
  return {
    paymentId: id,
    status: state,
    failureReason: failure,
    quotedAmountMsats: amount,
    maxFeeMsats: feeLimit,
    feeMsats: fee,
    paymentHash,
    preimage,
    paymentRequest: invoice,
    payee,
    description,
    host,
    resolvedBy,
    createdAt: isoTime(createdAt),
    settledAt: settledAt === null ? null : isoTime(settledAt),
  };
}
