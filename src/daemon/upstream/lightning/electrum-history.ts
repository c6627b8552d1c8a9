import type { NodeMove } from '../../features/lightning/backend.ts';
import { type Json, objectsOf, textOf } from '../json.ts';
import { amountOf, feeOf, integerOf, timeOf } from './amounts.ts';
import { preimageFrom } from './preimage.ts';

/** Runs a command of Electrum. */
type Run = (command: string) => Promise<unknown>;

/** Separates a mark from the description in a label, which people read in Electrum. */
const separator = ' ';

/** The label of a payment or request with a mark. */
export function markedLabel(mark: string, description: string): string {
  return `${mark}${separator}${description}`.trim();
}

/** The payments and receipts of Electrum since a time, with the marks of their labels. */
export async function electrumHistory(run: Run, sinceMs: number): Promise<NodeMove[]> {
  // The invoices before the history: a payment that succeeds between them is in both.
  const invoices = invoicesIn(await run('list_invoices'));
  const requests = invoicesIn(await run('list_requests'));
  const settled = objectsOf(await run('lightning_history')).flatMap((entry) =>
    moveOf(entry, { invoices, requests, sinceMs }),
  );
  const known = new Set(settled.map(({ paymentHash }) => paymentHash));
  const pending = [...invoices].flatMap(([paymentHash, invoice]): NodeMove[] =>
    pendingStates.includes(invoice.status) && !known.has(paymentHash)
      ? [
          {
            kind: 'payment',
            paymentHash,
            amountMsat: amountOf(invoice.amount_msat),
            feeMsat: 0,
            // It says only when the invoice was made, so a payment of an old one counts as new.
            at: Math.max(sinceMs, timeOf(invoice.timestamp) ?? sinceMs),
            isPending: true,
            ...invoiceOf(invoice),
          },
        ]
      : [],
  );
  return [...settled, ...pending].filter(({ at }) => at >= Math.floor(sinceMs / 1000) * 1000);
}

/** The states of invoices whose payment is under way. Source: electrum/invoices.py. */
const pendingStates: readonly unknown[] = [4, 6];

function invoicesIn(listed: unknown): Map<string, Json> {
  const lightning = objectsOf(listed).filter((each) => textOf(each.lightning_invoice));
  return new Map(
    lightning.map((each) => [
      textOf(each.rhash) ?? textOf(each.invoice_id) ?? textOf(each.request_id) ?? '',
      each,
    ]),
  );
}

const invoiceOf = (found: Json | undefined) => {
  const invoice = textOf(found?.lightning_invoice)?.toLowerCase();
  return invoice ? { invoice } : {};
};

type Listed = Map<string, Json>;

/** A payment that was forwarded is neither sent nor received. */
function moveOf(
  entry: Json,
  { invoices, requests, sinceMs }: { invoices: Listed; requests: Listed; sinceMs: number },
): NodeMove[] {
  const paymentHash = textOf(entry.payment_hash);
  if (paymentHash === undefined) return [];
  const moved = integerOf(entry.amount_msat);
  const label = textOf(entry.label) ?? '';
  const mark = /^gateway-wallet-[0-9a-f]{66}(?= |$)/.exec(label)?.[0];
  const preimage = preimageFrom(textOf(entry.preimage), 'hex');
  const common = {
    paymentHash,
    at: timeOf(entry.timestamp) ?? sinceMs,
    ...(preimage && { preimage }),
    ...(mark !== undefined && { mark }),
  };
  const invoice = invoices.get(paymentHash);
  const request = requests.get(paymentHash);
  if (moved === undefined) {
    if (!invoice && !request && mark === undefined) return [];
    const kind = invoice ? 'payment' : 'receipt';
    return [{ kind, ...common, amountMsat: null, feeMsat: null, ...invoiceOf(invoice ?? request) }];
  }
  if (moved < 0) {
    const fee = feeOf(entry.fee_msat);
    const amountMsat = amountOf(invoice?.amount_msat) ?? (fee === null ? null : amountOf(-moved - fee));
    const feeMsat = amountMsat === null ? fee : -moved - amountMsat;
    // Parts of a payment are settled one by one.
    const state = feeMsat !== null && feeMsat < 0 ? { isPending: true as const, feeMsat: 0 } : { feeMsat };
    return [{ kind: 'payment', ...common, amountMsat, ...state, ...invoiceOf(invoice) }];
  }
  const asked = amountOf(request?.amount_msat);
  if (request === undefined ? mark === undefined : asked !== null && moved < asked) return [];
  return [{ kind: 'receipt', ...common, amountMsat: moved, feeMsat: 0, ...invoiceOf(request) }];
}
