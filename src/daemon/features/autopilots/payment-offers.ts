import {
  formatCredential,
  lightningChargeIn,
  parseAuthChallenges,
  parseChallenges,
} from '../../../shared/payment-scheme.ts';
import { formatX402, parsePaymentRequired } from '../../../shared/x402.ts';

/** A payment that a server asks for with 402. */
export interface PaymentOffer {
  scheme: 'L402' | 'Payment' | 'x402';
  /** BOLT 11. */
  invoice: string;
  /** The headers that prove the payment. `preimage` is in hexadecimal. */
  proofOf(preimage: string): Record<string, string>;
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

/** `LSAT` is the former name of L402, and `token` the newer one of `macaroon`. */
function l402Offers(header: string): PaymentOffer[] {
  return parseAuthChallenges(header).flatMap(({ scheme, parameters }) => {
    const token = parameters.get('macaroon') ?? parameters.get('token');
    const invoice = parameters.get('invoice');
    if (!/^(l402|lsat)$/i.test(scheme) || !token || !/^[!-~]+$/.test(token) || !invoice) return [];
    const name = scheme.toUpperCase();
    return [
      {
        scheme: 'L402' as const,
        invoice,
        proofOf: (preimage: string) => ({ authorization: `${name} ${token}:${preimage}` }),
      },
    ];
  });
}

function chargeOffers(header: string): PaymentOffer[] {
  return parseChallenges(header).flatMap((challenge) => {
    const charge = lightningChargeIn(challenge);
    if (!charge) return [];
    const name =
      challenge.header?.toLowerCase() === 'payment-authorization' ? 'payment-authorization' : 'authorization';
    return [
      {
        scheme: 'Payment' as const,
        invoice: charge.methodDetails.invoice,
        proofOf: (preimage: string) => ({ [name]: formatCredential({ challenge, payload: { preimage } }) }),
      },
    ];
  });
}

function x402Offers(header: string): PaymentOffer[] {
  return (parsePaymentRequired(header)?.accepts ?? []).flatMap((accepted) => {
    const { scheme, network, extra } = accepted;
    const invoice = extra?.invoice;
    const isPreimage = network.startsWith('lnbtc:');
    const isLightning = isPreimage || extra?.paymentMethod === 'lightning';
    if (scheme !== 'exact' || !isLightning || typeof invoice !== 'string') return [];
    return [
      {
        scheme: 'x402' as const,
        invoice,
        proofOf: (preimage: string) => ({
          'payment-signature': formatX402({
            x402Version: 2,
            accepted,
            payload: isPreimage ? { preimage } : { invoice },
          }),
        }),
      },
    ];
  });
}
