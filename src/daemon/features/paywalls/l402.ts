import { createHash, createHmac } from 'node:crypto';
import { decodeMacaroon, encodeMacaroon } from '../../../shared/payments/macaroon.ts';
import { isSignedBy, mint } from './macaroon.ts';
import type { TokenTerms } from './store.ts';

/**
 * L402 tokens and headers. Source: `lightninglabs/L402`, `protocol-specification.md` and `macaroon-spec.md`.
 *
 * The identifier of a token is 66 bytes: a version of two bytes, the payment hash, and 32 random bytes.
 */

const identifierVersion = Buffer.of(0, 0);
const hashBytes = 32;
const identifierBytes = 66;

/** The payment and paywall that a token was issued for. */
export interface TokenGrant {
  paywallId: string;
  /** The name of the paywall. */
  service: string;
  terms: TokenTerms;
  /** Seconds since 1970. */
  validUntil: number;
}

/** Why a token is not accepted. */
export type TokenProblem =
  | 'malformed_credential'
  | 'invalid_token'
  | 'other_paywall'
  | 'caveat_not_met'
  | 'expired'
  | 'invalid_preimage';

/** A token that is authentic, paid and not expired. */
export interface AcceptedToken {
  /** The name under which its uses are counted. */
  tokenId: string;
  paymentHash: string;
  /** The lowest number of uses that its caveats allow; null for any. */
  maxUses: number | null;
  capabilities: string[];
  constraints: Record<string, string>;
}

/** Derives root keys, so that none is stored. */
export function tokenKeys(dataKey: Uint8Array): (identifier: Uint8Array) => Buffer {
  const key = createHmac('sha256', dataKey).update('gateway paywall tokens').digest();
  return (identifier) => createHmac('sha256', key).update(identifier).digest();
}

type RootKeyOf = ReturnType<typeof tokenKeys>;

/** A new token in base64, with the name under which it is stored. `paymentHash` is hexadecimal. */
export function issueToken(
  rootKeyOf: RootKeyOf,
  { paymentHash, random, grant }: { paymentHash: string; random: Uint8Array; grant: TokenGrant },
): { token: string; tokenId: string } {
  const identifier = Buffer.concat([identifierVersion, Buffer.from(paymentHash, 'hex'), random]);
  const macaroon = mint(rootKeyOf(identifier), identifier, caveatsOf(grant));
  return { token: encodeMacaroon(macaroon).toString('base64'), tokenId: tokenIdOf(identifier) };
}

/** The name of a token, whether it is authentic or not; undefined if it cannot be read. */
export function tokenIdIn({ token }: L402Credential): string | undefined {
  const macaroon = decodeMacaroon(Buffer.from(token, 'base64'));
  return macaroon && tokenIdOf(macaroon.identifier);
}

function tokenIdOf(identifier: Uint8Array): string {
  return createHash('sha256').update(identifier).digest('hex');
}

/** An entry of the caveat `services`: a name and a tier. */
const serviceOf = (service: string) => `${service}:0`;

/** The last one is the expiry, which separates the seller's caveats from those that holders append. */
function caveatsOf({ paywallId, service, terms, validUntil }: TokenGrant): string[] {
  const { capabilities, constraints, maxUses } = terms;
  return [
    `services=${serviceOf(service)}`,
    `paywall=${paywallId}`,
    ...(capabilities.length === 0 ? [] : [`${service}_capabilities=${capabilities.join(',')}`]),
    ...Object.entries(constraints).map(([name, value]) => `${service}_${name}=${value}`),
    ...(maxUses === null ? [] : [`${service}_max_uses=${maxUses}`]),
    `${service}_valid_until=${validUntil}`,
  ];
}

/**
 * The value of `WWW-Authenticate`. Clients differ in whether they read `macaroon` or `token`, and some only read the first
 * line and want `macaroon` and `invoice` first.
 */
export function l402Challenge(token: string, invoice: string): string {
  return `L402 macaroon="${token}", invoice="${invoice}", version="0", token="${token}"`;
}

export interface L402Credential {
  token: string;
  /** 64 hexadecimal digits. */
  preimage: string;
}

/** The credential in an `Authorization` header; undefined for another scheme, `malformed` if it cannot be read. */
export function l402Credential(authorization: string): L402Credential | 'malformed' | undefined {
  const [, scheme, rest = ''] = /^\s*([A-Za-z0-9]+)\s+(.*)/s.exec(authorization) ?? [];
  if (scheme === undefined || !/^(L402|LSAT)$/i.test(scheme)) return undefined;
  const [, token, preimage] = /^"?([A-Za-z0-9+/_-]+={0,2})\s*:\s*([0-9a-fA-F]{64})"?\s*$/.exec(rest) ?? [];
  return token === undefined || preimage === undefined ? 'malformed' : { token, preimage };
}

