import { bech32 } from '@scure/base';
import { describe, expect, test } from 'vitest';
import type { OutgoingRequest } from '../../src/daemon/base/world.ts';
import { decodeInvoice, encodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import { proofIn } from '../../src/daemon/features/payment-required/proof.ts';
import { l402Credential } from '../../src/daemon/features/paywalls/l402.ts';
import { readDestination } from '../../src/daemon/features/wallet/destinations.ts';
import { askService, requestInvoice } from '../../src/daemon/features/wallet/lnurl-pay.ts';
import { paymentOffersIn } from '../../src/shared/payments/payment-offers.ts';
import { formatCredential, toBase64Url } from '../../src/shared/payments/payment-scheme.ts';
import { chains } from '../../src/shared/payments/x402.ts';
import { incomingAnswer } from '../support/incoming-answer.ts';

/** The forms in which servers ask for payments and clients prove them, by the public reports that name them. */

const invoice = encodeInvoice(
  {
    network: 'regtest',
    amountMsat: 3000,
    timestamp: 1_795_000_000,
    paymentHash: new Uint8Array(32).fill(1),
    paymentSecret: new Uint8Array(32).fill(2),
    description: 'Tea',
    features: [8, 14],
  },
  new Uint8Array(32).fill(7),
);
const token = `AgEE+/bHNhdA${'AJ'.repeat(20)}==`;
const preimage = 'ab'.repeat(32);

describe('an L402 challenge', () => {
  const offered = [{ scheme: 'L402', token, invoice }];
  test.each([
    ['as in the specification', `L402 macaroon="${token}", invoice="${invoice}"`],
    ['under its former name', `LSAT macaroon="${token}", invoice="${invoice}"`],
    ['in small letters', `l402 macaroon="${token}", invoice="${invoice}"`],
    ['without commas (lightning/blips#26)', `L402 macaroon="${token}" invoice="${invoice}"`],
    [
      'without commas, with a version',
      `L402 version="0" token="${token}" macaroon="${token}" invoice="${invoice}"`,
    ],
    ['with bare base64 (lightning/blips#26)', `L402 macaroon=${token}, invoice=${invoice}`],
    ['with bare base64 without commas', `L402 macaroon=${token} invoice=${invoice}`],
    ['with semicolons', `L402 macaroon="${token}"; invoice="${invoice}"`],
    [
      'without a blank after the comma (mhoc/axios-digest-auth#6)',
      `L402 macaroon="${token}",invoice="${invoice}"`,
    ],
    ['with blanks around the sign', `L402 macaroon = "${token}" , invoice = "${invoice}"`],
    ['with apostrophes', `L402 macaroon='${token}', invoice='${invoice}'`],
    ['on several lines', `L402 macaroon="${token}",\n  invoice="${invoice}"`],
    [
      'with the newer name of the token (getAlby/js-lightning-tools#322)',
      `L402 token="${token}", invoice="${invoice}"`,
    ],
    ['with a URI of the invoice', `L402 macaroon="${token}", invoice="lightning:${invoice}"`],
    ['behind another scheme', `Bearer realm="a b, c", L402 macaroon="${token}", invoice="${invoice}"`],
    [
      'behind another scheme without commas',
      `Bearer realm="a" L402 macaroon="${token}" invoice="${invoice}"`,
    ],
    ['before another scheme', `L402 macaroon="${token}" invoice="${invoice}", Basic realm="a"`],
    [
      'with a parameter twice (getsentry/sentry-mcp#939)',
      `L402 macaroon="${token}", macaroon="AAAA", invoice="${invoice}"`,
    ],
    [
      'behind another method of payment (zeriontech/zerion-ai#108)',
      `Payment id="a", realm="z", method="tempo", intent="charge", request="eyJhIjoxfQ", L402 macaroon="${token}", invoice="${invoice}"`,
    ],
  ])('is read %s', (_name, header) => {
    expect(paymentOffersIn({ 'www-authenticate': header })).toMatchObject(offered);
  });

  test.each([
    ['without an invoice', `L402 macaroon="${token}"`],
    ['without a token', `L402 invoice="${invoice}"`],
    ['within a value of another scheme', `Bearer realm="L402 macaroon=${token} invoice=${invoice}"`],
    ['of another scheme', `Bearer macaroon="${token}", invoice="${invoice}"`],
  ])('is none %s', (_name, header) => {
    expect(paymentOffersIn({ 'www-authenticate': header })).toEqual([]);
  });
});

describe('an L402 credential', () => {
  test.each([
    ['as in the specification', `L402 ${token}:${preimage}`],
    ['under its former name', `LSAT ${token}:${preimage}`],
    ['with capitals', `l402 ${token}:${preimage.toUpperCase()}`],
    ['with blanks around the colon', `L402 ${token} : ${preimage} `],
    ['in quotation marks', `L402 "${token}:${preimage}"`],
  ])('is read %s', (_name, header) => {
    expect(l402Credential(header)).toEqual({
      token,
      preimage: expect.stringMatching(new RegExp(`^${preimage}$`, 'i')),
    });
  });

  test.each([
    ['with half a preimage', `L402 ${token}:${preimage.slice(32)}`],
    [
      'with two tokens, of which each would have to be checked (lightninglabs/aperture#143)',
      `L402 ${token},${token}:${preimage}`,
    ],
  ])('is refused %s', (_name, header) => {
    expect(l402Credential(header)).toBe('malformed');
  });
});

describe('a Payment challenge', () => {
  const charge = { amount: '3', currency: 'sat', methodDetails: { invoice } };
  const challengeWith = (request: string) =>
    `Payment id="c1", realm="weather", method="lightning", intent="charge", request="${request}"`;
  const encoded = (json: unknown) => toBase64Url(JSON.stringify(json));

  test.each([
    ['as in the draft', challengeWith(encoded(charge))],
    ['without commas', challengeWith(encoded(charge)).replaceAll(',', '')],
    ['with padding', challengeWith(Buffer.from(JSON.stringify(charge)).toString('base64'))],
    ['with an amount that is a number', challengeWith(encoded({ ...charge, amount: 3 }))],
    ['with another case of the currency', challengeWith(encoded({ ...charge, currency: 'SAT' }))],
    ['with the plural of the currency', challengeWith(encoded({ ...charge, currency: 'sats' }))],
    ['with members that nobody knows', challengeWith(encoded({ ...charge, note: '?' }))],
  ])('is read %s', (_name, header) => {
    expect(paymentOffersIn({ 'www-authenticate': header })).toMatchObject([
      { scheme: 'Payment', invoice, terms: { amountMsat: 3000 } },
    ]);
  });

  test.each([
    ['millisatoshis', { ...charge, currency: 'msat' }],
    ['dollars', { ...charge, currency: 'usd' }],
    ['a fraction', { ...charge, amount: 3.5 }],
    ['a text that is no number', { ...charge, amount: '3e0' }],
    ['nothing', { ...charge, amount: 0 }],
    ['no amount', { ...charge, amount: undefined }],
  ])('over %s is none', (_name, json) => {
    expect(paymentOffersIn({ 'www-authenticate': challengeWith(encoded(json)) })).toEqual([]);
  });

  test.each([
    ['in small letters', preimage],
    ['in capitals', preimage.toUpperCase()],
  ])('is answered with a preimage %s', (_name, given) => {
    const challenge = {
      id: 'c1',
      realm: 'weather',
      method: 'lightning',
      intent: 'charge',
      request: encoded(charge),
    };
    const header = formatCredential({ challenge, payload: { preimage: given } });
    for (const authorization of [header, header.replace('Payment', 'payment'), `${header}==`])
      expect(proofIn({ authorization })).toMatchObject({ scheme: 'payment', preimage });
  });
});

describe('an x402 offer', () => {
  const accepted = {
    scheme: 'exact',
    network: `bip122:${chains.regtest}`,
    amount: '3000',
    asset: 'BTC',
    payTo: 'anonymous',
    maxTimeoutSeconds: 300,
    extra: { paymentMethod: 'lightning', invoice },
  };
  const offer = { x402Version: 2, resource: { url: 'http://weather.example/' }, accepts: [accepted] };
  const base64 = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64');

  test.each([
    ['as in the specification', base64(offer)],
    ['as base64url without padding', toBase64Url(JSON.stringify(offer))],
    ['as JSON that is not encoded (SlumperSan/agent-governed-vaults#279)', JSON.stringify(offer)],
    ['without a resource (azep-ninja/x402-gateway-template#5)', base64({ ...offer, resource: undefined })],
    ['with a resource that is text', base64({ ...offer, resource: 'http://weather.example/' })],
    ['with a version that is text', base64({ ...offer, x402Version: '2' })],
    [
      'next to others that nobody knows (x402-foundation/x402#2729)',
      base64({
        ...offer,
        accepts: [null, { scheme: 'exact', network: 'base' }, { ...accepted, extra: null }, accepted],
      }),
    ],
    [
      'with a description in any language (thirdweb-dev/js#8941)',
      base64({ ...offer, resource: { url: 'http://weather.example/', description: 'Zürich ☀️ 天気' } }),
    ],
    ['with an amount that is a number', base64({ ...offer, accepts: [{ ...accepted, amount: 3000 }] })],
    ['with a time that is text', base64({ ...offer, accepts: [{ ...accepted, maxTimeoutSeconds: '300' }] })],
    [
      'without what Lightning needs not',
      base64({ ...offer, accepts: [{ ...accepted, asset: undefined, payTo: undefined }] }),
    ],
  ])('is read %s', (_name, header) => {
    expect(paymentOffersIn({ 'payment-required': header })).toMatchObject([
      { scheme: 'x402', invoice, terms: { amountMsat: 3000, network: 'regtest' } },
    ]);
  });

  test('is accepted as it was written: sellers compare it', () => {
    const other = { ...accepted, amount: 3000, maxTimeoutSeconds: '300', note: '?' };
    const [found] = paymentOffersIn({ 'payment-required': base64({ ...offer, accepts: [other] }) });
    expect(found).toMatchObject({ accepted: other });
  });

  test.each([
    ['a fraction', 3000.5],
    ['words', 'three'],
    ['nothing', '0'],
    ['dollars', '0.10'],
  ])('over %s is not paid', (_name, amount) => {
    const found = paymentOffersIn({
      'payment-required': base64({ ...offer, accepts: [{ ...accepted, amount }] }),
    });
    expect(found.map(({ terms }) => terms.amountMsat)).toEqual([Number.NaN]);
  });

  test.each([
    ['of another version (Merit-Systems/x402scan#1169)', base64({ ...offer, x402Version: 1 })],
    ['without offers', base64({ ...offer, accepts: undefined })],
    ['without an amount', base64({ ...offer, accepts: [{ ...accepted, amount: undefined }] })],
    ['that is cut off', base64(offer).slice(0, 80)],
  ])('is none %s', (_name, header) => {
    expect(paymentOffersIn({ 'payment-required': header })).toEqual([]);
  });
});

describe('what somebody pastes to pay', () => {
  const upper = invoice.toUpperCase();
  const asked = (text: string, amountMsat?: number) => ({ invoice: text, amountMsat });
  const service = (href: string) => ({ service: new URL(href) });
  const lnurl = bech32.encode('lnurl', bech32.toWords(Buffer.from('https://pay.example/u')), 2000);

  test.each([
    ['an invoice', invoice, asked(invoice)],
    ['one in capitals', upper, asked(upper)],
    ['one of several lines', `${invoice.slice(0, 70)}\n  ${invoice.slice(70)}\n`, asked(invoice)],
    ['one with invisible characters', `\ufeff${invoice}\u200b`, asked(invoice)],
    ['a URI (LN-Zap/zap-desktop#3131)', `lightning:${invoice}`, asked(invoice)],
    ['a URI with slashes', `lightning://${invoice}`, asked(invoice)],
    ['BIP 21 in capitals (breez/breezmobile#85)', `BITCOIN:BC1Q?LIGHTNING=${upper}`, asked(upper)],
    [
      'BIP 21, Lightning first (smolcars/blixt-wallet#798)',
      `bitcoin:bc1q?lightning=${invoice}&amount=0.00000003`,
      asked(invoice, 3000),
    ],
    ['BIP 21 without an address (sbddesign/bip21-site#90)', `bitcoin:?lightning=${invoice}`, asked(invoice)],
    ['BIP 21 with slashes (sbddesign/bip21-site#90)', `bitcoin://?lightning=${invoice}`, asked(invoice)],
    [
      'BIP 21 without a zero before the point',
      `bitcoin:bc1q?amount=.00000003&lightning=${invoice}`,
      asked(invoice, 3000),
    ],
    ['BIP 21 with an empty amount', `bitcoin:bc1q?amount=&lightning=${invoice}`, asked(invoice)],
    ['BIP 21 with a URI in it', `bitcoin:bc1q?lightning=lightning:${invoice}`, asked(invoice)],
    [
      'an LNURL (getlipa/lipa-lightning-lib#893)',
      `lightning:${lnurl.toUpperCase()}`,
      service('https://pay.example/u'),
    ],
    [
      'a link whose parameter is in capitals',
      `HTTPS://SHOP.EXAMPLE/?LIGHTNING=${lnurl.toUpperCase()}`,
      service('https://pay.example/u'),
    ],
    ['LUD-17 of a hidden service', 'lnurlp://abc.onion/u', service('http://abc.onion/u')],
    [
      'an address with a sign',
      '⚡️alice@example.com',
      service('https://example.com/.well-known/lnurlp/alice'),
    ],
    [
      'an address as a URI',
      'lightning:Alice@Example.com',
      service('https://example.com/.well-known/lnurlp/alice'),
    ],
    [
      'an address of a public key (cashubtc/npubcash-server#33)',
      'npub1wg4j2adhl5mmyglvlegmzpqlzx6sl4jpelh8l8xp99wc5kas2rpq5qgaxf@npub.cash',
      service(
        'https://npub.cash/.well-known/lnurlp/npub1wg4j2adhl5mmyglvlegmzpqlzx6sl4jpelh8l8xp99wc5kas2rpq5qgaxf',
      ),
    ],
  ])('is read: %s', async (_name, text, destination) => {
    expect(await readDestination(text)).toMatchObject(destination);
  });

  test.each([
    ['an amount with a comma', `bitcoin:bc1q?amount=0,00000003&lightning=${invoice}`],
    ['an amount with an exponent', `bitcoin:bc1q?amount=3e-8&lightning=${invoice}`],
    ['an amount that is only a point', `bitcoin:bc1q?amount=.&lightning=${invoice}`],
  ])('is refused: %s', async (_name, text) => {
    expect(await readDestination(text)).toMatchObject({ fault: 'has an amount that is not valid' });
  });
});

test('an invoice in mixed case, which bech32 forbids, is refused', () => {
  expect(decodeInvoice(invoice.toUpperCase()).amountMsat).toBe(3000);
  expect(() => decodeInvoice(`${invoice.slice(0, 20).toUpperCase()}${invoice.slice(20)}`)).toThrow();
});

describe('a service that issues invoices', () => {
  const terms = {
    tag: 'payRequest',
    callback: 'https://pay.example/callback',
    minSendable: 1000,
    maxSendable: 5000,
    metadata: '[["text/plain","Tea"]]',
  };
  /** A service that answers each request in turn. */
  const serviceWith = (...answers: { status?: number; json: unknown }[]) => {
    const asked: string[] = [];
    const send = async ({ url }: OutgoingRequest) => {
      const { status = 200, json } = answers[asked.length] ?? { json: {} };
      asked.push(url);
      return incomingAnswer(status, JSON.stringify(json));
    };
    return { deps: { isPublic: () => true, world: { send } }, asked };
  };
  const at = new URL('https://pay.example/.well-known/lnurlp/alice');

  test.each([
    ['as in LUD-06', {}],
    ['with amounts as text', { minSendable: '1000', maxSendable: '5000' }],
    ['with a comment length as text', { commentAllowed: '0' }],
    ['without a comment length (cashubtc/npubcash-server#33)', { commentAllowed: undefined }],
    ['with other letters of the tag', { tag: 'payrequest' }],
    ['without a tag', { tag: undefined }],
    ['with a relative address', { callback: '/callback' }],
    [
      'with an identifier before the description (plasma-social/plasma#338)',
      { metadata: '[["text/identifier","a@b"],["text/plain","Tea"]]' },
    ],
    [
      'with a long description only (getlipa/lipa-lightning-lib#893)',
      { metadata: '[["text/long-desc","Tea"]]' },
    ],
    ['with metadata that are a list', { metadata: [['text/plain', 'Tea']] }],
  ])('is read %s', async (_name, changes) => {
    const { deps } = serviceWith({ json: { ...terms, ...changes } });
    expect(await askService(deps, at)).toMatchObject({
      callback: new URL(terms.callback),
      min: 1000,
      max: 5000,
      description: 'Tea',
      commentMax: 0,
    });
  });

  test.each([
    ['a withdrawal', { tag: 'withdrawRequest' }, 'something else than a payment'],
    ['no tag and no amounts', { tag: undefined, minSendable: undefined }, 'something else than a payment'],
    ['a negative amount', { minSendable: -1 }, 'not valid'],
    ['an amount of nothing (be-BOP-io-SA/be-BOP#2555)', { minSendable: 0 }, 'not valid'],
    ['an amount with a fraction', { minSendable: 1000.5 }, 'not valid'],
    ['an address that is none', { callback: 5 }, 'not valid'],
    ['metadata that cannot be read', { metadata: '[' }, 'not valid'],
  ])('is refused with %s', async (_name, changes, sentence) => {
    const { deps } = serviceWith({ json: { ...terms, ...changes } });
    await expect(askService(deps, at)).rejects.toThrow(sentence);
  });

  test.each([
    ['as in LUD-06', { json: { pr: invoice } }],
    ['in capitals', { json: { pr: invoice.toUpperCase() } }],
    ['as a URI', { json: { pr: `lightning:${invoice}` } }],
    ['with a line break', { json: { pr: `${invoice}\n` } }],
    ['created', { status: 201, json: { pr: invoice, status: 'OK' } }],
  ])('issues one: %s', async (_name, answer) => {
    const { deps } = serviceWith({ json: terms }, answer);
    const issued = await requestInvoice(deps, await askService(deps, at), {
      amountMsat: 3000,
      comment: undefined,
    });
    expect(issued.invoice.toLowerCase()).toBe(invoice);
  });

  // stackernews/stacker.news#735, BlitzWallet/BlitzWallet#588: what a service says is shown, in whatever member it says it.
  test.each([
    ['a message', { status: 400, json: { message: 'No such user.' } }, 'refused: No such user.'],
    [
      'a detail',
      { status: 404, json: { detail: 'Pay link does not exist.' } },
      'refused: Pay link does not exist.',
    ],
    ['an error', { status: 404, json: { error: 'gone' } }, 'refused: gone.'],
    ['an error with a message', { status: 500, json: { error: { message: 'late' } } }, 'refused: late.'],
    ['a message in place of a reason', { json: { status: 'ERROR', message: 'gone' } }, 'refused: gone.'],
    ['no reason', { json: { status: 'ERROR', reason: { why: 'gone' } } }, 'refused: without a reason.'],
    ['no member that anybody knows', { status: 404, json: { x: 1 } }, 'answered with status 404.'],
    ['a list of faults', { status: 422, json: { detail: [{ msg: 'bad' }] } }, 'answered with status 422.'],
  ])('that refuses with %s says why', async (_name, answer, sentence) => {
    const { deps } = serviceWith(answer);
    await expect(askService(deps, at)).rejects.toThrow(`pay.example ${sentence}`);
  });

  // lnbits/lnbits#3182, getAlby/hub#1184, michaelWuensch/BitBanana#112, PrimalHQ/primal-web-app#198
  test('may be called back at another host, and names no hash, but must not name another', async () => {
    const elsewhere = { ...terms, callback: 'https://other.example/pay?x=1', routes: [] };
    const issue = async (pr: string) => {
      const { deps, asked } = serviceWith({ json: elsewhere }, { json: { pr, successAction: null } });
      await requestInvoice(deps, await askService(deps, at), { amountMsat: 3000, comment: undefined });
      return asked.at(-1);
    };
    expect(await issue(invoice)).toBe('https://other.example/pay?x=1&amount=3000');
    const { paymentSecret, timestamp } = { paymentSecret: new Uint8Array(32), timestamp: 1_795_000_000 };
    const common = {
      network: 'regtest',
      amountMsat: 3000,
      timestamp,
      paymentSecret,
      features: [8, 14],
    } as const;
    const hash = new Uint8Array(32).fill(3);
    const other = encodeInvoice(
      { ...common, paymentHash: hash, description: { hash } },
      new Uint8Array(32).fill(7),
    );
    await expect(issue(other)).rejects.toThrow('issued an invoice for something else');
  });

  test.each(['ERROR', 'error'])('that refuses with %s says why, whatever its status', async (status) => {
    for (const code of [200, 400, 500]) {
      const { deps } = serviceWith({ json: terms }, { status: code, json: { status, reason: 'Sold out' } });
      const found = await askService(deps, at);
      await expect(requestInvoice(deps, found, { amountMsat: 3000, comment: undefined })).rejects.toThrow(
        'refused: Sold out',
      );
    }
  });
});
