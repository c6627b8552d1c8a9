import { createHash } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bech32 } from '@scure/base';
import type { LightningNetwork } from '../../../shared/payments/wallet-backends.ts';
import { InvalidInvoice } from './invalid-invoice.ts';

/** The chain whose coins an invoice asks for. */
export type InvoiceNetwork = LightningNetwork;

/** One hop of a private route to the payee. */
export interface RouteHop {
  /** The node at the start of the channel. */
  pubkey: string;
  shortChannelId: string;
  feeBaseMsat: number;
  feeProportionalMillionths: number;
  cltvExpiryDelta: number;
}

/** A decoded invoice. Byte strings are lowercase hexadecimal. */
export interface Invoice {
  network: InvoiceNetwork;
  /** Null if the payer chooses the amount. */
  amountMsat: number | null;
  /** Seconds since 1970. */
  timestamp: number;
  expirySeconds: number;
  paymentHash: string;
  paymentSecret: string;
  /** Exactly one of `description` and `descriptionHash` is set. */
  description: string | null;
  descriptionHash: string | null;
  /** The public key of the node that signed the invoice. */
  payee: string;
  minFinalCltvExpiry: number;
  /** The numbers of the feature bits that are set, ascending. */
  features: number[];
  metadata: string | null;
  /** On-chain addresses: a witness version (17 and 18 for P2PKH and P2SH) and a program. */
  fallbacks: { version: number; program: string }[];
  routes: RouteHop[][];
}

/** The contents of an invoice to encode. */
export interface InvoiceTerms {
  network: InvoiceNetwork;
  amountMsat: number | null;
  timestamp: number;
  /** Written unless it is the default of an hour. */
  expirySeconds?: number;
  paymentHash: Uint8Array;
  paymentSecret: Uint8Array;
  /** A text, or the SHA-256 of a longer one. */
  description: string | { hash: Uint8Array };
  minFinalCltvExpiry?: number;
  /** The numbers of the feature bits to set. */
  features: readonly number[];
}

const prefixes: Record<InvoiceNetwork, string> = {
  bitcoin: 'bc',
  testnet: 'tb',
  signet: 'tbs',
  regtest: 'bcrt',
};
const networks = new Map(Object.entries(prefixes).map(([network, prefix]) => [prefix, network]));

/** Longer texts are no invoices that wallets exchange; decoding takes time linear in the length. */
const charactersMax = 8192;
const timestampWords = 7;
const signatureWords = 104;
const hashWords = 52;
const pubkeyWords = 53;

const defaultExpirySeconds = 3600;
const defaultMinFinalCltvExpiry = 18;

/** Types of tagged fields, by their letter in bech32. */
const fieldTypes = { p: 1, r: 3, features: 5, x: 6, f: 9, d: 13, s: 16, n: 19, h: 23, c: 24, m: 27 } as const;

/** The even bits of features that a payer may have to support: onions, secrets, multi-part payments, blinding, metadata. */
const knownRequiredFeatures = new Set([8, 14, 16, 24, 48]);
/** Each feature depends on the one before it. */
const featureChain = [8, 14, 16];

/** Decodes and verifies an invoice by BOLT 11. Throws only `InvalidInvoice`. */
export function decodeInvoice(text: string): Invoice {
  const { unsigned, signature } = parseInvoice(text);
  return { ...unsigned, payee: readPayee(signature) };
}

/** The invoice in a text of someone else; undefined if it is not valid. */
export function readInvoice(text: string): Invoice | undefined {
  try {
    return decodeInvoice(text);
  } catch (error) {
    if (error instanceof InvalidInvoice) return undefined;
    throw error;
  }
}

interface InvoiceSignature {
  digest: Uint8Array;
  /** The numbers r and s, and how to recover the key from them. */
  bytes: Uint8Array;
  /** The payee's key, if the invoice names it. */
  named: Uint8Array | undefined;
}

