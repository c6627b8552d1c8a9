import type { Body } from '../../../shared/contract/endpoint.ts';
import type { createPaywall, PaywallStatus, updatePaywall } from '../../../shared/contract/paywalls.ts';
import { ApiError } from '../../../shared/errors.ts';
import { inputFault, wellFormedMembers } from '../../../shared/faults/input-faults.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { ownValue } from '../../../shared/json/json-object.ts';
import { actingUser, type Caller } from '../../base/handler.ts';
import type { EventFeed, NewEvent } from '../events/index.ts';
import type { People } from '../profile/index.ts';
import type { DataSealer } from '../vault/index.ts';
import type { PaywallRecord, PaywallsStore, PaywallTerms, RateLimit, TokenTerms } from './store.ts';

export interface PaywallsDeps {
  store: PaywallsStore;
  people: Pick<People, 'of'>;
  /** Fails with `invalid_request` for a caller without a wallet. */
  requireWallet: (caller: Caller) => Promise<unknown>;
  /** Whether the caller may use private addresses as upstream: the owner of the host. */
  mayUsePrivate: (caller: Caller) => Promise<boolean>;
  /** Why this upstream cannot be used, as the end of a sentence; undefined if it can. */
  upstreamProblem: (url: string, options: { mayBePrivate: boolean }) => string | undefined;
  events: Pick<EventFeed, 'record'>;
  sealer: DataSealer;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

type NewPaywall = Body<typeof createPaywall>;
type Change = Body<typeof updatePaywall>;

/** A change is retried when another one came in between. */
const attemptsMax = 5;
const defaultToken: TokenTerms = { timeoutSeconds: 3600, maxUses: 1, capabilities: [], constraints: {} };
const defaultTimeoutMs = 30_000;

/** Headers that the proxy sets itself, or that end at each hop. */
const reservedHeaders = new Set(
  [
    'connection content-length expect host keep-alive proxy-authenticate proxy-authorization proxy-connection te',
    'trailer transfer-encoding upgrade via x-forwarded-for x-forwarded-host x-forwarded-proto',
  ]
    .join(' ')
    .split(' '),
);

/** The caller's paywalls. Those of others do not exist for the caller: `not_found`. */
export function createPaywalls(deps: PaywallsDeps) {
  const { store, people, sealer, now } = deps;

  const find = async (caller: Caller, reference: string): Promise<PaywallRecord> => {
    const { number } = await people.of(caller);
    const record = await store.find(number, reference);
    if (!record || record.status === 'deleted') throw new ApiError('not_found', { param: 'paywallId' });
    return record;
  };

  const { headersOf, shownHeaders, seal, withKept } = sealedHeaders(sealer);
  const announce = async (type: NewEvent['type'], caller: Caller, { id }: PaywallRecord): Promise<void> => {
    const { workspaceId } = actingUser(caller);
    await deps.events.record({ type, workspaceId, at: now(), data: { paywall: id } });
  };

  /** Stores a change, and makes the proxies serve it. */
  const change = async (
    caller: Caller,
    reference: string,
    apply: (before: PaywallRecord) => PaywallTerms,
  ): Promise<PaywallRecord> => {
    for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
      const before = await find(caller, reference);
      const outcome = await store.replace(before, apply(before));
      if (outcome === 'route-taken') throw routeTaken();
      if (outcome === 'changed') continue;
      const type = outcome.status === 'deleted' ? 'paywall.deleted' : 'paywall.updated';
      await announce(type, caller, outcome);
      return outcome;
    }
    throw new ApiError('conflict');
  };

