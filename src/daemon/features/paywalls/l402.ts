import { createHash, createHmac } from 'node:crypto';
import { decodeMacaroon, encodeMacaroon, isSignedBy, mint } from './macaroon.ts';
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

function tokenIdOf(identifier: Uint8Array): string {
  return createHash('sha256').update(identifier).digest('hex');
}

function caveatsOf({ paywallId, service, terms, validUntil }: TokenGrant): string[] {
  const { capabilities, constraints, maxUses } = terms;
  return [
    `services=${service}:0`,
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
  const [, scheme, rest = ''] = /^\s*([A-Za-z0-9]+)\s+(.*)$/.exec(authorization) ?? [];
  if (scheme === undefined || !/^(L402|LSAT)$/i.test(scheme)) return undefined;
  const [, token, preimage] = /^([A-Za-z0-9+/_-]+={0,2}):([0-9a-fA-F]{64})\s*$/.exec(rest) ?? [];
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

type Allowed = Pick<AcceptedToken, 'maxUses' | 'capabilities' | 'constraints'>;

/** What the caveats allow together: each one can only narrow what those before it allow. */
function applyCaveats(
  caveats: readonly string[],
  { paywallId, service, now }: { paywallId: string; service: string; now: number },
): Allowed | TokenProblem {
  let capabilities: string[] | undefined;
  let maxUses: number | null = null;
  const constraints = new Map<string, string>();
  const isBound = caveats.includes(`paywall=${paywallId}`);
  if (!isBound) return 'other_paywall';
  for (const caveat of caveats) {
    const at = caveat.indexOf('=');
    if (at <= 0) return 'caveat_not_met';
    const [condition, value] = [caveat.slice(0, at), caveat.slice(at + 1)];
    // Some clients record the preimage in their copy of the token.
    if (condition === 'preimage') continue;
    if (condition === 'paywall') {
      if (value !== paywallId) return 'other_paywall';
      continue;
    }
    if (condition === 'services') {
      if (!value.split(',').some((named) => named.split(':')[0] === service)) return 'other_paywall';
      continue;
    }
    if (!condition.startsWith(`${service}_`)) return 'caveat_not_met';
    const name = condition.slice(service.length + 1);
    if (name === 'valid_until') {
      if (!/^\d{1,15}$/.test(value)) return 'caveat_not_met';
      if (Number(value) <= now) return 'expired';
    } else if (name === 'max_uses') {
      if (!/^\d{1,9}$/.test(value)) return 'caveat_not_met';
      maxUses = Math.min(maxUses ?? Number.POSITIVE_INFINITY, Number(value));
    } else if (name === 'capabilities') {
      const listed = value.split(',');
      if (capabilities && !listed.every((each) => capabilities?.includes(each))) return 'caveat_not_met';
      capabilities = listed;
    } else {
      if (constraints.has(name) && constraints.get(name) !== value) return 'caveat_not_met';
      constraints.set(name, value);
    }
  }
  return { maxUses, capabilities: capabilities ?? [], constraints: Object.fromEntries(constraints) };
}
