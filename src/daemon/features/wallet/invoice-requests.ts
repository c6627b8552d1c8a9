import { inputFault, wellFormed } from '../../../shared/faults/input-faults.ts';
import { InvalidInvoice, loadBolt11 } from '../lightning/index.ts';
import { formatMsat } from './amounts.ts';
import { readDestination } from './destinations.ts';
import { askService, type LnurlPayDeps, type PayService, requestInvoice } from './lnurl-pay.ts';

export interface InvoiceRequestTerms {
  destination: string;
  amountSats?: number | undefined;
  comment?: string | undefined;
}

/** An invoice to pay, or what has to be known before there is one. */
export interface RequestedInvoice {
  /** BOLT 11; null until the payer chose an amount. */
  invoice: string | null;
  /** The Lightning address, or the host of the LNURL; null for an invoice. */
  payee: string | null;
  service: PayService | null;
  thanks: string | null;
}

/**
 * The invoice in a text, or one of the service that it names. Fails with `invalid_request` for a text that is neither and
 * for an amount that is not asked for, and with `upstream_failed` if the service issues no invoice that agrees with it.
 */
export async function invoiceFor(
  deps: LnurlPayDeps,
  { destination, amountSats, comment }: InvoiceRequestTerms,
): Promise<RequestedInvoice> {
  const read = await readDestination(destination);
  if ('fault' in read) throw inputFault('destination', read.fault);
  if ('invoice' in read) {
    if (comment !== undefined) throw inputFault('comment', 'is only for Lightning addresses and LNURLs');
    await requireAmount(read.invoice, read.amountMsat, amountSats);
    return { invoice: read.invoice, payee: null, service: null, thanks: null };
  }
  if (comment !== undefined) wellFormed(comment, 'comment');
  const service = await askService(deps, read.service);
  const payee = read.address ?? read.service.host;
  const fixed = service.min === service.max ? service.min : undefined;
  const amountMsat = amountSats === undefined ? fixed : amountSats * 1000;
  if (amountMsat === undefined) return { invoice: null, payee, service, thanks: null };
  return { payee, service, ...(await requestInvoice(deps, service, { amountMsat, comment })) };
}

/** Fails if the amount of an invoice is not the one that is stated next to it, or that the payer expects. */
async function requireAmount(
  invoice: string,
  stated: number | undefined,
  amountSats: number | undefined,
): Promise<void> {
  if (stated === undefined && amountSats === undefined) return;
  const { parseInvoice } = await loadBolt11();
  let amountMsat: number | null;
  try {
    amountMsat = parseInvoice(invoice).unsigned.amountMsat;
  } catch (error) {
    if (error instanceof InvalidInvoice) throw inputFault('destination', error.message);
    throw error;
  }
  if (amountMsat === null) return;
  if (stated !== undefined && stated !== amountMsat)
    throw inputFault('destination', 'states another amount than its invoice');
  if (amountSats !== undefined && amountSats * 1000 !== amountMsat)
    throw inputFault('amountSats', `differs from the invoice, which asks for ${formatMsat(amountMsat)}`);
}