  return {
    find,
    headersOf,
    shownHeaders,

    /** Fails with `invalid_request` without a wallet, for a taken name or route, or an upstream that is not allowed. */
    async create(caller: Caller, request: NewPaywall): Promise<PaywallRecord> {
      wellFormedMembers(request);
      await deps.requireWallet(caller);
      const { number: owner } = await people.of(caller);
      const { userId: ownerId } = actingUser(caller);
      const { upstream, name } = request;
      const id = deps.makeId('pw');
      const at = now();
      const mayBePrivate = await deps.mayUsePrivate(caller);
      requireUpstream(deps, upstream.url, mayBePrivate);
      requireHeaders(upstream.headers);
      if (!mayBePrivate) requireOwnPath(request.match?.pathPrefix ?? '/');
      const terms: Omit<PaywallTerms, 'name'> = {
        id,
        ownerId,
        owner,
        mayBePrivate,
        status: 'active',
        ...checkedTerms(newTerms(request)),
        headers: seal(id, upstream.headers ?? {}),
        createdAt: at,
        updatedAt: at,
        deletedAt: null,
      };
      const names = name === undefined ? namesFor(terms, deps.randomBytes) : [name];
      const record = await store.insert(terms, names);
      if (record === 'name-taken') throw inputFault('name', 'belongs to another of your paywalls');
      if (record === 'route-taken') throw routeTaken();
      await announce('paywall.created', caller, record);
      return record;
    },

    async list(
      caller: Caller,
      page: { limit: number; before: string | undefined; status: PaywallStatus | undefined },
    ): Promise<PaywallRecord[]> {
      return await store.list((await people.of(caller)).number, page);
    },

    /** All of the caller's that are not deleted. */
    async serving(caller: Caller): Promise<PaywallRecord[]> {
      const { number } = await people.of(caller);
      return (await store.serving()).paywalls.filter(({ owner }) => owner === number);
    },

    /** Fails like `create`. */
    async update(caller: Caller, reference: string, request: Change): Promise<PaywallRecord> {
      wellFormedMembers(request);
      const { upstream } = request;
      requireHeaders(upstream?.headers);
      const isPrivileged = await deps.mayUsePrivate(caller);
      if (!isPrivileged && request.match?.pathPrefix !== undefined) requireOwnPath(request.match.pathPrefix);
      return await change(caller, reference, (before) => {
        const mayBePrivate = upstream?.url === undefined ? before.mayBePrivate : isPrivileged;
        if (upstream?.url !== undefined) requireUpstream(deps, upstream.url, mayBePrivate);
        const headers =
          upstream?.headers === undefined
            ? before.headers
            : seal(before.id, withKept(before, upstream.headers));
        return { ...checkedTerms(changed(before, request)), headers, mayBePrivate, updatedAt: now() };
      });
    },

    /** Its route is gone, and its tokens are refused, when this resolves. */
    async remove(caller: Caller, reference: string): Promise<PaywallRecord> {
      return await change(caller, reference, (before) => {
        const at = now();
        return { ...before, status: 'deleted', updatedAt: at, deletedAt: at };
      });
    },
  };
}

export type Paywalls = ReturnType<typeof createPaywalls>;

/** The terms of a new paywall, apart from what depends on the caller. */
function newTerms({ match, upstream, token, freeRequestsPerDay = 0, ...request }: NewPaywall) {
  return {
    host: match?.host?.toLowerCase() ?? null,
    pathPrefix: match?.pathPrefix ?? '/',
    methods: match?.methods ?? [],
    upstream: {
      url: upstream.url,
      rewritePrefix: upstream.rewritePrefix ?? null,
      timeoutMs: upstream.timeoutMs ?? defaultTimeoutMs,
    },
    priceSats: request.priceSats,
    authScheme: request.authScheme ?? 'l402+mpp',
    token: withTerms(defaultToken, token),
    freePaths: request.freePaths ?? [],
    freeRequestsPerDay,
    rateLimit: rateLimitOf(request.rateLimit),
    allowedOrigins: request.allowedOrigins ?? [],
  };
}

/** The terms after a change, apart from what depends on the caller. */
function changed(before: PaywallRecord, request: Change): PaywallRecord {
  const { match, upstream, token, rateLimit } = request;
  const { priceSats, authScheme, freePaths, freeRequestsPerDay, allowedOrigins, status } = request;
  return {
    ...before,
    host: match?.host === undefined ? before.host : (match.host?.toLowerCase() ?? null),
    pathPrefix: match?.pathPrefix ?? before.pathPrefix,
    methods: match?.methods ?? before.methods,
    upstream: {
      url: upstream?.url ?? before.upstream.url,
      rewritePrefix:
        upstream?.rewritePrefix === undefined ? before.upstream.rewritePrefix : upstream.rewritePrefix,
      timeoutMs: upstream?.timeoutMs ?? before.upstream.timeoutMs,
    },
    token: withTerms(before.token, token),
    priceSats: priceSats ?? before.priceSats,
    authScheme: authScheme ?? before.authScheme,
    freePaths: freePaths ?? before.freePaths,
    freeRequestsPerDay: freeRequestsPerDay ?? before.freeRequestsPerDay,
    rateLimit: rateLimit === undefined ? before.rateLimit : rateLimitOf(rateLimit),
    allowedOrigins: allowedOrigins ?? before.allowedOrigins,
    status: status ?? before.status,
  };
}

/** A `Payment` credential is for one request, so more uses can only be sold with L402. */
function checkedTerms<T extends Pick<PaywallTerms, 'authScheme' | 'token'>>(terms: T): T {
  if (terms.authScheme !== 'mpp' || terms.token.maxUses === 1) return terms;
  throw inputFault(
    'token.maxUses',
    'must be 1 with the `authScheme` `mpp`, whose payments are for one request',
  );
}

