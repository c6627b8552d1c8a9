import { bareInvoice } from './bare-invoice.ts';
import { decodeMacaroon } from './macaroon.ts';
import {
  formatCredential,
  lightningChargeIn,
  type PaymentChallenge,
  parseAuthChallenges,
  parseChallenges,
} from './payment-scheme.ts';
import type { LightningNetwork } from './wallet-backends.ts';
import { chains, formatX402, type PaymentRequirements, parsePaymentRequired } from './x402.ts';

/** A payment that a server asks for with 402. */
export type PaymentOffer = L402Offer | ChargeOffer | X402Offer;

interface Offered {
  /** BOLT 11. */
  invoice: string;
  /** What the offer says about its invoice. */
  terms: OfferedTerms;
}

/** Facts that the invoice has to agree with; those that an offer does not name are left out. */
export interface OfferedTerms {
  amountMsat?: number;
  /** In hexadecimal, like all of them. */
  paymentHash?: string;
  network?: LightningNetwork | 'unknown';
  /** The node that is paid. */
  payee?: string;
  descriptionHash?: string;
}

/** A token that its payment activates; it can be used again. */
export interface L402Offer extends Offered {
  scheme: 'L402';
  /** `LSAT` is the former name. */
  name: 'L402' | 'LSAT';
  token: string;
}

/** A payment for one request. */
export interface ChargeOffer extends Offered {
  scheme: 'Payment';
  challenge: PaymentChallenge;
}

/** A payment for one request. */
export interface X402Offer extends Offered {
  scheme: 'x402';
  accepted: PaymentRequirements;
}

/** The Lightning payments that a 402 offers, in order of preference. Headers by their names in lower case. */
export function paymentOffersIn(headers: Readonly<Record<string, string>>): PaymentOffer[] {
  const challenges = headers['www-authenticate'] ?? '';
  return [
    ...l402Offers(challenges),
    ...chargeOffers(challenges),
    ...x402Offers(headers['payment-required'] ?? ''),
  ];
}

/** The headers that prove a payment. `preimage` is in hexadecimal. */
export function proofOf(offer: PaymentOffer, preimage: string): Record<string, string> {
  switch (offer.scheme) {
    case 'L402':
      return { authorization: `${offer.name} ${offer.token}:${preimage}` };
    case 'Payment': {
      const { challenge } = offer;
      return { [credentialHeader(challenge)]: formatCredential({ challenge, payload: { preimage } }) };
    }
    case 'x402': {
      const { accepted, invoice } = offer;
      const payload = isProvenByPreimage(accepted) ? { preimage } : { invoice };
      return { 'payment-signature': formatX402({ x402Version: 2, accepted, payload }) };
    }
  }
}

/** The facts of a decoded invoice. */
export interface InvoiceFacts {
  amountMsat: number | null;
  paymentHash: string;
  network: string;
  payee: string;
  descriptionHash: string | null;
}

/** How an invoice differs from what its offer says, as the end of a sentence; undefined if it does not. */
export function offerMismatch({ terms }: PaymentOffer, invoice: InvoiceFacts): string | undefined {
  if (invoice.amountMsat === null) return 'has no amount';
  const names = {
    amountMsat: 'is over another amount than the offer',
    paymentHash: 'has another payment hash than the offer',
    network: 'is for another network than the offer',
    payee: 'pays another node than the offer',
    descriptionHash: 'commits to another request than the offer',
  } as const;
  const different = (Object.keys(names) as (keyof typeof names)[]).find(
    (name) => terms[name] !== undefined && terms[name] !== invoice[name],
  );
  return different && names[different];
}

/** What an L402 token says about itself; each is infinite if it does not say. */
export function tokenBounds(token: string): { expiresAt: number; uses: number } {
  const caveats = decodeMacaroon(Buffer.from(token, 'base64'))?.caveats ?? [];
  const lowest = (pattern: RegExp) =>
    Math.min(...caveats.map((caveat) => Number(pattern.exec(caveat)?.[1] ?? Number.POSITIVE_INFINITY)));
  return {
    expiresAt: lowest(/_valid_until=(\d{1,12})$/) * 1000,
    uses: lowest(/_max_uses=(\d{1,12})$/),
  };
}