/** Decodes an invoice without verifying its signature, which takes nearly all of the time. */
export function parseInvoice(text: string): {
  unsigned: Omit<Invoice, 'payee'>;
  signature: InvoiceSignature;
} {
  if (text.length > charactersMax) throw new InvalidInvoice('is too long');
  const { prefix, words } = fromBech32(text);
  const { network, amountMsat } = readPrefix(prefix);
  if (words.length < timestampWords + signatureWords) throw new InvalidInvoice('is too short');
  const signed = words.subarray(0, -signatureWords);
  const fields = readFields(signed.subarray(timestampWords));
  const paymentHash = fields.only('p', hashWords);
  const paymentSecret = fields.only('s', hashWords);
  const description = fields.first('d');
  const descriptionHash = fields.first('h', hashWords);
  if (!paymentHash) throw new InvalidInvoice('has no payment hash');
  if (!paymentSecret) throw new InvalidInvoice('has no payment secret');
  if (!description && !descriptionHash) throw new InvalidInvoice('has no description');
  if (description && descriptionHash) throw new InvalidInvoice('has two descriptions');
  const metadata = fields.first('m');
  const unsigned = {
    network,
    amountMsat,
    timestamp: numberOf(signed.subarray(0, timestampWords)),
    expirySeconds: fields.integer('x') ?? defaultExpirySeconds,
    paymentHash: hex(bytesOf(paymentHash)),
    paymentSecret: hex(bytesOf(paymentSecret)),
    description: description ? readText(bytesOf(description)) : null,
    descriptionHash: descriptionHash ? hex(bytesOf(descriptionHash)) : null,
    minFinalCltvExpiry: fields.integer('c') ?? defaultMinFinalCltvExpiry,
    features: readFeatures(fields.first('features')),
    metadata: metadata ? hex(bytesOf(metadata)) : null,
    fallbacks: fields.all('f').flatMap(readFallback),
    routes: fields.all('r').map((route) => readRoute(bytesOf(route))),
  };
  const signature = {
    digest: digestOf(prefix, signed),
    bytes: bytesOf(words.subarray(-signatureWords)),
    named: fields.first('n', pubkeyWords),
  };
  return { unsigned, signature };
}

/** Encodes an invoice and signs it with the payee's key: 32 bytes. */
export function encodeInvoice(terms: InvoiceTerms, privateKey: Uint8Array): string {
  const { network, amountMsat, timestamp, expirySeconds, minFinalCltvExpiry, features } = terms;
  const { description } = terms;
  const prefix = `ln${prefixes[network]}${amountMsat === null ? '' : shortestAmount(amountMsat)}`;
  const words = [
    ...integerWords(timestamp, timestampWords),
    ...field('s', wordsOf(terms.paymentSecret)),
    ...field('p', wordsOf(terms.paymentHash)),
    ...(typeof description === 'string'
      ? field('d', wordsOf(new TextEncoder().encode(description)))
      : field('h', wordsOf(description.hash))),
    ...(expirySeconds === undefined || expirySeconds === defaultExpirySeconds
      ? []
      : field('x', integerWords(expirySeconds))),
    ...(minFinalCltvExpiry === undefined ? [] : field('c', integerWords(minFinalCltvExpiry))),
    ...(features.length === 0 ? [] : field('features', featureWords(features))),
  ];
  const digest = digestOf(prefix, Uint8Array.from(words));
  const [recovery = 0, ...signature] = secp256k1.sign(digest, privateKey, {
    prehash: false,
    format: 'recovered',
  });
  return bech32.encode(prefix, [...words, ...wordsOf(Uint8Array.from([...signature, recovery]))], false);
}

function fromBech32(text: string): { prefix: string; words: Uint8Array } {
  const decoded = bech32.decodeUnsafe(text, charactersMax);
  if (!decoded) throw new InvalidInvoice('is not bech32 with a valid checksum');
  return { prefix: decoded.prefix, words: Uint8Array.from(decoded.words) };
}

