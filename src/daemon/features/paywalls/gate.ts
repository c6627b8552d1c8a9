import { createHmac } from 'node:crypto';
import { ApiError } from '../../../shared/errors.ts';
import { subscriberNetwork } from '../../../shared/http/network-address.ts';
import { trimEnd } from '../../../shared/text/trim-text.ts';
import { utcDay } from '../../../shared/time/time.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import { VaultClosed } from '../vault/index.ts';
import { challengeOf, chargeCredential, chargedRequest, chargeProblem, receiptOf } from './charges.ts';
import {
  errorAnswer,
  type GateAnswer,
  type Header,
  methodNotAllowed,
  type PaywallInvoice,
  paymentRequired,
} from './gate-answers.ts';
import { type AcceptedToken, checkToken, issueToken, l402Credential, tokenIdIn, tokenKeys } from './l402.ts';
import { pageAccess, preflightAnswer, preflightFor } from './page-access.ts';
import type { PaymentProblem } from './payment-problems.ts';
import { isFree, normalizePath, type RouteTable } from './routes.ts';
import type { ChallengeRecord, PaywallRecord, PaywallsStore, RateLimit } from './store.ts';

/** A request to the reverse proxy. */
export interface GateRequest {
  requestId: string;
  method: string;
  /** Path and query, as they were sent. */
  target: string;
  host: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The client's address. */
  address: string;
  /**
   * Reads the body into memory, which is then forwarded from there; undefined if it is too long, and the request cannot
   * be forwarded then.
   */
  readBody: () => Promise<Uint8Array | undefined>;
}

/** What the reverse proxy does with a request. */
export type GateDecision = GateAnswer | Forwarding;

/** Where a request goes. */
export interface Forwarding {
  kind: 'forward';
  url: URL;
  /** To be added to the request. */
  headers: Record<string, string>;
  timeoutMs: number;
  mayBePrivate: boolean;
  /** Which pages may read the response, in place of what the upstream says; undefined where that is left to it. */
  pageHeaders?: Header[] | undefined;
  /** For the response, if it is successful: the value of `Payment-Receipt`. */
  receipt?: string;
  /** Replaces the prefix of paths on the upstream by the one that clients see; for redirects. */
  clientPath(path: string): string;
  /** Takes back what the request used up, if it never reached the upstream. */
  giveBack(): Promise<void>;
}

/** Bounds how often a client address does something; `take` returns 0, or the seconds to wait. */
export interface AddressLimit {
  take(address: string): number;
}

export interface GateDeps {
  store: Pick<
    PaywallsStore,
    'addChallenge' | 'challenge' | 'charge' | 'redeemCharge' | 'use' | 'giveBack' | 'noteTime' | 'takeFree'
  >;
  table: () => RouteTable;
  /**
   * Issues an invoice for the wallet of a user; undefined without a wallet. Fails while the vault is closed, and with
   * `rate_limited` for a client with too many that are not paid.
   */
  issueInvoice: (request: {
    ownerId: string;
    amountSats: number;
    description: string;
    expirySeconds: number;
    /** The client's. */
    address: string;
  }) => Promise<PaywallInvoice | undefined>;
  /** The headers that the seller added, decrypted. */
  headersOf: (paywall: PaywallRecord) => Record<string, string>;
  createLimit: (limit: { burst: number; perSecond: number }) => AddressLimit;
  /** 32 bytes. */
  dataKey: Uint8Array;
  world: Pick<World, 'now' | 'randomBytes'>;
  /** What expiries are compared with. */
  passed: () => number;
  log: Pick<Log, 'warn'>;
}

/** Invoices cost work, so unpaid ones are limited per address. */
const challengeLimit = { burst: 100, perSecond: 2 };
const invoiceExpirySeconds = 600;

/** Decides about each request to the reverse proxy: forward it, or ask for a payment. */
export class PaywallGate {
  readonly #deps: GateDeps;
  readonly #rootKeyOf: ReturnType<typeof tokenKeys>;
  /** Keys the ids of `Payment` challenges. */
  readonly #secret: Buffer;
  readonly #challenges: AddressLimit;
  readonly #limits = new Map<string, { of: RateLimit; limit: AddressLimit }>();