/** `token` is the newer name of `macaroon`. */
function l402Offers(header: string): L402Offer[] {
  return parseAuthChallenges(header).flatMap(({ scheme, parameters }) => {
    const token = bare(parameters.get('macaroon') ?? parameters.get('token'));
    const invoice = bareInvoice(bare(parameters.get('invoice')) ?? '');
    if (!/^(l402|lsat)$/i.test(scheme) || !token || !/^[!-~]+$/.test(token) || !invoice) return [];
    const name = scheme.toUpperCase() as L402Offer['name'];
    return [{ scheme: 'L402', name, token, invoice, terms: tokenTerms(token) }];
  });
}

/** Without apostrophes in place of quotation marks, which neither tokens nor invoices contain. */
function bare(value: string | undefined): string | undefined {
  return value?.replace(/^'(.*)'$/s, '$1');
}

const identifierVersion = Buffer.of(0, 0);
const hashBytes = 32;

/** The payment hash that a token names, if it is a macaroon with an identifier of the known version. */
function tokenTerms(token: string): OfferedTerms {
  const identifier = decodeMacaroon(Buffer.from(token, 'base64'))?.identifier;
  if (!identifier || !identifierVersion.equals(identifier.subarray(0, 2))) return {};
  return { paymentHash: Buffer.from(identifier.subarray(2, 2 + hashBytes)).toString('hex') };
}

const chargeNetworks: Readonly<Record<string, LightningNetwork>> = {
  mainnet: 'bitcoin',
  regtest: 'regtest',
  signet: 'signet',
};

function chargeOffers(header: string): ChargeOffer[] {
  return parseChallenges(header).flatMap((challenge) => {
    const charge = lightningChargeIn(challenge);
    if (!charge) return [];
    const { invoice, paymentHash, network } = charge.methodDetails;
    const terms: OfferedTerms = {
      amountMsat: Number(charge.amount) * 1000,
      ...(typeof paymentHash === 'string' && { paymentHash: paymentHash.toLowerCase() }),
      ...(network !== undefined && { network: chargeNetworks[network] ?? 'unknown' }),
    };
    return [{ scheme: 'Payment', challenge, invoice: bareInvoice(invoice), terms }];
  });
}

/** The header that carries the credential of a challenge. */
function credentialHeader({ header }: PaymentChallenge): string {
  return header?.toLowerCase() === 'payment-authorization' ? 'payment-authorization' : 'authorization';
}

const isProvenByPreimage = ({ network }: PaymentRequirements) => network.startsWith('lnbtc:');

function x402Offers(header: string): X402Offer[] {
  return (parsePaymentRequired(header)?.accepts ?? []).flatMap((accepted) => {
    const { scheme, amount, extra = {}, network, payTo } = accepted;
    const { invoice, requestHash } = extra;
    const isByPreimage = isProvenByPreimage(accepted);
    const isLightning = isByPreimage || extra.paymentMethod === 'lightning';
    if (scheme !== 'exact' || !isLightning || typeof invoice !== 'string') return [];
    const chain = network.split(':')[1];
    const known = (Object.keys(chains) as LightningNetwork[]).find((name) => chains[name] === chain);
    const terms: OfferedTerms = {
      amountMsat: /^[1-9]\d{0,15}$/.test(String(amount)) ? Number(amount) : Number.NaN,
      network: known ?? 'unknown',
      ...(isByPreimage && typeof payTo === 'string' && { payee: payTo.toLowerCase() }),
      ...(isByPreimage && typeof requestHash === 'string' && { descriptionHash: requestHash.toLowerCase() }),
    };
    return [{ scheme: 'x402', accepted, invoice: bareInvoice(invoice), terms }];
  });
}
