import { Command } from '@commander-js/extra-typings';
import type { WalletInvoice } from '../../shared/contract/payments.ts';
import { createInvoice, getInvoice, listInvoices } from '../../shared/endpoints.ts';
import { bitcoin } from '../../shared/money/sats.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { csvOption, delimiterOption, example, wholeNumber } from '../options.ts';
import type { Style } from '../output/style.ts';
import type { Column } from '../output/table.ts';

export const createInvoiceCommand = (context: Context) =>
  new Command('create')
    .argument('<sats>', 'the amount in satoshis', wholeNumber({ min: 1 }))
    .option('--description <text>', 'what is paid for; shown to the payer')
    .addHelpText('after', example('gateway invoice create 1500 --description "Two coffees"'))
    .action(async (amountSats, { description }) => {
      const { data } = await context.client().call(createInvoice, {
        headers: {},
        body: { amountSats, ...(description !== undefined && { description }) },
      });
      await show(context, data.invoice);
    });

export const showInvoiceCommand = (context: Context) =>
  new Command('show')
    .argument('<invoice-id>', 'the id of an invoice: inv_…')
    .addHelpText('after', example('gateway invoice show inv_01jd… --json=status'))
    .action(async (invoiceId) => {
      const { data } = await context.client().call(getInvoice, { params: { invoiceId } });
      await show(context, data.invoice);
    });

/** Prints an invoice, with its QR code on a terminal while it can be paid. */
async function show(context: Context, invoice: WalletInvoice): Promise<void> {
  await context.out.record(invoice, invoiceRecord(context.now()), { pipedRow: [request] });
  if (invoice.status === 'open') await showQrCode(context, invoice.paymentRequest);
}

/** Prints the QR code of an invoice on a terminal. */
export async function showQrCode({ out, io }: Context, paymentRequest: string): Promise<void> {
  if (!io.stdout.isTty || out.wantsJson() || out.isQuiet()) return;
  const { qrCode } = await import('../output/qr.ts');
  // In upper case the code is smaller.
  const hasColors = out.paint.stdout('bold', '') !== '';
  io.stdout.write(`\n${qrCode(paymentRequest.toUpperCase(), { hasColors })}`);
}

export const listInvoicesCommand = (context: Context) =>
  new Command('list')
    .option('--limit <number>', 'how many, at most 200 (default: 50)', wholeNumber({ min: 1, max: 200 }))
    .option('--before <invoice-id>', 'only those created before this one')
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway invoice list --json=id,status,amountSats'))
    .action(async ({ limit, before }) => {
      const { data } = await context.client().call(listInvoices, { query: { limit, before_id: before } });
      await context.out.table(data, listColumns(context.now()), { empty: 'No invoices yet.' });
    });

export const invoiceStyles: Record<WalletInvoice['status'], Style | undefined> = {
  open: undefined,
  paid: 'green',
  expired: 'dim',
};

const id: Column<WalletInvoice> = { title: 'id', value: (invoice) => invoice.id };
const amount: Column<WalletInvoice> = {
  title: 'amount_msats',
  label: 'amount',
  value: ({ amountMsats }) => amountMsats,
  show: ({ amountMsats }) => bitcoin(amountMsats),
  align: 'right',
};
const status: Column<WalletInvoice> = {
  title: 'status',
  value: (invoice) => invoice.status,
  style: (invoice) => invoiceStyles[invoice.status],
};
const description: Column<WalletInvoice> = { title: 'description', value: (invoice) => invoice.description };
const request: Column<WalletInvoice> = {
  title: 'invoice',
  value: ({ paymentRequest }) => paymentRequest,
  essential: true,
};

const expires = (now: number): Column<WalletInvoice> => ({
  title: 'expires',
  value: ({ expiresAt }) => expiresAt,
  show: ({ expiresAt, status: state }) => (state === 'open' ? ago(expiresAt, now) : ''),
});

export const invoiceRecord = (now: number): Column<WalletInvoice>[] => [
  id,
  amount,
  status,
  description,
  expires(now),
  request,
];

const listColumns = (now: number): Column<WalletInvoice>[] => [
  id,
  amount,
  status,
  description,
  { ...expires(now), isSpare: true },
];
