import type { NodeMove } from '../../features/lightning/backend.ts';
import { type Json, objectsOf, textOf } from '../json.ts';
import { amountOf, feeOf, timeOf, wholeOf } from './amounts.ts';
import { preimageFrom } from './preimage.ts';

/** Entries contain every attempt with its route. */
const pageSize = 200;

/** The payments and settled invoices of LND that were created since a time. `get` asks for a path. */
export async function lndHistory(get: (path: string) => Promise<Json>, sinceMs: number): Promise<NodeMove[]> {
  const start = Math.max(0, Math.floor(sinceMs / 1000));
  // Versions that do not know the start list everything.
  const since = { creation_date_start: String(start) };
  const payments = await pagesOf(get, 'payments', {
    ...since,
    include_incomplete: 'true',
    max_payments: String(pageSize),
  });
  const invoices = await pagesOf(get, 'invoices', { ...since, num_max_invoices: String(pageSize) });
  const earliest = start * 1000;
  const moves = [
    ...payments.map((payment) => paymentOf(payment, earliest)),
    ...invoices.map((invoice) => receiptOf(invoice, earliest)),
  ];
  return moves.filter((move): move is NodeMove => move !== undefined && move.at >= earliest);
}

/** All entries of a list, oldest first. */
async function pagesOf(
  get: (path: string) => Promise<Json>,
  name: 'payments' | 'invoices',
  query: Record<string, string>,
): Promise<Json[]> {
  const found: Json[] = [];
  for (let offset = 0; ; ) {
    const page = await get(`/v1/${name}?${new URLSearchParams({ ...query, index_offset: String(offset) })}`);
    const entries = objectsOf(page[name]);
    found.push(...entries);
    const last = wholeOf(page.last_index_offset);
    if (entries.length === 0 || last === undefined || last <= offset) return found;
    offset = last;
  }
}

/** What has no time counts as new. */
function paymentOf(payment: Json, earliest: number): NodeMove | undefined {
  const { status, creation_time_ns: nanoseconds, creation_date: seconds } = payment;
  const paymentHash = textOf(payment.payment_hash);
  if (paymentHash === undefined || status === 'FAILED') return undefined;
  const created = textOf(nanoseconds) ?? '';
  const preimage = status === 'SUCCEEDED' && preimageFrom(textOf(payment.payment_preimage), 'hex');
  const invoice = textOf(payment.payment_request);
  return {
    kind: 'payment',
    paymentHash,
    amountMsat: amountOf(payment.value_msat),
    feeMsat: feeOf(payment.fee_msat),
    at: /^\d{7,20}$/.test(created) ? Number(created.slice(0, -6)) : (timeOf(seconds) ?? earliest),
    ...(preimage ? { preimage } : { isPending: true }),
    ...(invoice && { invoice: invoice.toLowerCase() }),
  };
}

function receiptOf(invoice: Json, earliest: number): NodeMove | undefined {
  const { state, r_hash: hash, payment_request: text } = invoice;
  if (state !== 'SETTLED' || typeof hash !== 'string') return undefined;
  const preimage = preimageFrom(textOf(invoice.r_preimage), 'base64');
  return {
    kind: 'receipt',
    paymentHash: Buffer.from(hash, 'base64').toString('hex'),
    amountMsat: amountOf(invoice.amt_paid_msat),
    feeMsat: 0,
    at: timeOf(invoice.creation_date) ?? earliest,
    ...(preimage && { preimage }),
    ...(typeof text === 'string' && text !== '' && { invoice: text.toLowerCase() }),
  };
}
