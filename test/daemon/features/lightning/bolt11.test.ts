import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bech32 } from '@scure/base';
import bolt11 from 'bolt11';
import * as fc from 'fast-check';
import { decode as lightDecode } from 'light-bolt11-decoder';
import { describe, expect, test } from 'vitest';
import {
  decodeInvoice,
  encodeInvoice,
  type InvoiceTerms,
  parseInvoice,
} from '../../../../src/daemon/features/lightning/bolt11.ts';
import { InvalidInvoice } from '../../../../src/daemon/features/lightning/invalid-invoice.ts';
import vectors from '../../../fixtures/lightning/bolt11-vectors.json' with { type: 'json' };

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const privateKey = hex(vectors.privateKey);
const paymentHash = '0001020304050607080900010203040506070809000102030405060708090102';
const paymentSecret = '11'.repeat(32);
const descriptionHash = '3925b6f67e2c340036ed12093dd44e0368df1b6ea26c53dbe4811f58fd5db8c1';

const vector = (name: string) => vectors.valid.find((each) => each.name === name)?.invoice ?? '';
const terms = (changes: Partial<InvoiceTerms> = {}): InvoiceTerms => ({
  network: 'bitcoin',
  amountMsat: null,
  timestamp: 1_496_314_658,
  paymentHash: hex(paymentHash),
  paymentSecret: hex(paymentSecret),
  description: 'Please consider supporting this project',
  features: [8, 14],
  ...changes,
});

/** Signs an invoice of arbitrary words, which the encoder would not write. */
function sign(prefix: string, data: readonly number[], { isHighS = false, recovery = 0 } = {}): string {
  const bits = data.map((word) => word.toString(2).padStart(5, '0')).join('');
  const bytes = bits.match(/.{1,8}/g)?.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)) ?? [];
  const digest = createHash('sha256').update(prefix).update(Uint8Array.from(bytes)).digest();
  const [bit = 0, ...rs] = secp256k1.sign(digest, privateKey, { prehash: false, format: 'recovered' });
  const signature = Uint8Array.from([...rs, isHighS ? recovery : bit]);
  if (isHighS) {
    const order = secp256k1.Point.Fn.ORDER;
    const s = BigInt(`0x${Buffer.from(signature.subarray(32, 64)).toString('hex')}`);
    signature.set(hex((order - s).toString(16).padStart(64, '0')), 32);
  }
  return bech32.encode(prefix, [...data, ...bech32.toWords(signature)], false);
}

const time = [1, 12, 18, 31, 28, 25, 2];
const field = (type: number, data: readonly number[]) => [type, data.length >> 5, data.length & 31, ...data];
const words = (text: string) => bech32.toWords(hex(text));
const fields = {
  hash: field(1, words(paymentHash)),
  secret: field(16, words(paymentSecret)),
  text: field(13, bech32.toWords(Buffer.from('tea'))),
  textHash: field(23, words(descriptionHash)),
  payee: field(19, words(vectors.payee)),
};
const minimal = [...time, ...fields.hash, ...fields.secret, ...fields.text];