/** The headers that a paywall adds, which may be credentials of its upstream. */
function sealedHeaders(sealer: DataSealer) {
  type Sealed = Pick<PaywallRecord, 'id' | 'headers'>;
  const headersOf = ({ id, headers }: Sealed): Record<string, string> => {
    if (headers === null) return {};
    const opened = sealer.open(headers, boundTo(id));
    // Without them the upstream would be asked without its credentials.
    if (!opened) {
      const message = 'The headers for the upstream cannot be decrypted.';
      throw new ApiError('unavailable', { message });
    }
    return JSON.parse(opened.toString()) as Record<string, string>;
  };
  const shownHeaders = (paywall: Sealed): Record<string, string> =>
    Object.fromEntries(
      Object.entries(headersOf(paywall)).map(([name, value]) => [
        name,
        sealer.fingerprint(value, `${boundTo(paywall.id)}|${name}`),
      ]),
    );
  return {
    headersOf,
    /** The fingerprints of the values: no one can read these again. */
    shownHeaders,
    /** New headers, in which the fingerprint of a value stands for that value. */
    withKept(before: Sealed, headers: Record<string, string>): Record<string, string> {
      if (before.headers === null) return headers;
      const [values, shown] = [headersOf(before), shownHeaders(before)];
      return Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          (value === ownValue(shown, name) ? ownValue(values, name) : undefined) ?? value,
        ]),
      );
    },
    seal(id: string, headers: Record<string, string>): string | null {
      if (Object.keys(headers).length === 0) return null;
      return sealer.seal(Buffer.from(JSON.stringify(headers)), boundTo(id));
    },
  };
}

const boundTo = (id: string) => `paywall-headers|${id}`;

function routeTaken(): ApiError {
  return inputFault(
    'match',
    'overlaps another paywall of this host: same host name, path and method, or within a path of another user',
  );
}

function requireUpstream(
  { upstreamProblem }: Pick<PaywallsDeps, 'upstreamProblem'>,
  url: string,
  mayBePrivate: boolean,
): void {
  const problem = upstreamProblem(url, { mayBePrivate });
  if (problem !== undefined) throw inputFault('upstream.url', problem);
}

/** One user would take all requests that other users have no paywalls for yet. */
function requireOwnPath(pathPrefix: string): void {
  if (pathPrefix !== '/') return;
  throw inputFault('match.pathPrefix', 'is required, and `/` is only for the owner of the host');
}

function requireHeaders(headers: Record<string, string> | undefined): void {
  for (const name of Object.keys(headers ?? {})) {
    const lower = name.toLowerCase();
    if (!reservedHeaders.has(lower) && !lower.startsWith('x-paywall-')) continue;
    throw inputFault('upstream.headers', `cannot contain \`${name}\`, which the proxy sets itself`);
  }
}

function withTerms(before: TokenTerms, change: NewPaywall['token']): TokenTerms {
  const token = {
    timeoutSeconds: change?.timeoutSeconds ?? before.timeoutSeconds,
    maxUses: change?.maxUses === undefined ? before.maxUses : change.maxUses,
    capabilities: change?.capabilities ?? before.capabilities,
    constraints: change?.constraints ?? before.constraints,
  };
  for (const name of ['capabilities', 'valid_until', 'max_uses']) {
    if (name in token.constraints)
      throw inputFault('token.constraints', `cannot contain \`${name}\`, which tokens have already`);
  }
  return token;
}

function rateLimitOf(asked: NewPaywall['rateLimit']): RateLimit | null {
  if (!asked) return null;
  const { requests, perSeconds = 1, burst = requests } = asked;
  return { requests, perSeconds, burst };
}

const nameCharsMax = 63;

/** Candidate names, best first: from the path or the upstream. The last one is random enough to be free. */
function namesFor(
  { pathPrefix, upstream }: Pick<PaywallTerms, 'pathPrefix' | 'upstream'>,
  randomBytes: PaywallsDeps['randomBytes'],
): string[] {
  const base = plainName(pathPrefix) || plainName(new URL(upstream.url).host) || 'paywall';
  const numbered = [2, 3, 4, 5, 6, 7, 8, 9].map((number) => ending(base, `-${number}`));
  return [base, ...numbered, ending(base, `-${Buffer.from(randomBytes(6)).toString('hex')}`)];
}

function ending(base: string, end: string): string {
  return base.slice(0, nameCharsMax - end.length) + end;
}

function plainName(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-|-$/g, '');
}