  constructor(deps: GateDeps) {
    this.#deps = deps;
    this.#rootKeyOf = tokenKeys(deps.dataKey);
    this.#secret = createHmac('sha256', deps.dataKey).update('gateway paywall challenges').digest();
    this.#challenges = deps.createLimit(challengeLimit);
  }

  async decide(request: GateRequest): Promise<GateDecision> {
    try {
      return await this.#decide(request);
    } catch (error) {
      return this.#failed(error, request);
    }
  }

  #failed(error: unknown, { requestId }: GateRequest): GateAnswer {
    if (error instanceof ApiError) return errorAnswer(error, requestId);
    this.#deps.log.warn({ err: error }, 'a request to a paywall could not be decided');
    return errorAnswer(new ApiError('server_error'), requestId);
  }

  async #decide(request: GateRequest): Promise<GateDecision> {
    // A clock that was set back is noticed before anything is sold.
    this.#deps.passed();
    const { path, query } = targetOf(request.target);
    const { host } = request;
    // A preflight is for the request that follows it, and costs nothing.
    const preflight = preflightFor(request);
    const found = this.#deps.table().match({ method: preflight ?? request.method, host, path });
    if (found === undefined) throw new ApiError('not_found', { message: 'No paywall serves this path.' });
    if ('allowed' in found) return methodNotAllowed(found.allowed, request.requestId);
    const { paywall } = found;
    const { isAllowed, headers } = pageAccess(paywall.allowedOrigins, request);
    if (preflight !== undefined && isAllowed)
      return preflightAnswer(request, { method: preflight, access: headers ?? [] });
    const isLeftToUpstream = headers === undefined && isFree(path, paywall.freePaths);
    if (preflight !== undefined && !isLeftToUpstream) throw pageNotAllowed();
    const serving = this.#serve(paywall, { ...request, path, query });
    const decision = await serving.catch((error: unknown) => this.#failed(error, request));
    if (decision.kind === 'forward') return { ...decision, pageHeaders: headers };
    return { ...decision, headers: [...decision.headers, ...(headers ?? [])] };
  }

  async #serve(
    paywall: PaywallRecord,
    { path, query, ...request }: GateRequest & { path: string; query: string },
  ): Promise<GateDecision> {
    if (paywall.status === 'paused') {
      throw new ApiError('unavailable', { message: 'This service is paused.', retryAfterSeconds: 60 });
    }
    this.#limit(paywall, request.address);
    const forward = (paid?: Paid) => this.#forward(paywall, { path, query, ...paid });
    if (isFree(path, paywall.freePaths)) return forward();
    const asked = { ...request, target: path + query };
    // What was paid is accepted, even if the paywall now offers another scheme.
    const paid = (await this.#redeemCharge(paywall, asked)) ?? (await this.#redeemToken(paywall, asked));
    if (typeof paid === 'object') return forward(paid);
    if (paid === undefined && (await this.#takeFree(paywall, request.address))) return forward();
    return await this.#challenge(paywall, asked, paid);
  }

  #limit({ id, rateLimit }: PaywallRecord, address: string): void {
    if (rateLimit === null) return;
    let known = this.#limits.get(id);
    if (known === undefined || JSON.stringify(known.of) !== JSON.stringify(rateLimit)) {
      const { requests, perSeconds, burst } = rateLimit;
      known = { of: rateLimit, limit: this.#deps.createLimit({ burst, perSecond: requests / perSeconds }) };
      for (const each of this.#limits.keys()) if (!this.#deps.table().has(each)) this.#limits.delete(each);
      this.#limits.set(id, known);
    }
    requireToken(known.limit, address);
  }

  /** Checks the `Payment` credential of a request and uses it; undefined if it carries none. */
  async #redeemCharge(
    paywall: PaywallRecord,
    request: GateRequest,
  ): Promise<Paid | PaymentProblem | undefined> {
    const presented = chargeCredential(request.headers);
    if (presented === undefined) return undefined;
    if (presented === 'malformed') return 'malformed_credential';
    const { store, world } = this.#deps;
    const charge = await store.charge(presented.credential.challenge.id);
    if (charge === undefined) return 'unknown_challenge';
    if (charge.paywallId !== paywall.id) return 'other_paywall';
    const issued = { ...charge, realm: paywall.name, expiresAt: charge.invoiceExpiresAt };
    const challenge = await challengeOf(this.#secret, issued);
    const now = this.#timeFor(charge);
    const problem = await chargeProblem(presented, { charge, challenge, request, now });
    if (problem === 'expired') await this.#noteExpiry(charge, now);
    if (problem !== undefined) return problem;
    if (!(await store.redeemCharge(charge.id))) return 'already_used';
    const { capabilities, constraints } = charge.rights ?? paywall.token;
    return {
      token: { tokenId: charge.id, capabilities, constraints },
      receipt: receiptOf(charge, world.now()),
      giveBack: () => store.giveBack(charge.id),
    };
  }

  /** Checks the L402 credential of a request and counts the use of its token; undefined if it carries none. */
  async #redeemToken(
    paywall: PaywallRecord,
    request: GateRequest,
  ): Promise<Paid | PaymentProblem | undefined> {
    const credential = l402Credential(String(request.headers.authorization ?? ''));
    if (credential === undefined) return undefined;
    if (credential === 'malformed') return 'malformed_credential';
    const { store } = this.#deps;
    const id = tokenIdIn(credential);
    const challenge = id === undefined ? undefined : await store.challenge(id);
    const now = this.#timeFor(challenge);
    const checked = checkToken(this.#rootKeyOf, credential, {
      paywallId: paywall.id,
      service: paywall.name,
      now: Math.floor(now / 1000),
    });
    if (checked === 'expired' && challenge) await this.#noteExpiry(challenge, now);
    if (typeof checked === 'string') return checked;
    const { tokenId, maxUses } = checked;
    // The token is authentic; that its payment was asked for by this paywall is looked up, not assumed.
    if (challenge?.paywallId !== paywall.id) return 'unknown_token';
    if (maxUses !== null && !(await store.use({ id: tokenId, maxUses }))) return 'used_up';
    return {
      token: checked,
      giveBack: async () => {
        if (maxUses !== null) await store.giveBack(tokenId);
      },
    };
  }

  /** The time at which what was sold is checked: what had expired stays expired when the clock is set back. */
  #timeFor(challenge: Pick<ChallengeRecord, 'seenAt'> | undefined): number {
    const now = this.#deps.passed();
    return challenge?.seenAt ? Math.max(now, challenge.seenAt) : now;
  }

  /** Expiries are in seconds, so that more than one write a second says nothing new. */
  async #noteExpiry({ id, seenAt }: ChallengeRecord, now: number): Promise<void> {
    if (seenAt === null || Math.floor(seenAt / 1000) < Math.floor(now / 1000))
      await this.#deps.store.noteTime({ id, at: now });
  }

  async #takeFree({ id, freeRequestsPerDay: limit }: PaywallRecord, address: string): Promise<boolean> {
    if (limit === 0) return false;
    const { store, dataKey, world } = this.#deps;
    // Addresses are personal data, and are only compared.
    const client = createHmac('sha256', dataKey)
      .update(`paywall client|${subscriberNetwork(address)}`)
      .digest('base64url');
    return await store.takeFree({ paywallId: id, client, day: utcDay(world.now()), limit });
  }

  async #challenge(
    paywall: PaywallRecord,
    request: GateRequest,
    problem?: PaymentProblem,
  ): Promise<GateAnswer> {
    const { store, issueInvoice, world, log } = this.#deps;
    requireToken(this.#challenges, request.address);
    const { id: paywallId, name, authScheme, token: terms } = paywall;
    const charged = authScheme === 'l402' ? null : ((await chargedRequest(request)) ?? null);
    if (authScheme === 'mpp' && charged === null) throw bodyTooLong();
    const invoice = await issueInvoice({
      ownerId: paywall.ownerId,
      amountSats: paywall.priceSats,
      description: `Paywall ${name}`,
      expirySeconds: Math.min(invoiceExpirySeconds, terms.timeoutSeconds),
      address: request.address,
    }).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'rate_limited') throw error;
      // The reason is the seller's: a sealed vault, or a node that is down.
      log.warn({ err: error, paywall: paywallId }, 'an invoice of a paywall could not be issued');
      const reason =
        error instanceof VaultClosed
          ? " while its seller's wallet is locked. The seller can unlock it: gateway vault unlock"
          : ' right now.';
      throw new ApiError('unavailable', { message: `This service cannot be paid${reason}` });
    });
    if (invoice === undefined) {
      throw new ApiError('unavailable', {
        message: 'This service cannot be paid: its seller has no wallet.',
      });
    }
    const { paymentHash } = invoice;
    const amount = paywall.priceSats * 1000;
    const now = world.now();
    const validUntil = Math.floor(now / 1000) + terms.timeoutSeconds;
    const { capabilities, constraints } = terms;
    const { token, tokenId } = issueToken(this.#rootKeyOf, {
      paymentHash,
      random: world.randomBytes(32),
      grant: { paywallId, service: name, terms, validUntil },
    });
    const challenge =
      charged && (await challengeOf(this.#secret, { ...invoice, realm: name, amount, request: charged }));
    const isServed = await store.addChallenge({
      id: tokenId,
      paywallId,
      invoiceId: invoice.id,
      paymentHash,
      paymentId: challenge?.id ?? null,
      request: charged,
      rights: charged && { capabilities, constraints },
      createdAt: now,
      expiresAt: validUntil * 1000,
    });
    if (!isServed) throw new ApiError('not_found', { message: 'No paywall serves this path.' });
    return paymentRequired({
      paywall,
      invoice,
      challenge,
      problem,
      requestId: request.requestId,
      token: authScheme === 'mpp' ? null : token,
    });
  }

  #forward(
    paywall: PaywallRecord,
    {
      path,
      query,
      token,
      receipt,
      giveBack = async () => {},
    }: { path: string; query: string } & Partial<Paid>,
  ): Forwarding {
    const { url, rewritePrefix, timeoutMs } = paywall.upstream;
    const base = new URL(url);
    const basePath = trimEnd(base.pathname, '/');
    const prefix = paywall.pathPrefix === '/' ? '' : paywall.pathPrefix;
    const replaced = rewritePrefix === null ? undefined : rewritePrefix.replace(/\/$/, '');
    const rewritten = replaced === undefined ? path : replaced + path.slice(prefix.length);
    base.pathname = basePath + (rewritten.startsWith('/') ? rewritten : `/${rewritten}`);
    base.search = query;
    const upstreamPrefix = basePath + (replaced ?? '');
    return {
      kind: 'forward',
      url: base,
      timeoutMs,
      mayBePrivate: paywall.mayBePrivate,
      headers: {
        'x-paywall-id': paywall.id,
        ...(token && { 'x-paywall-token': token.tokenId }),
        ...(token &&
          token.capabilities.length > 0 && { 'x-paywall-capabilities': token.capabilities.join(',') }),
        ...(token &&
          Object.keys(token.constraints).length > 0 && {
            'x-paywall-constraints': Object.entries(token.constraints)
              .map(([name, value]) => `${name}=${value}`)
              .join(','),
          }),
        ...this.#deps.headersOf(paywall),
      },
      clientPath: (upstreamPath) => {
        if (
          upstreamPrefix !== '' &&
          upstreamPath !== upstreamPrefix &&
          !upstreamPath.startsWith(`${upstreamPrefix}/`)
        )
          return upstreamPath;
        return (replaced === undefined ? '' : prefix) + upstreamPath.slice(upstreamPrefix.length) || '/';
      },
      ...(receipt !== undefined && { receipt }),
      giveBack,
    };
  }
}

/** A payment that was accepted for a request. */
interface Paid extends Pick<Forwarding, 'receipt' | 'giveBack'> {
  token: Pick<AcceptedToken, 'tokenId' | 'capabilities' | 'constraints'>;
}

function targetOf(target: string): { path: string; query: string } {
  const at = target.indexOf('?');
  const path = normalizePath(at === -1 ? target : target.slice(0, at));
  if (path === undefined) {
    throw new ApiError('invalid_request', { message: 'This path is ambiguous and is not served.' });
  }
  return { path, query: at === -1 ? '' : target.slice(at) };
}

/** A payment by the `Payment` scheme is for one body, which has to be read before it is forwarded. */
function bodyTooLong(): ApiError {
  return new ApiError('limit_exceeded', {
    message: 'The body is longer than 256 kB, so the `Payment` scheme cannot pay for this request.',
  });
}

function pageNotAllowed(): ApiError {
  return new ApiError('origin_not_allowed', { message: 'This paywall does not allow pages of this origin.' });
}

function requireToken(limit: AddressLimit, address: string): void {
  const retryAfterSeconds = limit.take(address);
  if (retryAfterSeconds > 0) throw new ApiError('rate_limited', { retryAfterSeconds });
}
