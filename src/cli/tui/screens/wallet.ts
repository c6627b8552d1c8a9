import type { Result } from '../../../shared/contract/endpoint.ts';
import type { Payment, WalletInvoice } from '../../../shared/contract/payments.ts';
import type { getBalance as getBalanceContract } from '../../../shared/contract/wallet.ts';
import {
  createInvoice,
  decodeInvoice,
  getBalance,
  getInvoice,
  getPayment,
  listInvoices,
  listPayments,
  payInvoice,
} from '../../../shared/endpoints.ts';
import { ApiError } from '../../../shared/errors.ts';
import { bitcoin } from '../../../shared/money/sats.ts';
import { ago } from '../../../view/durations.ts';
import { invoiceRecord, invoiceStyles } from '../../commands/invoices.ts';
import { networkText, paymentRecord, paymentStyles, quoteFacts } from '../../commands/payments.ts';
import { qrCode } from '../../output/qr.ts';
import { widthOf } from '../../output/width.ts';
import { wrapLine } from '../../output/wrap-line.ts';
import type { Services } from '../services/services.ts';
import { untrustedLines } from '../text/cells.ts';
import { FieldFault } from '../text/form-field.ts';
import type { ListColumn } from '../text/list-table.ts';
import { noPaint, type RenderOptions } from '../text/render-options.ts';
import { recordLines, recordPage } from './pages.ts';
import type { Page, Question, Screen } from './screen.ts';

/** A payment into the wallet or out of it. */
type WalletRow =
  | { kind: 'invoice'; id: string; createdAt: string; invoice: WalletInvoice }
  | { kind: 'payment'; id: string; createdAt: string; payment: Payment };

type Balance = Result<typeof getBalanceContract>['data'];

const tabs = ['all', 'invoices', 'payments'] as const;
const shownMax = 100;

/** The wallet: its balance, invoices and payments. */
export function walletScreen(): Screen<WalletRow> {
  /** Null without a wallet. */
  let balance: Balance | null | undefined;
  return {
    id: 'wallet',
    title: 'Wallet',
    letter: 'b',
    aliases: ['balance', 'money', 'payments', 'invoices', 'lightning'],
    tabs,
    empty: [
      'Nothing yet. Press c to create an invoice, r to pay one.',
      'An invoice asks others for a payment.',
    ],
    footer: ['open', 'compose', 'reply', 'next-tab', 'copy'],
    // For invoices that expire, and those that were created elsewhere.
    refreshEveryMs: 15_000,
    isAffectedBy: ({ type }) => isWalletEvent(type),
    columns: () => columns,
    async load({ client }, tab) {
      const [found, rows] = await Promise.all([findBalance(client), loadRows(client, tab)]);
      balance = found;
      return rows;
    },
    idOf: ({ id }) => id,
    copyText: (row) => (row.kind === 'invoice' ? row.invoice.paymentRequest : row.id),
    commandText: ({ kind, id }) =>
      kind === 'invoice' ? `gateway invoice show ${id}` : `gateway payments show ${id}`,
    json: (row) => (row.kind === 'invoice' ? row.invoice : row.payment),
    summary: (_rows, _services, options) => summaryLines(balance, options),
    preview: (row, options) =>
      row.kind === 'invoice'
        ? recordLines(row.invoice, invoiceRecord(options.now), options)
        : recordLines(row.payment, paymentRecord(options.now), options),
    open: (row, services) =>
      row.kind === 'invoice' ? openInvoice(row.id, services) : openPayment(row.id, services),
    compose: {
      label: 'invoice',
      fields: () => [
        {
          name: 'amount',
          label: 'amount in sats',
          kind: 'number',
          placeholder: '1500',
          params: ['amountSats'],
        },
        { name: 'description', label: 'what is paid for', kind: 'text', placeholder: 'Two coffees' },
      ],
      submit: ({ amount = '', description = '' }, services) => create(amount, description, services),
      runLine: createFromLine,
    },
    reply: { label: 'pay', placeholder: 'an invoice to pay: lnbc…', run: quote },
  };
}

const isWalletEvent = (type: string) => type === 'invoice.paid' || type === 'payment.settled';

