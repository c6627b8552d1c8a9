import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { decodeInvoice } from '../../../../src/daemon/features/lightning/bolt11.ts';
import { nip04, nip44, publicKeyOf, signEvent } from '../../../../src/daemon/upstream/lightning/nostr.ts';
import { nwc } from '../../../../src/daemon/upstream/lightning/nwc.ts';
import { startAlbyWalletService } from '../../../support/lightning/alby-wallet-service.ts';
import { type FakeNwcOptions, startFakeNwc, walletSecret } from '../../../support/lightning/fake-nwc.ts';
import { fakeRig } from '../../../support/lightning/rig.ts';
import { lightningBackendContract, requestFor } from './lightning-backend.contract.ts';

async function startRig(options: FakeNwcOptions = {}) {
  const fake = await startFakeNwc(options);
  return { ...fakeRig(nwc, { ...fake, takesFeeLimit: false }), relay: fake.relay };
}

const never = new AbortController().signal;

describe('Nostr Wallet Connect', () => {
  lightningBackendContract(startRig);

  test('speaks NIP-04 with wallets that know no other encryption', async () => {
    const rig = await startRig({ encryption: 'nip04' });
    const invoice = await rig.foreignInvoice(25_000);
    expect(await rig.start().pay(requestFor(invoice))).toMatchObject({ state: 'succeeded', feeMsat: 1000 });
  });

  test('names the methods that a connection does not permit, and sends nothing', async () => {
    const rig = await startRig({ methods: ['get_info', 'get_balance', 'lookup_invoice'] });
    const backend = rig.start();
    await expect(
      backend.createInvoice({ walletId: 'wal_1', amountMsat: 1000, description: '', expirySeconds: 60 }),
    ).rejects.toMatchObject({
      kind: 'unauthorized',
      message: 'The connection does not permit make_invoice.',
    });
    const invoice = await rig.foreignInvoice(25_000);
    expect(await backend.pay(requestFor(invoice))).toEqual({ state: 'failed', reason: 'rejected' });
    expect(rig.node.asked).toEqual([]);
  });

  test('connects again after the relay closed the connection', async () => {
    const rig = await startRig();
    const backend = rig.start();
    await backend.prepare(never);
    rig.relay.disconnect();
    await expect
      .poll(() =>
        backend.prepare(never).then(
          () => 'ready',
          () => 'lost',
        ),
      )
      .toBe('ready');
  });

  test('ignores messages of the relay that are no events, and malformed events that the wallet signed', async () => {
    const rig = await startRig();
    const backend = rig.start();
    await backend.prepare(never);
    const event = (part: object) =>
      signEvent({ kind: 23195, created_at: 1, tags: [], content: '', ...part } as never, walletSecret);
    const malformed = [
      ...[null, 5, 'e', {}, [null], [['e'], 5], [[null]], [[]]].map((tags) => event({ tags })),
      ...[null, 5, {}, []].map((content) => event({ content, tags: [['e', 'x']] })),
      ...[null, {}, '23195', 13194].map((kind) => event({ kind })),
      ...[null, 5, [], {}],
    ];
    for (const each of malformed)
      for (const subject of ['info', 'answers', null])
        rig.relay.broadcast(JSON.stringify(['EVENT', subject, each]));
    for (const text of [
      '',
      'null',
      '{}',
      '[',
      '[]',
      '["EVENT"]',
      '["OK"]',
      '["OK",null,false,null]',
      '["EOSE"]',
    ])
      rig.relay.broadcast(text);
    await expect(backend.prepare(never)).resolves.not.toThrow();
  });

  test('ends requests after an hour, so that a wallet does not carry them out much later', async () => {
    const rig = await startRig();
    await rig.start().prepare(never);
    const request = rig.relay.events.find(({ kind }) => kind === 23194);
    const expiration = Number(request?.tags.find(([name]) => name === 'expiration')?.[1]);
    expect(expiration - (request?.created_at ?? 0)).toBe(3600);
  });

  test.each([
    ['settled', 'succeeded'],
    ['failed', 'failed'],
    ['pending', 'pending'],
    ['expired', 'pending'],
    ['accepted', 'pending'],
    ['', 'pending'],
  ])('a payment that the wallet reports as %j is %s', async (reported, state) => {
    const rig = await startRig();
    const invoice = await rig.foreignInvoice(25_000);
    await rig.start().pay(requestFor(invoice));
    rig.node.reportedState = reported;
    const found = await rig.start().lookUpPayment(decodeInvoice(invoice).paymentHash, never);
    expect(found.state).toBe(state);
  });

  test.each([
    ['can still be paid', 'open', 60, { state: 'pending' }],
    ['expired a moment ago', 'open', -60, { state: 'pending' }],
    ['expired long ago', 'open', -7200, { state: 'failed', reason: 'rejected' }],
    ['was paid', 'paid', -7200, { state: 'pending' }],
  ] as const)(
    'a payment to the wallet itself whose invoice %s: %s, %i s left',
    async (_name, state, left, outcome) => {
      const rig = await startRig();
      const invoice = rig.node.createInvoice({ amountMsat: 1000, description: '' });
      Object.assign(invoice, { state, expiresAt: Date.now() + left * 1000 });
      expect(await rig.start().lookUpPayment(invoice.paymentHash, never)).toEqual(outcome);
    },
  );

  test('reads connection strings, and nothing else', () => {
    const key = 'ab'.repeat(32);
    const whole = `nostr+walletconnect://${key}?relay=wss://relay.example&secret=${key}`;
    expect(nwc.parseSecret(Buffer.from(`${whole}\n`))).toBe(whole);
    for (const text of ['', key, whole.replace('secret', 'other'), whole.replace('wss:', 'https:')])
      expect(nwc.parseSecret(Buffer.from(text))).toBeUndefined();
  });
});

