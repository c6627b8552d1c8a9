import { Command } from '@commander-js/extra-typings';
import type { CreditPurchase } from '../../shared/contract/credit.ts';
import { buyCredit, getCreditPurchase } from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { bitcoin } from '../../shared/money/sats.ts';
import { ago } from '../../view/durations.ts';
import { dollars } from '../../view/money.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { example, wholeNumber } from '../options.ts';
import type { Column } from '../output/table.ts';
import { usdAmount } from './credit.ts';
import { showQrCode } from './invoices.ts';

export const buyCreditCommand = (context: Context) =>
  new Command('buy')
    .option('--sats <number>', 'how much to pay, in satoshis', wholeNumber({ min: 1, max: 100_000_000 }))
    .option('--usd <amount>', 'how much credit to buy, in dollars', usdAmount)
    .option('--no-wait', 'print the invoice and do not wait until it is paid')
    .addHelpText('after', example('gateway credit buy --sats 5000'))
    .action(async ({ sats, usd, wait }) => {
      if ((sats === undefined) === (usd === undefined)) {
        throw new CliError('Either --sats or --usd is required.', { exit: exitCodes.usage });
      }
      const body = { ...(sats !== undefined && { sats }), ...(usd !== undefined && { usd }) };
      const purchase = await context.client().call(buyCredit, { body });
      if (wait && context.out.wantsJson()) context.out.note(`Pay: ${purchase.invoice}`);
      else await show(context, purchase);
      if (!wait) return;
      const paid = await untilPaid(context, purchase);
      if (paid && context.out.wantsJson()) await context.out.record(paid, columns(context.now()));
    });

/** Prints a purchase, with its QR code on a terminal. */
async function show(context: Context, purchase: CreditPurchase): Promise<void> {
  await context.out.record(purchase, columns(context.now()), { pipedRow: [invoice] });
  await showQrCode(context, purchase.invoice);
}

/** How long one request waits for the payment. */
const waitSeconds = 30;

/** Waits until the invoice is paid, and reports how it ended. Undefined if the user stopped waiting. */
async function untilPaid(context: Context, { id }: CreditPurchase): Promise<CreditPurchase | undefined> {
  const { out } = context;
  const signal = context.interrupted();
  out.note(
    'Waiting for the payment. Ctrl-C stops waiting; the credit is added whenever the invoice is paid.',
  );
  const input = { params: { id }, query: { wait_seconds: waitSeconds } };
  try {
    for (;;) {
      const purchase = await context.client().call(getCreditPurchase, input, { signal });
      if (purchase.status === 'open') continue;
      if (purchase.status === 'paid') {
        out.note(`Paid. ${dollars(purchase.usd)} of credit was added.`);
        return purchase;
      }
      throw new CliError('The invoice expired before it was paid.', {
        exit: exitCodes.pay,
        next: 'Get another one: gateway credit buy',
      });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    context.exit = exitCodes.interrupted;
    return undefined;
  }
}

const invoice: Column<CreditPurchase> = {
  title: 'invoice',
  value: (purchase) => purchase.invoice,
  essential: true,
};

const columns = (now: number): Column<CreditPurchase>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'status', value: ({ status }) => status },
  {
    title: 'amount_msats',
    label: 'amount',
    value: ({ amount_sats: amount }) => amount * 1000,
    show: ({ amount_sats: amount }) => bitcoin(amount * 1000),
  },
  { title: 'usd', label: 'credit', value: ({ usd }) => usd, show: ({ usd }) => dollars(usd) },
  {
    title: 'usd_per_btc',
    label: 'rate',
    value: (purchase) => purchase.usd_per_btc,
    show: (purchase) => `${dollars(purchase.usd_per_btc)} per bitcoin`,
  },
  {
    title: 'expires_at',
    label: 'expires',
    value: ({ expires_at: expires }) => expires,
    show: ({ expires_at: expires }) => ago(expires, now),
  },
  invoice,
];
