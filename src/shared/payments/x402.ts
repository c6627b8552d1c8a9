/**
 * The headers of x402, version 2: base64 of JSON in `PAYMENT-REQUIRED`, `PAYMENT-SIGNATURE` and `PAYMENT-RESPONSE`. Source:
 * `specs/transports-v2/http.md` and `specs/x402-specification-v2.md` of the x402 project.
 */

import { isObject, type JsonObject, parseObject } from '../json/json-object.ts';
import { fromBase64 } from './payment-scheme.ts';
import type { LightningNetwork } from './wallet-backends.ts';

/** The first 32 digits of the hash of each chain's first block, as CAIP-2 names chains. */
export const chains: Readonly<Record<LightningNetwork, string>> = {
  bitcoin: '000000000019d6689c085ae165831e93',
  testnet: '000000000933ea01ad0ee984209779ba',
  signet: '00000008819873e925422c1ff0f99f7c',
  regtest: '0f9188f13cb7b2c71f2a335e3a4fc328',
};

/**
 * What a seller accepts. `amount` is in the atomic units of `asset`: millisatoshis for Lightning. Some sellers write it as a number, or
 * leave out or misspell what nobody needs; a payment returns it as it was.
 */
export interface PaymentRequirements {
  scheme: string;
  /** CAIP-2. */
  network: string;
  amount: string | number;
  asset?: string;
  payTo?: string;
  maxTimeoutSeconds?: number | string;
  extra?: Readonly<JsonObject>;
}

export interface PaymentRequired {
  x402Version: 2;
  error?: string;
  resource?: { url: string; description?: string; mimeType?: string };
  accepts: PaymentRequirements[];
}

/** A payment: the requirements that were chosen, and the proof. */
export interface PaymentPayload {
  x402Version: 2;
  accepted: PaymentRequirements;
  payload: Readonly<JsonObject>;
}

export interface SettlementResponse {
  success: boolean;
  errorReason?: string;
  payer?: string;
  /** Empty if it failed. */
  transaction: string;
  network: string;
  amount?: string;
}

/** The value of any of the headers. */
export function formatX402(value: PaymentRequired | PaymentPayload | SettlementResponse): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}

/** The payment in `PAYMENT-SIGNATURE`; undefined if it is malformed. */
export function parsePaymentPayload(header: string): PaymentPayload | undefined {
  const json = jsonIn(header);
  if (!isVersion2(json) || !isRequirements(json.accepted) || !isObject(json.payload)) return undefined;
  return { x402Version: 2, accepted: json.accepted, payload: json.payload };
}

/** The offer in `PAYMENT-REQUIRED`; undefined if it is malformed. */
export function parsePaymentRequired(header: string): PaymentRequired | undefined {
  const json = jsonIn(header);
  if (!isVersion2(json) || !Array.isArray(json.accepts)) return undefined;
  return { ...json, x402Version: 2, accepts: json.accepts.filter(isRequirements) };
}

/** Why a seller did not accept a payment, by its headers, whose names are in lower case. */
export function x402Fault(headers: Readonly<Record<string, string>>): string | undefined {
  const settled = jsonIn(headers['payment-response'] ?? '')?.errorReason;
  const asked = jsonIn(headers['payment-required'] ?? '')?.error;
  return [settled, asked].find((each) => typeof each === 'string' && each !== '') as string | undefined;
}

function isVersion2(json: JsonObject | undefined): json is JsonObject {
  return json?.x402Version === 2 || json?.x402Version === '2';
}

function isRequirements(value: unknown): value is PaymentRequirements {
  if (!isObject(value)) return false;
  const isAmount = typeof value.amount === 'string' || typeof value.amount === 'number';
  const isNamed = typeof value.scheme === 'string' && typeof value.network === 'string';
  return isAmount && isNamed && (value.extra === undefined || isObject(value.extra));
}

/** Some sellers do not encode it. */
function jsonIn(header: string): JsonObject | undefined {
  const text = header.trim();
  if (text.startsWith('{')) return parseObject(text);
  const bytes = fromBase64(text);
  return bytes && parseObject(bytes.toString());
}