describe('the examples of BOLT 11', () => {
  test.each(vectors.valid)('decodes $name', ({ name, invoice }) => {
    const decoded = decodeInvoice(invoice);
    const isPico = name.includes('pico');
    expect(decoded.paymentSecret).toBe(paymentSecret);
    expect(decoded.timestamp).toBe(isPico ? 1_572_468_703 : 1_496_314_658);
    if (!isPico) expect(decoded.paymentHash).toBe(paymentHash);
    // The recovery flag of the example with a high S was not negated with it.
    if (!name.includes('high-S')) expect(decoded.payee).toBe(vectors.payee);
  });

  test.each(vectors.invalid)('rejects $name', ({ invoice, fault }) => {
    expect(() => decodeInvoice(invoice)).toThrow(new InvalidInvoice(fault));
  });

  test('have the documented contents', () => {
    expect(decodeInvoice(vector('a donation of any amount'))).toEqual({
      network: 'bitcoin',
      amountMsat: null,
      timestamp: 1_496_314_658,
      expirySeconds: 3600,
      paymentHash,
      paymentSecret,
      description: 'Please consider supporting this project',
      descriptionHash: null,
      payee: vectors.payee,
      minFinalCltvExpiry: 18,
      features: [8, 14],
      metadata: null,
      fallbacks: [],
      routes: [],
    });
    expect(decodeInvoice(vector('a cup of coffee, within one minute'))).toMatchObject({
      amountMsat: 250_000_000,
      expirySeconds: 60,
    });
    expect(decodeInvoice(vector('a cup of nonsense, in UTF-8')).description).toBe('ナンセンス 1杯');
    expect(decodeInvoice(vector('a hashed description'))).toMatchObject({
      description: null,
      descriptionHash,
    });
    expect(decodeInvoice(vector('testnet, with a fallback address'))).toMatchObject({
      network: 'testnet',
      fallbacks: [{ version: 17, program: '3172b5654f6683c8fb146959d347ce303cae4ca7' }],
    });
    expect(decodeInvoice(vector('an amount in pico-bitcoin'))).toMatchObject({
      amountMsat: 967_878_534,
      expirySeconds: 604_800,
      minFinalCltvExpiry: 10,
    });
    expect(decodeInvoice(vector('coffee beans, with features 8, 14 and 99')).features).toEqual([8, 14, 99]);
    expect(decodeInvoice(vector('payment metadata')).metadata).toBe('01fafaf0');
    const pubkey = '9e03a901b85534ff1e92c43c74431f7ce72046060fcf7a95c37e148f78c77255';
    expect(decodeInvoice(vector('a route of two hops')).routes).toEqual([
      [
        {
          pubkey: `02${pubkey}`,
          shortChannelId: '66051x263430x1800',
          feeBaseMsat: 1,
          feeProportionalMillionths: 20,
          cltvExpiryDelta: 3,
        },
        {
          pubkey: `03${pubkey}`,
          shortChannelId: '197637x395016x2314',
          feeBaseMsat: 2,
          feeProportionalMillionths: 30,
          cltvExpiryDelta: 4,
        },
      ],
    ]);
  });

  test('are encoded byte for byte', () => {
    const coffee = { amountMsat: 250_000_000, description: '1 cup coffee', expirySeconds: 60 };
    const cake = { amountMsat: 2_000_000_000, description: { hash: hex(descriptionHash) } };
    expect(encodeInvoice(terms(), privateKey)).toBe(vector('a donation of any amount'));
    expect(encodeInvoice(terms(coffee), privateKey)).toBe(vector('a cup of coffee, within one minute'));
    expect(encodeInvoice(terms(cake), privateKey)).toBe(vector('a hashed description'));
  });
});