/** Millisatoshis per unit of an amount; a pico-bitcoin is a tenth of one. */
const msatPerUnit: Record<string, bigint> = { '': 100_000_000_000n, m: 100_000_000n, u: 100_000n, n: 100n };

function readPrefix(prefix: string): { network: InvoiceNetwork; amountMsat: number | null } {
  const [, name = '', digits, unit = ''] = /^ln(bcrt|tbs|bc|tb)(?:(\d+)(\D*))?$/.exec(prefix) ?? [];
  const network = networks.get(name) as InvoiceNetwork | undefined;
  if (network === undefined) throw new InvalidInvoice('is not for a known network');
  if (digits === undefined) return { network, amountMsat: null };
  if (!/^[1-9]\d{0,19}$/.test(digits)) throw new InvalidInvoice('has an invalid amount');
  return { network, amountMsat: readAmount(BigInt(digits), unit) };
}

function readAmount(amount: bigint, unit: string): number {
  if (unit === 'p' && amount % 10n !== 0n) throw new InvalidInvoice('has a fraction of a millisatoshi');
  const perUnit = Object.hasOwn(msatPerUnit, unit) ? msatPerUnit[unit] : undefined;
  if (unit !== 'p' && perUnit === undefined) throw new InvalidInvoice('has an unknown unit of its amount');
  const msat = Number(perUnit === undefined ? amount / 10n : amount * perUnit);
  if (!Number.isSafeInteger(msat)) throw new InvalidInvoice('asks for more than can be paid');
  return msat;
}

/** The amount with the largest unit that leaves no fraction. */
function shortestAmount(msat: number): string {
  if (!Number.isSafeInteger(msat) || msat <= 0) throw new RangeError(`not an amount: ${msat}`);
  const amount = BigInt(msat);
  for (const [unit, perUnit] of Object.entries(msatPerUnit)) {
    if (amount % perUnit === 0n) return `${amount / perUnit}${unit}`;
  }
  return `${amount * 10n}p`;
}

type FieldName = keyof typeof fieldTypes;

function readFields(words: Uint8Array) {
  const byType = new Map<number, Uint8Array[]>();
  for (let at = 0; at < words.length; ) {
    if (at + 3 > words.length) throw new InvalidInvoice('has an incomplete field');
    const [type = 0, high = 0, low = 0] = words.subarray(at, at + 3);
    const end = at + 3 + high * 32 + low;
    if (end > words.length) throw new InvalidInvoice('has an incomplete field');
    const found = byType.get(type) ?? [];
    found.push(words.subarray(at + 3, end));
    byType.set(type, found);
    at = end;
  }
  const all = (name: FieldName) => byType.get(fieldTypes[name]) ?? [];
  /** The first field of a type. Fields of another than the given length are skipped. */
  const first = (name: FieldName, length?: number) =>
    all(name).find((data) => length === undefined || data.length === length);
  /** The only field of a type: which of two a node would use is not certain. */
  const only = (name: FieldName, length: number) => {
    const found = all(name).filter((data) => data.length === length);
    if (found.length > 1) throw new InvalidInvoice(`has two fields of type ${name}`);
    return found[0];
  };
  const integer = (name: FieldName): number | undefined => {
    const data = first(name);
    if (data === undefined || data.length === 0) return undefined;
    const value = numberOf(data);
    if (value > 0xffff_ffff) throw new InvalidInvoice('has a number that is too large');
    return value;
  };
  return { all, first, only, integer };
}

function field(name: FieldName, data: readonly number[]): number[] {
  if (data.length > 1023) throw new RangeError(`the field ${name} is too long`);
  return [fieldTypes[name], data.length >> 5, data.length & 31, ...data];
}

/** The SHA-256 that is signed: of the prefix, and the data as bytes, padded with zero bits. */
function digestOf(prefix: string, words: Uint8Array): Uint8Array {
  const padded = bytesOf(Uint8Array.from([...words, 0, 0])).subarray(0, Math.ceil((words.length * 5) / 8));
  return createHash('sha256').update(prefix, 'utf8').update(padded).digest();
}

