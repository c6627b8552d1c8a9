/**
 * The `Payment` authentication scheme: challenges in `WWW-Authenticate`, credentials in `Authorization` or the header that
 * the challenge names, and receipts. Sources: draft-httpauth-payment-00 and draft-lightning-charge-00 (Machine Payments
 * Protocol), RFC 9110 sections 5.6 and 11; the parameter `header` is an extension of the client mppx.
 */

import { isObject, type JsonObject, parseObject } from '../json/json-object.ts';
import { trimEnd } from '../text/trim-text.ts';

/** A challenge. Its parameters are text; `request` and `opaque` are base64url of canonical JSON. */
export interface PaymentChallenge {
  id: string;
  realm: string;
  /** How to pay: `lightning`. */
  method: string;
  /** The purpose: `charge` for one payment. */
  intent: string;
  request: string;
  /** When the challenge expires, as in RFC 3339. */
  expires?: string;
  /** The body that the payment is for, as in RFC 9530: `sha-256=:…:`. */
  digest?: string;
  description?: string;
  opaque?: string;
  /** The header that carries the credential, in place of `Authorization`. */
  header?: string;
}

const required = ['id', 'realm', 'method', 'intent', 'request'] as const;
const optional = ['expires', 'digest', 'description', 'opaque', 'header'] as const;

/** The request of a challenge with the method `lightning` and the intent `charge`. */
export interface LightningCharge {
  /** Satoshis. */
  amount: string;
  currency: 'sat';
  description?: string;
  methodDetails: {
    /** BOLT 11. */
    invoice: string;
    paymentHash?: string;
    network?: 'mainnet' | 'regtest' | 'signet';
  };
}

/** What a client returns: the challenge, of which it may leave out optional parameters, and the proof. */
export interface PaymentCredential {
  challenge: PaymentChallenge;
  /** Who paid. */
  source?: string;
  /** `preimage` in lowercase hexadecimal, for Lightning. */
  payload: Readonly<JsonObject>;
}

export interface PaymentReceipt {
  status: 'success';
  method: string;
  challengeId?: string;
  /** The payment hash, for Lightning. */
  reference: string;
  /** As in RFC 3339. */
  timestamp: string;
}

/** The value of `WWW-Authenticate`. */
export function formatChallenge(challenge: PaymentChallenge): string {
  const parameters = [...required, ...optional].flatMap((name) => {
    const value = challenge[name];
    return value === undefined ? [] : [`${name}=${quoted(value)}`];
  });
  return `Payment ${parameters.join(', ')}`;
}

/** The complete `Payment` challenges in `WWW-Authenticate`, whose lines may be joined by commas. */
export function parseChallenges(header: string): PaymentChallenge[] {
  return parseAuthChallenges(header).flatMap(({ scheme, parameters }) => {
    if (scheme.toLowerCase() !== 'payment') return [];
    const challenge = challengeIn(Object.fromEntries(parameters));
    return challenge ? [challenge] : [];
  });
}

/** The value of `Authorization`, or of the header that the challenge names. */
export function formatCredential(credential: PaymentCredential): string {
  return `Payment ${toBase64Url(JSON.stringify(credential))}`;
}

/** Undefined for another scheme, and for a malformed credential. */
export function parseCredential(header: string): PaymentCredential | undefined {
  const token = /^payment +(\S+) *$/i.exec(header)?.[1];
  const json = token === undefined ? undefined : jsonIn(token);
  const challenge = isObject(json?.challenge) ? challengeIn(json.challenge) : undefined;
  if (!json || !challenge || !isObject(json.payload)) return undefined;
  const { payload, source } = json;
  return { challenge, payload, ...(typeof source === 'string' && { source }) };
}

/** The value of `Payment-Receipt`. */
export function formatReceipt(receipt: PaymentReceipt): string {
  return toBase64Url(JSON.stringify(receipt));
}

/** The request of a Lightning charge; undefined if the challenge is for something else, or malformed. */
export function lightningChargeIn({
  method,
  intent,
  request,
}: PaymentChallenge): LightningCharge | undefined {
  if (method !== 'lightning' || intent !== 'charge') return undefined;
  const json = jsonIn(request);
  const details = json?.methodDetails;
  if (!json || !isObject(details) || typeof details.invoice !== 'string') return undefined;
  const amount = typeof json.amount === 'number' ? String(json.amount) : json.amount;
  const isInSats = typeof json.currency === 'string' && /^sats?$/i.test(json.currency);
  if (typeof amount !== 'string' || !/^[1-9]\d{0,15}$/.test(amount) || !isInSats) return undefined;
  return { ...json, amount, currency: 'sat' } as unknown as LightningCharge;
}

export interface AuthChallenge {
  scheme: string;
  /** By lowercase name; of a repeated parameter the first value. */
  parameters: ReadonlyMap<string, string>;
}

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const separator = /[\s,;]*/y;
/** Servers separate parameters by blanks, too, and leave base64 unquoted, which is no token. */
const parameter = new RegExp(`(${token})[ \\t]*=[ \\t]*("(?:[^"\\\\]|\\\\.)*"|[^\\s,;"]+)`, 'y');
const scheme = new RegExp(`(${token})(?:[ \\t]+|(?=,|$))`, 'y');
const token68 = /[A-Za-z0-9\-._~+/]+=*(?=[ \t]*(?:,|$))/y;
const untilComma = /[^,]*/y;

/**
 * The challenges in `WWW-Authenticate`, of any scheme. Malformed parts are skipped, and separators other than commas taken. Source:
 * RFC 9110, 11.6.1.
 */
export function parseAuthChallenges(header: string): AuthChallenge[] {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match) at = pattern.lastIndex;
    return match;
  };
  for (take(separator); at < header.length; take(separator)) {
    const current = challenges.at(-1);
    const found = current && take(parameter);
    if (found) {
      const [, name = '', value = ''] = found;
      const key = name.toLowerCase();
      if (!current.parameters.has(key)) current.parameters.set(key, unquoted(value));
      continue;
    }
    const started = take(scheme);
    if (started) {
      challenges.push({ scheme: started[1] ?? '', parameters: new Map() });
      take(token68);
    } else take(untilComma);
  }
  return challenges;
}

/** Text as base64url without padding. */
export function toBase64Url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** The bytes of base64 in either alphabet, padded or not; undefined if malformed, also if its last bits are not zero. */
export function fromBase64(encoded: string): Buffer | undefined {
  const bytes = Buffer.from(encoded, 'base64');
  const exact = trimEnd(encoded, '=').replaceAll('+', '-').replaceAll('/', '_');
  return exact === bytes.toString('base64url') ? bytes : undefined;
}

function jsonIn(encoded: string): JsonObject | undefined {
  const bytes = fromBase64(encoded);
  return bytes && parseObject(bytes.toString());
}

function challengeIn(json: Readonly<JsonObject>): PaymentChallenge | undefined {
  const texts: Partial<Record<(typeof required | typeof optional)[number], string>> = {};
  for (const name of [...required, ...optional]) {
    const value = json[name];
    if (typeof value === 'string') texts[name] = value;
  }
  const { id, realm, method, intent, request, ...rest } = texts;
  if (!id || realm === undefined || !method || !intent || !request) return undefined;
  return { id, realm, method, intent, request, ...rest };
}

/** As a quoted-string; characters that no header can contain are replaced. */
function quoted(text: string): string {
  return `"${text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').replace(/["\\]/g, '\\$&')}"`;
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}