async function findBalance(client: Services['client']): Promise<Balance | null> {
  try {
    return (await client.call(getBalance, {})).data;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Newest first. */
async function loadRows(client: Services['client'], tab: number): Promise<WalletRow[]> {
  const query = { limit: shownMax };
  const [invoices, payments] = await Promise.all([
    tabs[tab] === 'payments' ? [] : client.call(listInvoices, { query }).then(({ data }) => data),
    tabs[tab] === 'invoices' ? [] : client.call(listPayments, { query }).then(({ data }) => data),
  ]);
  const rows: WalletRow[] = [
    ...invoices.map((invoice) => ({
      kind: 'invoice' as const,
      id: invoice.id,
      createdAt: invoice.createdAt,
      invoice,
    })),
    ...payments.map((payment) => ({
      kind: 'payment' as const,
      id: payment.paymentId,
      createdAt: payment.createdAt,
      payment,
    })),
  ];
  return rows.sort((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt));
}

const columns: ListColumn<WalletRow>[] = [
  { title: 'type', width: 7, text: ({ kind }) => kind },
  { title: 'amount', width: 18, align: 'right', value: amountMsats, text: amountText },
  { title: 'status', width: 9, text: statusText, style: statusStyle },
  { title: 'for', width: 16, grows: true, text: descriptionText },
  { title: 'fee', width: 14, spare: 2, align: 'right', text: feeText },
  {
    title: 'when',
    width: 14,
    spare: 1,
    value: ({ createdAt }) => createdAt,
    text: ({ createdAt }, { now }) => ago(createdAt, now),
  },
];

function amountMsats(row: WalletRow): number | null {
  if (row.kind === 'payment') return -row.payment.quotedAmountMsats;
  return row.invoice.receivedMsats ?? row.invoice.amountMsats;
}

function amountText(row: WalletRow): string {
  return row.kind === 'invoice'
    ? `+${bitcoin(row.invoice.receivedMsats ?? row.invoice.amountMsats)}`
    : `-${bitcoin(row.payment.quotedAmountMsats)}`;
}

function statusText(row: WalletRow): string {
  return row.kind === 'invoice' ? row.invoice.status : row.payment.status;
}

function statusStyle(row: WalletRow) {
  return row.kind === 'invoice' ? invoiceStyles[row.invoice.status] : paymentStyles[row.payment.status];
}

function descriptionText(row: WalletRow): string {
  if (row.kind === 'invoice') return row.invoice.description;
  return row.payment.description || row.payment.host || '';
}

function feeText(row: WalletRow): string {
  if (row.kind === 'invoice' || row.payment.feeMsats === null) return '';
  return bitcoin(row.payment.feeMsats);
}

function summaryLines(balance: Balance | null | undefined, { width, paint }: RenderOptions): string[] {
  if (balance === undefined) return [];
  if (balance === null)
    return wrapLine('You have no wallet yet. In a shell, run: gateway wallet create', width);
  const { balanceMsats, pendingMsats, backend, network, problem } = balance;
  const parts = [
    paint('bold', bitcoin(balanceMsats)),
    ...(pendingMsats === 0 ? [] : [paint('yellow', `${bitcoin(pendingMsats)} pending`)]),
    backend,
    networkText(network),
  ];
  const problems = problem ? wrapLine(problem, width).map((line) => paint('yellow', line)) : [];
  return [`Balance: ${parts.join(' · ')}`, ...problems];
}

function createFromLine(line: string, services: Services): Promise<Page> {
  const [, amount = '', description = ''] = /^\s*([\d,_]+)(?:\s+([\s\S]*))?$/.exec(line) ?? [];
  return create(amount.replace(/[,_]/g, ''), description, services);
}

async function create(amount: string, description: string, services: Services): Promise<Page> {
  const amountSats = Number(amount);
  if (!Number.isSafeInteger(amountSats) || amountSats < 1)
    throw new FieldFault('amount', 'Type the amount in whole sats, such as 1500.');
  const body = { amountSats, ...(description.trim() !== '' && { description: description.trim() }) };
  const { data } = await services.client.call(createInvoice, { headers: {}, body });
  return invoicePage(data.invoice, services);
}

async function openInvoice(invoiceId: string, services: Services): Promise<Page> {
  const { data } = await services.client.call(getInvoice, { params: { invoiceId } });
  return invoicePage(data.invoice, services);
}

function invoicePage(invoice: WalletInvoice, services: Services): Page {
  const { id, description, amountMsats } = invoice;
  return {
    title: `invoice of ${bitcoin(amountMsats)}${description === '' ? '' : ` for ${description}`}`,
    lines: (options) => [
      ...(invoice.status === 'open' ? [...codeLines(invoice.paymentRequest, options), ''] : []),
      ...recordLines(invoice, invoiceFacts(options.now), options),
      '',
      ...wrapLine(invoice.paymentRequest, options.width),
    ],
    copy: invoice.paymentRequest,
    updates: {
      reload: () => openInvoice(id, services),
      isAffectedBy: ({ type, data }) => type === 'invoice.paid' && data.invoice === id,
    },
  };
}

/** Without the text of the invoice, which is shown in full. */
const invoiceFacts = (now: number) => invoiceRecord(now).filter(({ title }) => title !== 'invoice');

/** The QR code, or what it needs: half of one cannot be scanned. */
function codeLines(text: string, { width, height = 0, isPlain, paint }: RenderOptions): string[] {
  if (isPlain) return ['y copies the invoice.'];
  // In upper case the code is smaller.
  const upper = text.toUpperCase();
  const measured = qrCode(upper, { hasColors: false }).trimEnd().split('\n');
  const [columnsNeeded, rowsNeeded] = [widthOf(measured[0] ?? ''), measured.length];
  if (columnsNeeded > width || rowsNeeded > height) {
    const missing = `The QR code needs ${columnsNeeded} × ${rowsNeeded} cells; there is room for ${width} × ${height}.`;
    return wrapLine(`${missing} y copies the invoice.`, width).map((line) => paint('yellow', line));
  }
  const hasColors = paint('bold', '') !== noPaint('bold', '');
  return hasColors ? qrCode(upper, { hasColors }).trimEnd().split('\n') : measured;
}

async function openPayment(paymentId: string, services: Services): Promise<Page> {
  const { data } = await services.client.call(getPayment, { params: { paymentId } });
  return paymentPage(data.payment, services);
}

function paymentPage(payment: Payment, services: Services): Page {
  const { paymentId: id, status, failureReason, quotedAmountMsats } = payment;
  const explanation = {
    pending: ['The result is not known yet. Do not pay again; this page shows it once it is.', ''],
    succeeded: [],
    failed: [`The payment failed: ${failureReason}. Nothing was paid.`, ''],
  }[status];
  const { lines, ...page } = recordPage(`payment of ${bitcoin(quotedAmountMsats)} · ${status}`, payment, {
    columns: paymentRecord(services.now()),
    copy: id,
  });
  return {
    ...page,
    lines: (options) => [
      ...explanation.flatMap((line) => untrustedLines(line, options.width)),
      ...lines(options),
    ],
    updates: {
      reload: () => openPayment(id, services),
      isAffectedBy: ({ type, data }) => type === 'payment.settled' && data.payment === id,
    },
  };
}

/** Shows what would be paid, and asks. */
async function quote(line: string, services: Services): Promise<Question> {
  const invoice = line.trim();
  if (invoice === '') throw new Error('Paste an invoice first.');
  const { client } = services;
  const { data } = await client.call(decodeInvoice, { body: { invoice } });
  if (data.problem !== null) throw new Error(data.problem);
  const amount = data.amountMsats ?? 0;
  return {
    page: {
      title: 'pay an invoice',
      lines: ({ width, paint }) =>
        quoteFacts(data).flatMap(([label, text]) =>
          untrustedLines(text, width - 9).map(
            (part, at) => paint('dim', (at === 0 ? label : '').padEnd(9)) + part,
          ),
        ),
      copy: invoice,
    },
    question: `Pay ${bitcoin(amount)}?`,
    verb: 'Pay',
    progress: `Paying ${bitcoin(amount)}…`,
    async run() {
      const body = { invoice, maxAmountMsats: Math.max(1000, amount) };
      const { data: paid } = await client.call(payInvoice, { headers: {}, body });
      return paymentPage(paid.payment, services);
    },
  };
}