describe.each(['nip44_v2', 'nip04'] as const)('the wallet service of @getalby/sdk over %s', (encryption) => {
  lightningBackendContract(async () => {
    const service = await startAlbyWalletService({ encryption });
    return fakeRig(nwc, { ...service, takesFeeLimit: false });
  });

  test('reads requests in that encryption, and no other', async () => {
    const service = await startAlbyWalletService({ encryption });
    const rig = fakeRig(nwc, { ...service, takesFeeLimit: false });
    await rig.start().prepare(never);
    const request = service.relay.events.find(({ kind }) => kind === 23194);
    const named = request?.tags.find(([name]) => name === 'encryption')?.[1] ?? 'nip04';
    expect(named).toBe(encryption);
    expect(request?.content.includes('?iv=')).toBe(encryption === 'nip04');
  });
});

describe('encrypted messages', () => {
  const key = (last: number) => Uint8Array.from([...new Uint8Array(31), last]);

  test('match the vector of NIP-44', () => {
    const nonce = key(1);
    const sealed = nip44(key(1), publicKeyOf(key(2)), () => nonce).encrypt('a');
    expect(sealed).toBe(
      'AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABee0G5VSK0/9YypIObAtDKfYEAjD35uVkHyB0F4DwrcNaCXlCWZKaArsGrY6M9wnuTMxWfp1RTN9Xga8no+kF5Vsb',
    );
    expect(nip44(key(2), publicKeyOf(key(1)), randomBytes).decrypt(sealed)).toBe('a');
  });

  test.each([
    ['NIP-44', nip44],
    ['NIP-04', nip04],
  ])('%s: only the other key decrypts what was encrypted', (_name, make) => {
    const [alice, bob, eve] = [key(3), key(4), key(5)];
    for (const length of [1, 31, 32, 33, 255, 256, 257, 5000]) {
      const text = 'ü'.repeat(length);
      const sealed = make(alice, publicKeyOf(bob), randomBytes).encrypt(text);
      expect(make(bob, publicKeyOf(alice), randomBytes).decrypt(sealed)).toBe(text);
    }
    const sealed = make(alice, publicKeyOf(bob), randomBytes).encrypt('secret');
    const read = () => make(eve, publicKeyOf(alice), randomBytes).decrypt(sealed);
    expect(() => (read() === 'secret' ? 'read' : undefined)).not.toBe('read');
  });

  test('that were changed are rejected', () => {
    const sealed = Buffer.from(nip44(key(1), publicKeyOf(key(2)), randomBytes).encrypt('a'), 'base64');
    sealed[40] = (sealed[40] ?? 0) ^ 1;
    const { decrypt } = nip44(key(2), publicKeyOf(key(1)), randomBytes);
    expect(() => decrypt(sealed.toString('base64'))).toThrow('changed');
  });
});
