import { payInvoice } from '../../../shared/endpoints.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { bitcoin } from '../../../shared/money/sats.ts';
import {
  formatCredential,
  lightningChargeIn,
  parseChallenges,
} from '../../../shared/payments/payment-scheme.ts';
import type { Context } from '../../context.ts';
import { CliError } from '../../failures/cli-error.ts';
import { findThisMachine } from '../../hosts/hosts.ts';
import { confirm } from '../../terminal/prompts.ts';

export interface PayFlags {
  /** Whether to pay invoices. */
  pay?: true | undefined;
  maxSats?: number | undefined;
}

const payTimeoutMs = 60_000;

/** Makes a call. If the host asks for a payment and `--pay` is given, pays from the local wallet and makes it again. */
export async function withPayment<T>(
  context: Context,
  flags: PayFlags,
  call: (headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  if (!flags.pay) return await call({});
  try {
    return await call({});
  } catch (error) {
    const headers = await payFor(context, flags, error);
    if (!headers) throw error;
    return await call(headers);
  }
}

/** Pays the invoice of a rejected call. Returns the headers that prove it; undefined if the error offers no invoice. */
async function payFor(
  context: Context,
  { maxSats }: PayFlags,
  error: unknown,
): Promise<Record<string, string> | undefined> {
  if (!(error instanceof ReceivedError) || error.status !== 402) return undefined;
  const offered = parseChallenges(error.headers?.['www-authenticate'] ?? '');
  const challenge = offered.find((one) => lightningChargeIn(one) !== undefined);
  const charge = challenge && lightningChargeIn(challenge);
  if (!challenge || !charge) return undefined;
  const sats = Number(charge.amount);
  await approve(context, sats, maxSats);
  const preimage = await pay(context, charge.methodDetails.invoice, sats);
  context.out.note(`Paid ${bitcoin(sats * 1000)} for this call.`);
  const credential = formatCredential({ challenge, payload: { preimage } });
  const isNamed = challenge.header?.toLowerCase() === 'payment-authorization';
  return { [isNamed ? 'payment-authorization' : 'authorization']: credential };
}

/** Fails with exit code 5 above the maximum. Without one, asks. */
async function approve(context: Context, sats: number, maxSats: number | undefined): Promise<void> {
  if (maxSats === undefined) return await confirm(context, `Pay ${bitcoin(sats * 1000)} for this call?`, {});
  if (sats <= maxSats) return;
  throw new CliError(`The call costs ${bitcoin(sats * 1000)}, more than --max-sats ${maxSats}.`, {
    exit: exitCodes.pay,
    next: 'Allow more, or limit the answer: --max-output-tokens 500',
  });
}

/** Pays from the wallet of this machine's daemon, and resolves to the preimage. */
async function pay(context: Context, invoice: string, sats: number): Promise<string> {
  const host = context.host();
  const local = host.isLocal ? host : findThisMachine(context);
  const { data } = await context.clientFor(local).call(payInvoice, {
    headers: {},
    body: { invoice, maxAmountSats: sats, host: hostName(host.url), timeoutMs: payTimeoutMs },
  });
  const { paymentId, status, preimage, failureReason } = data.payment;
  if (status === 'succeeded' && preimage !== null) return preimage;
  if (status === 'failed') {
    throw new CliError(`The payment failed: ${failureReason}. Nothing was paid.`, { exit: exitCodes.pay });
  }
  throw new CliError('The result of the payment is not known yet; do not pay again.', {
    exit: exitCodes.tryLater,
    next: `See: gateway payments show ${paymentId}. If it succeeds, the host adds it to your credit.`,
  });
}

function hostName(url: string): string {
  return URL.parse(url)?.hostname || 'localhost';
}
