import { Command, Option } from '@commander-js/extra-typings';
import type { Result } from '../../shared/contract/endpoint.ts';
import type {
  decodeInvoice as decodeInvoiceContract,
  Payment,
  requestInvoice as requestInvoiceContract,
} from '../../shared/contract/payments.ts';
import type { resolvePayment as resolvePaymentContract } from '../../shared/contract/wallet-backend.ts';
import {
  decodeInvoice,
  getPayment,
  listPayments,
  payInvoice,
  requestInvoice,
  resolvePayment,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { bitcoin } from '../../shared/money/sats.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { csvOption, delimiterOption, example, wholeNumber, yesOption } from '../options.ts';
import { escapeControls } from '../output/escape-controls.ts';
import type { Style } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { confirm } from '../terminal/prompts.ts';

export const payCommand = (context: Context) =>
  new Command('pay')
    .argument(
      '<destination>',
      'a Lightning invoice (lnbc…), a Lightning address, an LNURL, or a bitcoin: URI with one of them',
    )
    .option('--max-sats <number>', 'pay without asking, up to this amount', wholeNumber({ min: 1 }))
    .option('--sats <number>', 'the amount, for an address or LNURL', wholeNumber({ min: 1 }))
    .option('--comment <text>', 'a message for the payee, for an address or LNURL that takes one')
    .option('--payee <name>', 'whom you pay, for your records and the host’s list of allowed payees')
    .option(
      '--timeout <seconds>',
      'how long to wait for the result (default: 12)',
      wholeNumber({ min: 1, max: 120 }),
    )
    .addHelpText('after', example('gateway pay lnbc15u1… --max-sats 2000'))
    .action(async (destination, { maxSats, sats, comment, payee, timeout }) => {
      const asked = await askInvoice(context, { destination, sats, comment });
      const host = payee ?? asked.payee?.replace(/^.*@/, '').replace(/:\d+$/, '');
      await approve(context, asked, maxSats);
      const { data } = await context.client().call(payInvoice, {
        headers: {},
        body: {
          invoice: asked.invoice,
          ...(host !== undefined && { host }),
          ...(maxSats !== undefined && { maxAmountSats: maxSats }),
          ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
        },
      });
      const { payment } = data;
      await context.out.record(payment, columns(context.now()));
      if (payment.status === 'failed') {
        context.exit = exitCodes.pay;
        context.out.warn(`The payment failed: ${payment.failureReason}. Nothing was paid.`);
      }
      if (payment.status === 'pending') {
        context.exit = exitCodes.tryLater;
        context.out.warn(
          `The result is not known yet; do not pay again. See: gateway payments show ${payment.paymentId}`,
        );
      }
      if (payment.status === 'succeeded' && asked.thanks) context.out.note(`From the payee: ${asked.thanks}`);
    });

type Asked = Result<typeof requestInvoiceContract>['data'] & { invoice: string };

/** The invoice that a destination is or leads to. */
async function askInvoice(
  context: Context,
  {
    destination,
    sats,
    comment,
  }: { destination: string; sats: number | undefined; comment: string | undefined },
): Promise<Asked> {
  const { data } = await context.client().call(requestInvoice, {
    body: {
      destination,
      ...(sats !== undefined && { amountSats: sats }),
      ...(comment !== undefined && { comment }),
    },
  });
  const { invoice, payee, minMsats, maxMsats } = data;
  if (invoice !== null) return { ...data, invoice };
  throw usageError(
    `${payee} leaves the amount to you.`,
    `Give one from ${bitcoin(minMsats ?? 0)} to ${bitcoin(maxMsats ?? 0)}: --sats 1000`,
  );
}

export type Quote = Result<typeof decodeInvoiceContract>['data'];

/** Shows what is to be paid, and asks unless a maximum was given. */
async function approve(
  context: Context,
  { invoice, payee, description }: Asked,
  maxSats: number | undefined,
): Promise<void> {
  if (maxSats !== undefined) return;
  const { stdin, stderr } = context.io;
  if (!stdin.isTty || !context.out.isInteractive()) {
    throw usageError(
      'Without a terminal to ask on, --max-sats is required.',
      'Give the most that may be paid: --max-sats 1000',
    );
  }
  const { data } = await context.client().call(decodeInvoice, { body: { invoice } });
  if (data.problem !== null) throw new CliError(data.problem, { exit: exitCodes.pay });
  const quote = { ...data, description: data.description ?? description };
  stderr.write(escapeControls(quoteLines(quote, payee)));
  await confirm(context, `Pay ${bitcoin(data.amountMsats ?? 0)}?`, {});
}

/** A line per fact; `address` is the Lightning address or LNURL host that issued the invoice. */
export function quoteLines(quote: Quote, address: string | null = null): string {
  const to: [string, string][] = address === null ? [] : [['to', address]];
  return [...to, ...quoteFacts(quote)].map(([label, text]) => `${label.padEnd(9)}${text}\n`).join('');
}

/** What the payer of an invoice should know, with a label each. */
export function quoteFacts(quote: Quote): [label: string, text: string][] {
  const { amountMsats, maxFeeMsats, description, payee, network } = quote;
  return [
    ['amount', bitcoin(amountMsats ?? 0)],
    ['fee', maxFeeMsats === 0 ? 'none' : `at most ${bitcoin(maxFeeMsats ?? 0)}`],
    ...(description ? [['for', description] as [string, string]] : []),
    ['payee', payee],
    ...(network === 'bitcoin' ? [] : [['network', networkText(network)] as [string, string]]),
  ];
}

/** A network by name; the one of play money says so. */
export function networkText(network: string): string {
  return network === 'regtest' ? 'regtest (play money)' : network;
}

export const showPaymentCommand = (context: Context) =>
  new Command('show')
    .argument('<payment>', 'the id of a payment: pay_…')
    .addHelpText('after', example('gateway payments show pay_01jd… --json=status'))
    .action(async (paymentId) => {
      const { data } = await context.client().call(getPayment, { params: { paymentId } });
      await context.out.record(data.payment, paymentRecord(context.now()));
    });

export const listPaymentsCommand = (context: Context) =>
  new Command('list')
    .option('--limit <number>', 'how many, at most 200 (default: 50)', wholeNumber({ min: 1, max: 200 }))
    .option('--before <payment>', 'only those made before this one')
    .addOption(csvOption())
    .addOption(delimiterOption())
    .addHelpText('after', example('gateway payments list --json=paymentId,status'))
    .action(async ({ limit, before }) => {
      const { data } = await context.client().call(listPayments, { query: { limit, before_id: before } });
      await context.out.table(data, listColumns(context.now()), { empty: 'No payments yet.' });
    });

export const resolvePaymentCommand = (context: Context) =>
  new Command('resolve')
    .description(
      'For payments whose result the Lightning node does not report: look them up in the wallet first.',
    )
    .argument('<payment>', 'the id of a pending payment of any user: pay_…')
    .addOption(new Option('--paid', 'the payment succeeded').conflicts('failed'))
    .option('--failed', 'it failed and will not be retried: its payer gets the money back')
    .addOption(
      new Option('--fee-msats <number>', 'with --paid: the fees (default: all that is reserved for fees)')
        .argParser(wholeNumber({ min: 0 }))
        .conflicts('failed'),
    )
    .addOption(yesOption())
    .addHelpText('after', example('gateway payments resolve pay_01jd… --failed'))
    .action(async (payment, { paid, failed, feeMsats, yes }) => {
      if (!paid && !failed) {
        throw new CliError('Either --paid or --failed is required.', { exit: exitCodes.usage });
      }
      const question = paid
        ? `Declare ${payment} paid?`
        : `Declare ${payment} failed? If the node sends it after all, that money is lost.`;
      await confirm(context, question, { yes });
      const resolved = await context.client().call(resolvePayment, {
        params: { payment },
        body: { outcome: paid ? 'paid' : 'failed', ...(feeMsats !== undefined && { fee_msats: feeMsats }) },
      });
      await context.out.record(resolved, resolvedColumns);
    });

const resolvedColumns: Column<Result<typeof resolvePaymentContract>>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'status', value: ({ status }) => status, style: ({ status }) => paymentStyles[status] },
  {
    title: 'amount_msats',
    label: 'amount',
    value: (resolved) => resolved.amount_msats,
    show: (resolved) => bitcoin(resolved.amount_msats),
  },
  {
    title: 'fee_msats',
    label: 'fee',
    value: (resolved) => resolved.fee_msats,
    show: (resolved) => (resolved.fee_msats === null ? '–' : bitcoin(resolved.fee_msats)),
  },
];