describe('the decoder', () => {
  test('reads numbers and features with leading zeros', () => {
    const zeros = [...minimal, ...field(6, [0, 0, 1]), ...field(24, [0, 9]), ...field(5, [0, 0, 8, 0])];
    expect(decodeInvoice(sign('lnbc1m', zeros))).toMatchObject({
      expirySeconds: 1,
      minFinalCltvExpiry: 9,
      features: [8],
    });
  });

  test('accepts a named payee only with a low S', () => {
    const named = [...minimal, ...fields.payee];
    expect(decodeInvoice(sign('lnbc1m', named)).payee).toBe(vectors.payee);
    const fault = new InvalidInvoice('has an invalid signature');
    for (const recovery of [0, 1])
      expect(() => decodeInvoice(sign('lnbc1m', named, { isHighS: true, recovery }))).toThrow(fault);
  });

  test('rejects a payee that did not sign', () => {
    const another = Buffer.from(secp256k1.getPublicKey(hex('22'.repeat(32)))).toString('hex');
    expect(() => decodeInvoice(sign('lnbc1m', [...minimal, ...field(19, words(another))]))).toThrow(
      'has an invalid signature',
    );
  });

  test.each([
    ['two payment hashes', [...minimal, ...fields.hash], 'has two fields of type p'],
    ['two payment secrets', [...minimal, ...fields.secret], 'has two fields of type s'],
    ['two descriptions', [...minimal, ...fields.textHash], 'has two descriptions'],
    ['no description', [...time, ...fields.hash, ...fields.secret], 'has no description'],
    ['a field beyond its end', [...minimal, 13, 31, 31, 1], 'has an incomplete field'],
    ['a part of a field', [...minimal, 13, 0], 'has an incomplete field'],
    ['an endless expiry', [...minimal, ...field(6, Array(300).fill(31))], 'has a number that is too large'],
    [
      'a description that is not UTF-8',
      [...time, ...fields.hash, ...fields.secret, ...field(13, bech32.toWords(hex('c328')))],
      'has a description that is not UTF-8',
    ],
    [
      'multi-part payments without a secret',
      [...minimal, ...field(5, [2, 0, 0, 0])],
      'lacks a feature that another one depends on',
    ],
  ])('rejects %s', (_name, data, fault) => {
    expect(() => decodeInvoice(sign('lnbc1m', data))).toThrow(new InvalidInvoice(fault));
  });

  test.each([
    ['lnbc0m', 'has an invalid amount'],
    ['lnbc01m', 'has an invalid amount'],
    ['lnbc1mm', 'has an unknown unit of its amount'],
    ['lnbc1toString', 'has an unknown unit of its amount'],
    ['lnbc90072', 'asks for more than can be paid'],
    ['lnbc99999999999999999999', 'asks for more than can be paid'],
    ['lnbc999999999999999999999', 'has an invalid amount'],
    ['lnxy1m', 'is not for a known network'],
    ['bc1m', 'is not for a known network'],
  ])('rejects the prefix %s', (prefix, fault) => {
    expect(() => decodeInvoice(sign(prefix.toLowerCase(), minimal))).toThrow(new InvalidInvoice(fault));
  });

  test('reads every network and unit', () => {
    for (const [prefix, network, amountMsat] of [
      ['lnbc', 'bitcoin', null],
      ['lnbc1', 'bitcoin', 100_000_000_000],
      ['lntb2m', 'testnet', 200_000_000],
      ['lntbs3u', 'signet', 300_000],
      ['lnbcrt4n', 'regtest', 400],
      ['lnbcrt50p', 'regtest', 5],
    ] as const) {
      expect(decodeInvoice(sign(prefix, minimal))).toMatchObject({ network, amountMsat });
    }
  });
});

