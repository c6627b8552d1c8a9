import { bareInvoice } from '../../../shared/payments/bare-invoice.ts';
import { loadLnurl } from '../lightning/index.ts';

/** What a text asks to pay: an invoice, or a service that issues one. */
export type Destination =
  | {
      /** BOLT 11. */
      invoice: string;
      /** The amount that is stated next to it, in millisatoshis. */
      amountMsat: number | undefined;
    }
  | {
      service: URL;
      /** The Lightning address; undefined for an LNURL. */
      address: string | undefined;
    };

/** Why a text is no destination, as the end of a sentence. */
export interface NoDestination {
  fault: string;
}

const isNone = 'is not a Lightning invoice, address or LNURL';

/**
 * Reads an invoice, a Lightning address (LUD-16), an LNURL (LUD-01, LUD-17) or a URI with one of them: `lightning:` or
 * `bitcoin:` (BIP 21).
 */
export async function readDestination(given: string): Promise<Destination | NoDestination> {
  // Profiles of Nostr show a sign before addresses.
  const text = bareInvoice(given).replace(/^⚡\ufe0f?/u, '');
  if (isInvoice(text)) return { invoice: text, amountMsat: undefined };
  if (/^bitcoin:/i.test(text)) return await readBitcoinUri(text);
  if (/^lnurl1/i.test(text)) {
    const { decodeLnurl } = await loadLnurl();
    return serviceAt(decodeLnurl(text));
  }
  if (/^lnurlp:/i.test(text)) return serviceBehind(text.replace(/^lnurlp:(?:\/\/)?/i, ''));
  if (/^(lnurl[wc]|keyauth):/i.test(text)) return { fault: 'is an LNURL for something else than a payment' };
  if (/^lno1/i.test(text)) return { fault: 'is a BOLT 12 offer, which cannot be paid; ask for an invoice' };
  if (/^https?:/i.test(text)) return await readLink(text);
  return readAddress(text);
}

/** Whether a text looks like an invoice, valid or not. */
export function isInvoice(text: string): boolean {
  return /^ln(bcrt|tbs|bc|tb)\d/i.test(text);
}

async function readBitcoinUri(text: string): Promise<Destination | NoDestination> {
  const parameters = new URLSearchParams(text.slice(text.indexOf('?') + 1 || text.length));
  const parameterOf = (name: string) => [...parameters].find(([key]) => key.toLowerCase() === name)?.[1];
  const inner = bareInvoice(parameterOf('lightning') ?? '');
  if (inner === '') {
    const isOffer = parameterOf('lno') !== undefined;
    return { fault: isOffer ? 'has no Lightning invoice, but a BOLT 12 offer' : 'has no Lightning invoice' };
  }
  const amountMsat = msatIn(parameterOf('amount'));
  if (amountMsat === null) return { fault: 'has an amount that is not valid' };
  if (isInvoice(inner)) return { invoice: inner, amountMsat };
  return /^lnurl1/i.test(inner) ? await readDestination(inner) : { fault: isNone };
}

/** An amount in BTC as millisatoshis; undefined without one, null if it is not valid. */
function msatIn(btc: string | undefined): number | undefined | null {
  if (btc === undefined || btc === '') return undefined;
  const [, whole = '', fraction = ''] = /^(\d{0,8})(?:\.(\d{0,11}))?$/.exec(btc) ?? [];
  return whole + fraction === '' ? null : Number(whole + fraction.padEnd(11, '0'));
}

/** Web pages with a `lightning` parameter are LNURLs for wallets (LUD-01). */
async function readLink(text: string): Promise<Destination | NoDestination> {
  const parameters = [...(URL.parse(text)?.searchParams ?? [])];
  const inner = parameters.find(([name]) => name.toLowerCase() === 'lightning')?.[1];
  return inner && /^lnurl1/i.test(inner) ? await readDestination(inner) : { fault: isNone };
}

function readAddress(text: string): Destination | NoDestination {
  const [, name, domain] = /^([a-z0-9._+-]{1,64})@([a-z0-9.-]{1,253}(?::\d{1,5})?)$/i.exec(text) ?? [];
  if (name === undefined || domain === undefined) return { fault: isNone };
  const found = serviceBehind(`${domain}/.well-known/lnurlp/${name.toLowerCase()}`);
  return 'service' in found ? { ...found, address: text.toLowerCase() } : found;
}

/** The service at a host and path: hidden services of Tor have no certificates. */
function serviceBehind(place: string): Destination | NoDestination {
  const isHidden = /^[^/?#]+\.onion(?::\d+)?(?:[/?#]|$)/i.test(place);
  return serviceAt(`${isHidden ? 'http' : 'https'}://${place}`);
}

function serviceAt(address: string | undefined): Destination | NoDestination {
  const service = address === undefined ? null : URL.parse(address);
  return service ? { service, address: undefined } : { fault: isNone };
}