export const paymentStyles: Record<Payment['status'], Style | undefined> = {
  pending: 'yellow',
  succeeded: 'green',
  failed: 'red',
};

const id: Column<Payment> = { title: 'id', value: ({ paymentId }) => paymentId };
const status: Column<Payment> = {
  title: 'status',
  value: (payment) => payment.status,
  style: (payment) => paymentStyles[payment.status],
};
const amount: Column<Payment> = {
  title: 'amount_msats',
  label: 'amount',
  value: ({ quotedAmountMsats }) => quotedAmountMsats,
  show: ({ quotedAmountMsats }) => bitcoin(quotedAmountMsats),
  align: 'right',
};
const fee: Column<Payment> = {
  title: 'fee_msats',
  label: 'fee',
  value: ({ feeMsats }) => feeMsats,
  show: ({ feeMsats, maxFeeMsats, status: state }) => {
    if (feeMsats !== null) return bitcoin(feeMsats);
    return state === 'pending' ? `up to ${bitcoin(maxFeeMsats)}` : '';
  },
  align: 'right',
};
const description: Column<Payment> = { title: 'description', value: (payment) => payment.description };
const host: Column<Payment> = { title: 'payee', value: (payment) => payment.host ?? payment.payee };
const made = (now: number): Column<Payment> => ({
  title: 'created',
  value: ({ createdAt }) => createdAt,
  show: ({ createdAt }) => ago(createdAt, now),
});
const preimage: Column<Payment> = { title: 'preimage', value: (payment) => payment.preimage };

const columns = (now: number): Column<Payment>[] => [id, status, amount, fee, description, host, made(now)];

/** A payment with its proof. */
export const paymentRecord = (now: number): Column<Payment>[] => [...columns(now), preimage];

const listColumns = (now: number): Column<Payment>[] => [
  id,
  status,
  amount,
  { ...fee, isSpare: true },
  description,
  made(now),
];