const anyTerms = fc.record({
  network: fc.constantFrom('bitcoin', 'testnet', 'signet', 'regtest'),
  amountMsat: fc.integer({ min: 1, max: 9_000_000_000_000 }),
  timestamp: fc.integer({ min: 0, max: 2 ** 35 - 1 }),
  expirySeconds: fc.integer({ min: 1, max: 2 ** 31 }),
  paymentHash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  paymentSecret: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  description: fc.string({ unit: 'grapheme', maxLength: 100 }),
  minFinalCltvExpiry: fc.integer({ min: 1, max: 2016 }),
  features: fc.constantFrom([8, 14], [8, 14, 17], [9, 15, 99]),
}) as fc.Arbitrary<InvoiceTerms & { amountMsat: number; description: string }>;
const anyKey = fc.bigInt({ min: 1n, max: secp256k1.Point.Fn.ORDER - 1n });
const keyOf = (number: bigint) => hex(number.toString(16).padStart(64, '0'));
const asHex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('invoices of the encoder', () => {
  test('are decoded to their terms', () => {
    fc.assert(
      fc.property(anyTerms, anyKey, (given, number) => {
        const key = keyOf(number);
        const { paymentHash: hash, paymentSecret: secret, ...plain } = given;
        expect(decodeInvoice(encodeInvoice(given, key))).toMatchObject({
          ...plain,
          paymentHash: asHex(hash),
          paymentSecret: asHex(secret),
          payee: asHex(secp256k1.getPublicKey(key)),
        });
      }),
      { numRuns: 200 },
    );
  });

  test('are read alike by two other decoders', () => {
    const regtest = { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, validWitnessVersions: [0, 1] };
    fc.assert(
      fc.property(anyTerms, anyKey, (given, number) => {
        const key = keyOf(number);
        const invoice = encodeInvoice({ ...given, network: 'regtest' }, key);
        const light = new Map(
          lightDecode(invoice).sections.map((each) => [each.name, each as { value?: unknown }]),
        );
        expect(light.get('amount')?.value).toBe(String(given.amountMsat));
        expect(light.get('payment_hash')?.value).toBe(asHex(given.paymentHash));
        expect(light.get('description')?.value).toBe(given.description);
        expect(light.get('expiry')?.value).toBe(given.expirySeconds);
        expect(light.get('min_final_cltv_expiry')?.value).toBe(given.minFinalCltvExpiry);
        const other = bolt11.decode(invoice, regtest);
        expect(other.millisatoshis).toBe(String(given.amountMsat));
        expect(other.payeeNodeKey).toBe(asHex(secp256k1.getPublicKey(key)));
        expect(other.tagsObject).toMatchObject({
          payment_hash: asHex(given.paymentHash),
          payment_secret: asHex(given.paymentSecret),
          description: given.description,
          expire_time: given.expirySeconds,
        });
      }),
      { numRuns: 100 },
    );
  });
});

/** How often the fuzz test mutates an invoice; `BOLT11_FUZZ_RUNS=1000000` for a long run. */
const mutations = Number(process.env.BOLT11_FUZZ_RUNS ?? 5_000);

/** A small generator, as the mutations are chosen millions of times. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

// Verifying a signature is slow and independent of the rest, so only some are verified.
test(`fails only with InvalidInvoice for ${mutations} mutated invoices`, { timeout: 600_000 }, () => {
  const next = random(20_261_122);
  const originals = vectors.valid.map(({ invoice }) =>
    bech32.decode(invoice.toLowerCase() as `${string}1${string}`, false),
  );
  const faults = new Map<string, number>();
  for (let run = 0; run < mutations; run += 1) {
    const { prefix, words: original } = originals[next(originals.length)] ?? { prefix: 'lnbc', words: [] };
    const data = [...original];
    for (let changes = 1 + next(3); changes > 0; changes -= 1) {
      const at = next(data.length);
      const kind = next(10);
      if (kind < 6) data[at] = next(32);
      else if (kind < 7) data.splice(at, 1 + next(120));
      else if (kind < 8) data.splice(at, 0, ...data.slice(next(data.length)).slice(0, next(60)));
      else if (kind < 9) data.length = at;
      else data.push(...Array.from({ length: next(40) }, () => next(32)));
    }
    let text = bech32.encode(next(50) === 0 ? `${prefix}${next(10 ** 9)}` : prefix, data, false);
    // Most mutations keep the checksum valid, so that they reach the fields.
    if (next(20) === 0) text = text.slice(0, next(text.length)) + String.fromCharCode(next(256));
    try {
      if (run % 100 === 0) decodeInvoice(text);
      else parseInvoice(text);
      faults.set('none', (faults.get('none') ?? 0) + 1);
    } catch (error) {
      if (!(error instanceof InvalidInvoice)) throw new Error(`decoding ${text} failed`, { cause: error });
      faults.set(error.message, (faults.get(error.message) ?? 0) + 1);
    }
  }
  expect(faults.size).toBeGreaterThan(8);
});
