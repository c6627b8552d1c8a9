import { describe, expect, onTestFinished, test } from 'vitest';
import type { OutgoingRequest } from '../../src/daemon/base/world.ts';
import { decodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import type { LightningBackend } from '../../src/daemon/features/lightning/index.ts';
import type { LightningAdapter } from '../../src/daemon/upstream/lightning/adapter.ts';
import { electrum } from '../../src/daemon/upstream/lightning/electrum.ts';
import { lnd } from '../../src/daemon/upstream/lightning/lnd.ts';
import { nwc } from '../../src/daemon/upstream/lightning/nwc.ts';
import { phoenixd } from '../../src/daemon/upstream/lightning/phoenixd.ts';
import { requestFor } from '../daemon/upstream/lightning/lightning-backend.contract.ts';
import { fakeWorld } from '../support/fake-world.ts';
import { incomingAnswer } from '../support/incoming-answer.ts';
import { lndMacaroon } from '../support/lightning/fake-lnd.ts';
import { FakeNode } from '../support/lightning/fake-node.ts';
import { type FakeNwcOptions, startFakeNwc } from '../support/lightning/fake-nwc.ts';

/** What wallets and nodes really answer, by the public reports that name it. */

const never = new AbortController().signal;
const hash = 'ab'.repeat(32);
const preimage = 'cd'.repeat(32);

type Json = Record<string, unknown>;

/** A wallet whose answers to a method are changed, and the back end that uses it. */
async function nwcWith(
  changes: (answer: Json, method: string) => unknown,
  options: Pick<FakeNwcOptions, 'encryption' | 'isUnknown'> = {},
) {
  const fake = await startFakeNwc({ rewrite: changes, ...options });
  const world = fakeWorld({ now: Date.now() });
  const deps = { url: '', network: 'regtest', send: world.send, secret: async () => fake.secret } as const;
  const backend = nwc.create({ ...deps, world });
  onTestFinished(async () => {
    const closing = backend.close?.();
    await fake.close();
    await closing;
  });
  return { ...fake, backend };
}

/** The back end of a node that gives one answer to each path or command that contains a name. */
function answering(
  adapter: LightningAdapter,
  secret: string,
  answers: Record<string, unknown>,
): LightningBackend {
  const world = fakeWorld();
  const send = async ({ url, body }: OutgoingRequest) => {
    const asked = `${url} ${body ?? ''}`;
    const found = Object.entries(answers).find(([name]) => asked.includes(name));
    return incomingAnswer(found ? 200 : 404, JSON.stringify(found ? found[1] : {}));
  };
  return adapter.create({ url: 'http://node', network: 'regtest', secret: async () => secret, send, world });
}

const nodes = {
  lnd: (invoice: Json) => answering(lnd, lndMacaroon, { '/v1/invoice/': invoice }),
  phoenixd: (invoice: Json) => answering(phoenixd, 'password', { '/payments/incoming/': invoice }),
  electrum: ({ request, entry }: Json) =>
    answering(electrum, 'user:password', {
      get_request: { result: request },
      lightning_history: { result: [entry] },
    }),
};

describe('what was received for a paid invoice', () => {
  test.each([
    ['text (Kukks/BTCPayServerPlugins#90)', { amount: '25000' }, 25_000],
    ['text with blanks', { amount: ' 25000 ' }, 25_000],
    ['a number', { amount: 25_000 }, 25_000],
    ['nothing', { amount: undefined }, null],
    ['null', { amount: null }, null],
    ['zero (getAlby/hub#461)', { amount: 0 }, null],
    ['a fraction', { amount: 25_000.5 }, null],
    ['a negative number', { amount: -25_000 }, null],
    ['words', { amount: '25 sats' }, null],
  ])('that an NWC wallet gives as %s', async (_name, changes, receivedMsat) => {
    const { backend, node } = await nwcWith((answer, method) =>
      method === 'lookup_invoice'
        ? { ...answer, result: { ...(answer.result as Json), ...changes } }
        : answer,
    );
    const { invoice, paymentHash } = node.createInvoice({ amountMsat: 25_000, description: 'Tea' });
    node.receive(invoice);
    expect(await backend.lookUpInvoice(paymentHash, never)).toEqual({ receivedMsat });
  });

  test.each([
    ['lnd', { state: 'SETTLED', amt_paid_msat: '25000' }, 25_000],
    ['lnd', { state: 'SETTLED', amt_paid_msat: 25_000 }, 25_000],
    ['lnd', { state: 'SETTLED', amt_paid_msat: '0' }, null],
    ['lnd', { state: 'SETTLED' }, null],
    ['phoenixd', { isPaid: true, receivedSat: 25 }, 25_000],
    ['phoenixd', { isPaid: true, receivedSat: '25' }, 25_000],
    // Everything became fee credit (getAlby/hub#461).
    ['phoenixd', { isPaid: true, receivedSat: 0 }, null],
    ['phoenixd', { isPaid: true }, null],
    [
      'electrum',
      { request: { status: 3, amount_msat: '25000' }, entry: { payment_hash: hash, amount_msat: '25000' } },
      25_000,
    ],
    [
      'electrum',
      { request: { status: 3, amount_msat: 25_000 }, entry: { payment_hash: hash, amount_msat: 'all' } },
      null,
    ],
  ] as const)('that %s gives as %j', async (name, answer, receivedMsat) => {
    expect(await nodes[name](answer).lookUpInvoice(hash, never)).toEqual({ receivedMsat });
  });
});

describe('whether an NWC wallet was paid', () => {
  test.each([
    [
      'settled_at as text, without a state (getAlby/nostr-wallet-connect#206)',
      { state: undefined, settled_at: '1704412800' },
    ],
    ['settled_at as a date', { state: undefined, settled_at: '2024-01-05T00:00:00Z' }],
    [
      'settled_at in milliseconds (Kukks/BTCPayServerPlugins#90)',
      { state: undefined, settled_at: 1_704_412_800_000 },
    ],
    ['a state in capitals', { state: 'SETTLED' }],
  ])('is told by %s', async (_name, changes) => {
    const { backend, node } = await nwcWith((answer, method) =>
      method === 'lookup_invoice'
        ? { ...answer, result: { ...(answer.result as Json), ...changes } }
        : answer,
    );
    const { paymentHash } = node.createInvoice({ amountMsat: 25_000, description: 'Tea' });
    expect(await backend.lookUpInvoice(paymentHash, never)).toEqual({ receivedMsat: 25_000 });
  });

  test.each([
    ['no state and no time', { state: undefined }],
    ['a time of zero', { state: undefined, settled_at: 0 }],
    ['the zero time of Go', { state: undefined, settled_at: '0001-01-01T00:00:00Z' }],
    ['null', { state: undefined, settled_at: null }],
    ['a pending state, whatever the time', { state: 'pending', settled_at: 1_704_412_800 }],
  ])('is not told by %s', async (_name, changes) => {
    const { backend, node } = await nwcWith((answer, method) =>
      method === 'lookup_invoice'
        ? { ...answer, result: { ...(answer.result as Json), ...changes } }
        : answer,
    );
    const { paymentHash } = node.createInvoice({ amountMsat: 25_000, description: 'Tea' });
    expect(await backend.lookUpInvoice(paymentHash, never)).toBeUndefined();
  });
});

describe('the fee of a payment', () => {
  test.each([
    ['text (Kukks/BTCPayServerPlugins#90)', '1000', 1000],
    ['nothing', undefined, 0],
    ['null', null, 0],
    ['words', '1 sat', null],
    ['a negative number', -1, null],
  ])('that an NWC wallet gives as %s', async (_name, fee, feeMsat) => {
    const { backend, node } = await nwcWith(({ result, ...answer }, method) =>
      method === 'get_balance'
        ? { ...answer, result }
        : { ...answer, result: { ...(result as Json), fees_paid: fee } },
    );
    const invoice = node.foreignInvoice(25_000);
    expect(await backend.pay(requestFor(invoice))).toMatchObject({ state: 'succeeded', feeMsat });
  });

  test.each([
    [{ fee_msat: '1000' }, 1000],
    [{}, 0],
    [{ fee_msat: 'much' }, null],
  ])('that LND gives as %j', async (fee, feeMsat) => {
    const result = { status: 'SUCCEEDED', payment_preimage: preimage, ...fee };
    const backend = answering(lnd, lndMacaroon, { '/v2/router/track/': { result } });
    expect(await backend.lookUpPayment(hash, never)).toMatchObject({ state: 'succeeded', feeMsat });
  });
});

// PrimalHQ/primal-android-app#638, coinos/coinos-server#72, ZeusLN/zeus#4036: custodial wallets have no proof of payments
// between their own users. Only the owner of the host ends those, who is told of them.
test.each([
  ['nothing', undefined],
  ['null', null],
  ['an empty text', ''],
  ['zeros', '0'.repeat(64)],
  ['an id of the wallet', '6c84fb90-12c4-11e1-840d-7b25c5ee775a'],
])('a payment whose proof an NWC wallet gives as %s is pending', async (_name, preimage) => {
  const { backend, node } = await nwcWith(({ result, ...answer }, method) => {
    const isOfPayment = method === 'pay_invoice' || method === 'lookup_invoice';
    return { ...answer, result: isOfPayment ? { ...(result as Json), preimage } : result };
  });
  const request = requestFor(node.foreignInvoice(25_000));
  expect(await backend.pay(request)).toEqual({ state: 'pending' });
  expect(await backend.lookUpPayment(request.paymentHash, never)).toEqual({ state: 'pending' });
});

describe('a payment that an NWC wallet refuses', () => {
  const refusing =
    (code: unknown, lookUp: 'not found' | 'refused' | 'as it is' = 'not found') =>
    (answer: Json, method: string) => {
      if (method === 'pay_invoice') return { ...answer, result: null, error: { code, message: 'no' } };
      if (method !== 'lookup_invoice' || lookUp === 'as it is') return answer;
      const error = { code: lookUp === 'refused' ? 'RESTRICTED' : 'NOT_FOUND', message: 'no' };
      return { ...answer, result: null, error };
    };

  test.each([
    ['INSUFFICIENT_BALANCE', 'insufficient_balance'],
    ['QUOTA_EXCEEDED', 'rejected'],
    ['RATE_LIMITED', 'rejected'],
    ['RESTRICTED', 'rejected'],
    ['UNAUTHORIZED', 'rejected'],
    ['NOT_IMPLEMENTED', 'rejected'],
    // Not in NIP-47 (getAlby/hub#2346, Kukks/BTCPayServerPlugins#72).
    ['EXPIRED', 'rejected'],
    ['BAD_REQUEST', 'rejected'],
    ['UNSUPPORTED_ENCRYPTION', 'rejected'],
    ['quota_exceeded', 'rejected'],
  ])('with %s has failed, even if the look-up is refused, too (getAlby/hub#1746)', async (code, reason) => {
    for (const lookUp of ['not found', 'refused'] as const) {
      const { backend, node } = await nwcWith(refusing(code, lookUp));
      const invoice = new FakeNode().foreignInvoice(25_000);
      expect(await backend.pay(requestFor(invoice))).toEqual({ state: 'failed', reason });
      expect(node.outgoing.size).toBe(0);
    }
  });

  test('is pending if the wallet knows a payment of it, whatever the code says', async () => {
    const { backend, node } = await nwcWith(refusing('QUOTA_EXCEEDED', 'as it is'));
    node.next('hold');
    const invoice = node.foreignInvoice(25_000);
    node.pay(invoice);
    expect(await backend.pay(requestFor(invoice))).toEqual({ state: 'pending' });
    node.end(invoice, 'succeeded');
    expect(await backend.lookUpPayment(decodeInvoice(invoice).paymentHash, never)).toMatchObject({
      state: 'succeeded',
    });
  });

  test.each(['PAYMENT_FAILED', 'INTERNAL', 'OTHER', 'NOT_FOUND', 'TIMEOUT', '', 402, null])(
    'with %j, which says not that nothing was sent, is pending (lnbits/lnbits#4066)',
    async (code) => {
      const { backend, node } = await nwcWith(refusing(code));
      const invoice = node.foreignInvoice(25_000);
      expect(await backend.pay(requestFor(invoice))).toEqual({ state: 'pending', isUnknown: true });
    },
  );
});

// BenGWeeks/lightning-piggy-mobile#737, nostrdevkit/nostr#1392, Kukks/BTCPayServerPlugins#148: wallets that publish no event about
// themselves, or whose relay lost it, and that understand one encryption only.
test.each(['nip04', 'nip44_v2'] as const)(
  'a wallet that only speaks %s, and does not say so, is asked in it',
  async (encryption) => {
    const { backend, node } = await nwcWith((answer) => answer, { encryption, isUnknown: true });
    const request = requestFor(node.foreignInvoice(25_000));
    expect(await backend.pay(request)).toMatchObject({ state: 'succeeded' });
    await backend.prepare(never);
    expect(node.outgoing.size).toBe(1);
  },
);

// stackernews/stacker.news#2342: what the wallet said about it was lost.
test.each([
  ['a text', { error: 'Failed to decrypt request.' }, 'without a result: Failed to decrypt request.'],
  [
    'a code and a message',
    { error: { code: 'INTERNAL', message: 'no  inbound\nliquidity.' } },
    'The wallet refused get_balance: INTERNAL (no inbound liquidity).',
  ],
  ['a code', { error: { code: 'INTERNAL' } }, 'The wallet refused get_balance: INTERNAL.'],
  ['nothing', {}, 'The wallet sent an answer without a result.'],
])('why an NWC wallet refuses is told where it sends %s', async (_what, sent, sentence) => {
  const { backend } = await nwcWith((answer, method) =>
    method === 'get_balance' ? { result_type: method, ...sent } : answer,
  );
  await expect(backend.prepare(never)).rejects.toThrow(sentence);
});

test('an NWC wallet that sends an empty error with its result is read', async () => {
  const { backend } = await nwcWith((answer) => ({ ...answer, error: {} }));
  await backend.prepare(never);
});

describe('a macaroon', () => {
  const lines = lndMacaroon.replace(/.{60}/g, '$&\n');
  test.each([
    ['in hexadecimal', lndMacaroon],
    ['in hexadecimal in capitals', lndMacaroon.toUpperCase()],
    ['in lines, as `xxd -p` prints it', lines],
    ['with colons', lndMacaroon.replace(/..(?=.)/g, '$&:')],
    ['with a prefix', `0x${lndMacaroon}`],
    ['in base64', Buffer.from(lndMacaroon, 'hex').toString('base64')],
    [
      'in lines of base64, as `base64` prints it',
      Buffer.from(lndMacaroon, 'hex').toString('base64').replace(/.{76}/g, '$&\n'),
    ],
    ['in base64url', Buffer.from(lndMacaroon, 'hex').toString('base64url')],
  ])('is read %s', (_name, text) => {
    expect(lnd.parseSecret(Buffer.from(text))).toBe(lndMacaroon);
  });

  test('is read as the file that LND wrote', () => {
    expect(lnd.parseSecret(Buffer.from(lndMacaroon, 'hex'))).toBe(lndMacaroon);
  });
});

test.each([
  'http-password=hunter2hunter2',
  'http-password = hunter2hunter2\r\nwebhook=x',
  '\ufeffhttp-password=hunter2hunter2',
])("the password of phoenixd's configuration is read from %j", (text) => {
  expect(phoenixd.parseSecret(Buffer.from(text))).toBe('hunter2hunter2');
});

describe('a connection string', () => {
  const key = 'ab'.repeat(32);
  const rest = `relay=wss%3A%2F%2Frelay.example&secret=${key}`;
  test.each([
    ['as in NIP-47', `nostr+walletconnect://${key}?${rest}`],
    [
      'with several relays (getAlby/js-sdk#367)',
      `nostr+walletconnect://${key}?relay=wss://b.example&${rest}`,
    ],
    ['with a relay that is no address, and one that is', `nostr+walletconnect://${key}?relay=none&${rest}`],
    ['without slashes', `nostr+walletconnect:${key}?${rest}`],
    ['without a plus', `nostrwalletconnect://${key}?${rest}`],
    ['with a slash after the key', `nostr+walletconnect://${key}/?${rest}`],
    ['in capitals', `NOSTR+WALLETCONNECT://${key.toUpperCase()}?${rest}`],
    ['with an address for the same wallet', `nostr+walletconnect://${key}?${rest}&lud16=a@b.example`],
    [
      'as BTCPay Server stores it (btcpayserver/btcpayserver#6467)',
      `type=nwc;key=nostr+walletconnect://${key}?${rest}`,
    ],
  ])('is read %s', (_name, text) => {
    expect(nwc.parseSecret(Buffer.from(`${text}\n`))).toBe(text);
  });

  test.each([
    ['without a relay', `nostr+walletconnect://${key}?secret=${key}`],
    ['without a secret', `nostr+walletconnect://${key}?relay=wss://relay.example`],
    ['with half a key', `nostr+walletconnect://${key.slice(32)}?${rest}`],
    ['with a relay over HTTP', `nostr+walletconnect://${key}?relay=https://relay.example&secret=${key}`],
  ])('is refused %s', (_name, text) => {
    expect(nwc.parseSecret(Buffer.from(text))).toBeUndefined();
  });
});