/** Checks everything about a token but its number of uses. `now` is in seconds since 1970. */
export function checkToken(
  rootKeyOf: RootKeyOf,
  { token, preimage }: L402Credential,
  { paywallId, service, now }: { paywallId: string; service: string; now: number },
): AcceptedToken | TokenProblem {
  const macaroon = decodeMacaroon(Buffer.from(token, 'base64'));
  if (macaroon === undefined) return 'malformed_credential';
  const { identifier } = macaroon;
  if (identifier.length !== identifierBytes || !identifierVersion.equals(identifier.subarray(0, 2)))
    return 'malformed_credential';
  if (!isSignedBy(rootKeyOf(identifier), macaroon)) return 'invalid_token';
  const allowed = applyCaveats(macaroon.caveats, { paywallId, service, now });
  if (typeof allowed === 'string') return allowed;
  const paymentHash = Buffer.from(identifier.subarray(2, 2 + hashBytes)).toString('hex');
  const paid = createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
  if (paid !== paymentHash) return 'invalid_preimage';
  return { tokenId: tokenIdOf(identifier), paymentHash, ...allowed };
}

type Rights = Pick<AcceptedToken, 'maxUses' | 'capabilities' | 'constraints'>;

interface Place {
  paywallId: string;
  service: string;
  /** Seconds since 1970. */
  now: number;
}

/**
 * What the caveats allow together. Those up to the first expiry are the seller's; anyone who holds the token can append
 * more, which only take away.
 */
function applyCaveats(caveats: readonly string[], place: Place): Rights | TokenProblem {
  const expiry = caveats.findIndex((caveat) => caveat.startsWith(`${place.service}_valid_until=`));
  const rights = issuedRights(caveats.slice(0, expiry + 1), place);
  for (const caveat of caveats.slice(expiry + 1)) {
    if (typeof rights === 'string') return rights;
    if (!/^[\x21-\x7e]+$/.test(caveat)) return 'caveat_not_met';
    const problem = restrict(rights, caveat, place);
    if (problem !== undefined) return problem;
  }
  return rights;
}

/** What the seller issued. */
function issuedRights(caveats: readonly string[], place: Place): Rights | TokenProblem {
  if (!caveats.includes(`paywall=${place.paywallId}`)) return 'other_paywall';
  const rights: Rights = { maxUses: null, capabilities: [], constraints: {} };
  for (const caveat of caveats) {
    const { name, value } = parts(caveat, place);
    if (name === 'capabilities') rights.capabilities = value.split(',');
    else if (name === undefined || isCommon(name)) {
      const problem = restrict(rights, caveat, place);
      if (problem !== undefined) return problem;
    } else rights.constraints[name] = value;
  }
  return rights;
}

/** Takes away what a caveat does not allow; returns a problem if the caveat allows nothing here, or is not known. */
function restrict(rights: Rights, caveat: string, place: Place): TokenProblem | undefined {
  const { condition, name, value } = parts(caveat, place);
  // Some clients record the preimage in their copy of the token.
  if (condition === 'preimage') return undefined;
  if (condition === 'paywall') return value === place.paywallId ? undefined : 'other_paywall';
  if (condition === 'services')
    return value.split(',').includes(serviceOf(place.service)) ? undefined : 'other_paywall';
  if (name === 'valid_until') {
    if (!/^\d{1,15}$/.test(value)) return 'caveat_not_met';
    return Number(value) <= place.now ? 'expired' : undefined;
  }
  if (name === 'max_uses') {
    if (!/^\d{1,9}$/.test(value)) return 'caveat_not_met';
    rights.maxUses = Math.min(rights.maxUses ?? Number.POSITIVE_INFINITY, Number(value));
    return undefined;
  }
  if (name === 'capabilities') {
    const listed = value.split(',');
    if (!listed.every((each) => rights.capabilities.includes(each))) return 'caveat_not_met';
    rights.capabilities = listed;
    return undefined;
  }
  const isIssued = name !== undefined && Object.hasOwn(rights.constraints, name);
  return isIssued && rights.constraints[name] === value ? undefined : 'caveat_not_met';
}

/** A condition and its value; `name` is the condition without the service that it is for. */
function parts(caveat: string, { service }: Place): { condition: string; name?: string; value: string } {
  const at = caveat.indexOf('=');
  const condition = caveat.slice(0, Math.max(0, at));
  const value = caveat.slice(at + 1);
  const prefix = `${service}_`;
  if (!condition.startsWith(prefix)) return { condition, value };
  return { condition, name: condition.slice(prefix.length), value };
}

const isCommon = (name: string) => name === 'valid_until' || name === 'max_uses';