function readPayee({ digest, bytes, named }: InvoiceSignature): string {
  const compact = bytes.subarray(0, 64);
  const recovery = bytes[64] as number;
  try {
    if (named === undefined) {
      const recovered = Uint8Array.from([recovery, ...compact]);
      return hex(secp256k1.recoverPublicKey(recovered, digest, { prehash: false }));
    }
    const payee = bytesOf(named);
    if (secp256k1.verify(compact, digest, payee, { prehash: false, lowS: true })) return hex(payee);
  } catch {
    // The signature or the key is not a point of the curve.
  }
  throw new InvalidInvoice('has an invalid signature');
}

function readFeatures(words: Uint8Array | undefined): number[] {
  if (words === undefined) return [];
  const bits: number[] = [];
  for (const [index, word] of words.toReversed().entries()) {
    for (let bit = 0; bit < 5; bit += 1) if (word & (1 << bit)) bits.push(index * 5 + bit);
  }
  const unknown = bits.find((bit) => bit % 2 === 0 && !knownRequiredFeatures.has(bit));
  if (unknown !== undefined) throw new InvalidInvoice(`requires feature ${unknown}, which is not known`);
  const has = (feature: number) => bits.includes(feature) || bits.includes(feature + 1);
  const broken = featureChain.some(
    (feature, at) => at > 0 && has(feature) && !has(featureChain[at - 1] as number),
  );
  if (broken) throw new InvalidInvoice('lacks a feature that another one depends on');
  return bits;
}

function featureWords(features: readonly number[]): number[] {
  const words = new Array<number>(Math.floor(Math.max(...features) / 5) + 1).fill(0);
  for (const feature of features) {
    const at = words.length - 1 - Math.floor(feature / 5);
    words[at] = (words[at] as number) | (1 << (feature % 5));
  }
  return words;
}

/** Empty for an address of an unknown version. */
function readFallback(words: Uint8Array): { version: number; program: string }[] {
  const [version = 31] = words;
  return version > 18 ? [] : [{ version, program: hex(bytesOf(words.subarray(1))) }];
}

const hopBytes = 51;

function readRoute(bytes: Uint8Array): RouteHop[] {
  const hops: RouteHop[] = [];
  for (let at = 0; at + hopBytes <= bytes.length; at += hopBytes) {
    const hop = Buffer.from(bytes.subarray(at, at + hopBytes));
    hops.push({
      pubkey: hop.toString('hex', 0, 33),
      shortChannelId: `${hop.readUIntBE(33, 3)}x${hop.readUIntBE(36, 3)}x${hop.readUInt16BE(39)}`,
      feeBaseMsat: hop.readUInt32BE(41),
      feeProportionalMillionths: hop.readUInt32BE(45),
      cltvExpiryDelta: hop.readUInt16BE(49),
    });
  }
  return hops;
}

function readText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new InvalidInvoice('has a description that is not UTF-8');
  }
}

/** The whole bytes in a sequence of 5-bit words; bits after the last one are padding. */
function bytesOf(words: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.floor((words.length * 5) / 8));
  let bits = 0;
  let value = 0;
  let at = 0;
  for (const word of words) {
    value = ((value << 5) | word) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (value >> bits) & 0xff;
    at += 1;
  }
  return bytes;
}

function wordsOf(bytes: Uint8Array): number[] {
  return bech32.toWords(bytes);
}

/** At most ten words, so that the number is exact. */
function numberOf(words: Uint8Array): number {
  return words.reduce((value, word) => value * 32 + word, 0);
}

/** Without leading zeros, unless a length is given. */
function integerWords(value: number, length?: number): number[] {
  const words: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 32)) words.unshift(rest % 32);
  if (words.length === 0) words.push(0);
  while (words.length < (length ?? 1)) words.unshift(0);
  return words;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
