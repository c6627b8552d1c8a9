import { hash } from 'node:crypto';
import { ApiError } from '../../../shared/errors.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import { parseSecret } from '../../../shared/secrets.ts';
import type { Changes } from '../../base/changes.ts';
import {
  type AgentCaller,
  type AnonymousCaller,
  type Caller,
  type KeyCaller,
  KeyRefused,
  type LoginCaller,
  type TokenCaller,
} from '../../base/handler.ts';
import { repeatedly, type World } from '../../base/world.ts';
import type { TokenRecord, TokensStore } from '../tokens/index.ts';
import type { WorkspacesStore } from '../workspaces/index.ts';
import {
  type ActiveKeys,
  createActiveKeys,
  createCredentialUses,
  expiredKeyOf,
  expiryOf,
  pausedKeyOf,
} from './active-keys.ts';
import {
  createIdleLogins,
  expired,
  type IdleLogins,
  revocationSignals,
  type SignalOf,
} from './credential-ends.ts';
import type { KeyRecord, KeysStore, PreviousSecret } from './store.ts';

type AgentIdentity = Pick<AgentCaller, 'workspaceId'> & { id: string };

export interface AuthenticatorDeps {
  keysStore: Pick<
    KeysStore,
    'byDigest' | 'byId' | 'touch' | 'previousByDigest' | 'previousOf' | 'touchPrevious'
  >;
  workspacesStore: Pick<WorkspacesStore, 'loginByDigest' | 'homeOf' | 'touchLogins'>;
  /** Without it, access tokens are not accepted. */
  tokensStore?: Pick<TokensStore, 'byDigest' | 'list' | 'touch'>;
  /** Without it, agents are not accepted. */
  agentsStore?: {
    byDigest(digest: string): Promise<AgentIdentity | undefined>;
    find(id: string): Promise<AgentIdentity | undefined>;
  };
  changes: Changes;
  /** The digest of a whole secret. */
  digest: (secret: string) => string;
  now: () => number;
  /** What expiries are compared with. */
  passed: PassedTime;
  /** The policies of keys in use. */
  activeKeys?: ActiveKeys;
  /** Called with each call that used an expired key. */
  onExpired?: (caller: KeyCaller) => void;
  /** Called when a secret was used for the first time since it was replaced. */
  onPreviousUsed?: (secret: PreviousSecret) => void;
  /** Maximum number of callers cached in memory. */
  callersMax?: number;
}

const callersMaxDefault = 10_000;
const actingMax = 1000;
const headersMax = 1000;
const idleCheckMs = 30_000;
type Authenticated = KeyCaller | LoginCaller | AgentCaller | TokenCaller;

/** The clock, but for what expired before it was set back. */
export interface PassedTime {
  at(): number;
  /** The same without a time that may be wrong. */
  sure(): number;
  /** Stores that an expiry has passed, so that it stays so over a restart. */
  noteExpiry(id: string, expiry: number): void;
}

const anonymous: AnonymousCaller = { kind: 'anonymous' };

/** Identifies callers by their credential, and ends what runs with a credential as soon as it is revoked or expires. */
export function createAuthenticator(deps: AuthenticatorDeps) {
  const { digest, passed, callersMax = callersMaxDefault } = deps;
  const callers = callerCache(callersMax, (caller) => caller.kind !== 'login' || !idle.isOverdue(caller));
  // Of known callers only, by the `Authorization` header, as checking and hashing a secret takes longer than all else that
  // identifies its caller.
  const digests = new RecentMap<string, string>(headersMax);
  const lookups = new Map<string, Promise<Caller>>();
  const uses = createCredentialUses(deps);
  const revocations = revocationSignals();
  const { signalOf } = revocations;
  const acting = actingLogins(signalOf);
  // By the id of a key or login.
  const names = new RecentMap<string, string>(callersMax);
  const activeKeys =
    deps.activeKeys ?? createActiveKeys({ store: deps.keysStore, changes: deps.changes, passed });
  const idle = createIdleLogins({ revoke: revocations.revoke, passed });
  const checked = createCallerCheck(deps, { note: uses.note, idle });
  const noteName = (id: string, name: string) => names.set(id, name);
  const findDeps = { ...deps, activeKeys, noteName, idle, uses };

  const lookUp = async (kind: CredentialKind, key: string): Promise<Caller> => {
    const find = finders[kind];
    const generation = callers.generation();
    const caller = await find(findDeps, key, signalOf);
    // The record may have been read before a membership ended.
    if (callers.generation() !== generation) return lookUp(kind, key);
    // Unknown secrets are not cached: they could be issued next, and guesses would fill the memory.
    if (!caller) throw new ApiError('unauthenticated');
    // An expired key may be extended, so the next call looks it up again.
    if (caller.revoked.aborted) return checked(caller);
    callers.add(key, caller);
    return checked(caller);
  };

  const identify = (header: string): Caller | Promise<Caller> => {
    const recent = callers.get(digests.get(header) ?? '');
    if (recent) return checked(recent);
    const { secret, kind } = credentialIn(header);
    const key = digest(secret);
    const known = callers.get(key);
    if (known) {
      digests.set(header, key);
      return checked(known);
    }
    const pending = lookups.get(key);
    if (pending) return pending;
    const lookup = lookUp(kind, key).finally(() => lookups.delete(key));
    lookups.set(key, lookup);
    return lookup;
  };

  deps.changes.subscribe('revocation', ({ id }) => revocations.revoke(id));
  activeKeys.onChange((record) => applyKeyChange(record, { ...deps, activeKeys, callers, revocations }));
  // What runs for a former member ends, and their logins and keys are looked up again.
  deps.changes.subscribe('departure', ({ workspaceId, userId }) => {
    callers.remove((caller) => caller.workspaceId === workspaceId && holderOf(caller) === userId);
    acting.remove(workspaceId, userId);
    revocations.end(membershipId(workspaceId, userId));
  });

  return {
    /**
     * The caller of a key or an agent by its id, or of a user's access token, for what stands in for its secret. Rejects as
     * `authenticate` does.
     */
    async callerOf(reference: CredentialReference): Promise<Caller> {
      await deps.changes.current();
      const caller = await referredCaller(findDeps, reference, signalOf);
      if (!caller) throw new ApiError('unauthenticated');
      return checked(caller);
    },

    /**
     * Returns the caller of an `Authorization` header, synchronously for a cached one. Throws or rejects with the same
     * `unauthenticated` for a malformed, unknown or revoked credential, and with `unavailable` while it is not known what other
     * daemons have revoked.
     */
    authenticate(header: string | undefined): Caller | Promise<Caller> {
      if (header === undefined) return anonymous;
      return deps.changes.current()?.then(() => identify(header)) ?? identify(header);
    },

    /** The name of a key that was used recently; that of a login is `login NAME`. */
    nameOf: (id: string) => names.get(id),

    /** The login acting in another workspace of its user. */
    inWorkspace: acting.of,

    /** Aborted when a user leaves a workspace: for what the daemon runs for them without a credential. */
    membershipEnd: (workspaceId: string, userId: string): AbortSignal =>
      revocations.signalOf(membershipId(workspaceId, userId)),

    /** Ends what runs with keys and idle logins as they expire, until aborted. New calls with them are rejected anyway. */
    keepExpiring: (world: Pick<World, 'sleep'>, signal: AbortSignal, onFailure: (error: unknown) => void) =>
      Promise.all([
        activeKeys.watch(world, signal, (keyId) => {
          revocations.endCalls(keyId, expired());
          callers.remove((caller) => caller.kind === 'key' && caller.keyId === keyId);
        }),
        repeatedly(world, { everyMs: idleCheckMs, signal, onFailure }, () => {
          revocations.endSecretsBy(passed.sure());
          return endIdle(callers.entries(), {
            idle,
            revocations,
            find: (key) => findLogin(findDeps, key, signalOf),
          });
        }),
      ]),

    /** When a credential was last used, if not stored yet. */
    lastUse: uses.lastKey,
    lastPreviousUse: uses.lastPrevious,
    lastLoginUse: uses.lastLogin,
    lastTokenUse: uses.lastToken,
    /** Stores them now, or periodically until aborted and once more at the end. */
    flush: uses.flush,
    keepFlushed: uses.keepFlushed,
  };
}

/** Ends what runs with secrets of a key that do not work any more, and all that runs with a paused key and its descendants. */
async function applyKeyChange(
  { id, digest, rotatedAt, pausedAt }: KeyRecord,
  {
    keysStore,
    passed,
    activeKeys,
    callers,
    revocations,
  }: Pick<AuthenticatorDeps, 'keysStore' | 'passed'> & {
    activeKeys: ActiveKeys;
    callers: Pick<ReturnType<typeof callerCache>, 'remove'>;
    revocations: ReturnType<typeof revocationSignals>;
  },
): Promise<void> {
  const ended = new Set(pausedAt === null ? [] : activeKeys.withDescendants(id));
  callers.remove((caller) => caller.kind === 'key' && (caller.keyId === id || ended.has(caller.keyId)));
  for (const keyId of ended) revocations.endCalls(keyId, paused());
  if (rotatedAt !== null) {
    const previous = await keysStore.previousOf(id);
    const ends = previous
      .filter(({ endsAt }) => endsAt > passed.sure())
      .map((secret) => [secret.digest, secret.endsAt] as const);
    revocations.endSecrets(id, new Map([[digest, undefined], ...ends]));
  }
}

interface CredentialReference {
  workspaceId: string;
  id: string;
  /** The user of an access token. */
  userId?: string;
}

async function referredCaller(
  deps: FindDeps,
  { workspaceId, id, userId }: CredentialReference,
  signalOf: SignalOf,
): Promise<Authenticated | undefined> {
  if (userId !== undefined && id.startsWith('tok_')) {
    const record = (await deps.tokensStore?.list(userId))?.find((token) => token.id === id);
    return record && (await tokenCallerOf(deps, record, signalOf));
  }
  const key = id.startsWith('key_') ? await deps.keysStore.byId(workspaceId, id) : undefined;
  if (key) return await keyCallerOf(deps, key, signalOf);
  const agent = id.startsWith('agt_') ? await deps.agentsStore?.find(id) : undefined;
  return agent && agentCallerOf(agent, signalOf);
}

type CredentialKind = 'api' | 'login' | 'agent' | 'token';

function credentialIn(header: string): { secret: string; kind: CredentialKind } {
  const secret = /^bearer +(\S+)$/i.exec(header)?.[1] ?? '';
  const kind = parseSecret(secret);
  if (kind === undefined) throw new ApiError('unauthenticated');
  return { secret, kind };
}

/** Returns the caller if its credential is still valid, and records its use. */
function createCallerCheck(
  { now, passed, onExpired }: AuthenticatorDeps,
  {
    note,
    idle,
  }: {
    note: Record<'key' | 'login' | 'token' | 'previous', (id: string, at: number) => void>;
    idle: IdleLogins;
  },
) {
  return (caller: Authenticated): Caller => {
    // For each caller, so that a clock that was set back is noticed before the caller makes a credential.
    const at = passed.at();
    if (caller.kind === 'key' && caller.previousSecret !== undefined) {
      const { digest, endsAt } = caller.previousSecret;
      if (endsAt <= at) {
        passed.noteExpiry(digest, endsAt);
        throw refused(caller, new ApiError('unauthenticated'));
      }
      if (!caller.revoked.aborted) note.previous(digest, now());
    }
    if (caller.kind === 'key' && caller.policy?.isRestricted) {
      const pausedKey = pausedKeyOf(caller.policy);
      if (pausedKey !== undefined) throw refused(caller, paused(pausedKey !== caller.keyId));
      const expiry = expiryOf(caller.policy);
      if (expiry <= at) {
        passed.noteExpiry(expiredKeyOf(caller.policy, expiry), expiry);
        onExpired?.(caller);
        throw refused(caller, expired());
      }
    }
    if (caller.kind === 'login' && !idle.use(caller, at)) throw new ApiError('unauthenticated');
    if (caller.revoked.aborted) throw refused(caller, new ApiError('unauthenticated'));
    if (caller.kind === 'key') note.key(caller.keyId, now());
    else if (caller.kind === 'login') note.login(caller.loginId, at);
    else if (caller.kind === 'token') {
      if (caller.expiresAt !== null && caller.expiresAt <= at) {
        passed.noteExpiry(caller.tokenId, caller.expiresAt);
        throw new ApiError('unauthenticated');
      }
      note.token(caller.tokenId, now());
    }
    return caller;
  };
}

/** Ends what runs with logins that no daemon has seen for the time that they may idle. */
async function endIdle(
  known: readonly [key: string, caller: Authenticated][],
  {
    idle,
    revocations,
    find,
  }: {
    idle: IdleLogins;
    revocations: { revoke(id: string): void };
    find: (key: string) => Promise<LoginCaller | undefined>;
  },
): Promise<void> {
  for (const [key, caller] of known) {
    if (caller.kind !== 'login' || caller.revoked.aborted || !idle.isOver(caller)) continue;
    const stored = await find(key);
    if (stored === undefined || idle.isOver(stored)) revocations.revoke(caller.loginId);
  }
}

/** The error for a credential that is no longer valid; a key's own workspace learns of the call. */
function refused(caller: Authenticated, error: ApiError): ApiError {
  return caller.kind === 'key' ? new KeyRefused(caller, error) : error;
}

function holderOf(caller: Authenticated): string {
  if (caller.kind === 'agent') return caller.agentId;
  return caller.kind === 'key' ? caller.ownerId : caller.userId;
}

/** Callers by the digest of their secret; those that are not current are looked up again. */
function callerCache(callersMax: number, isCurrent: (caller: Authenticated) => boolean) {
  const callers = new RecentMap<string, Authenticated>(callersMax);
  let generation = 0;
  return {
    /** Increases with each removal. */
    generation: () => generation,
    get(key: string): Authenticated | undefined {
      const caller = callers.get(key);
      return caller && isCurrent(caller) ? caller : undefined;
    },
    add: (key: string, caller: Authenticated) => callers.set(key, caller),
    entries: (): [key: string, caller: Authenticated][] => [...callers],
    remove(matches: (caller: Authenticated) => boolean): void {
      generation += 1;
      for (const [key, caller] of callers) if (matches(caller)) callers.delete(key);
    },
  };
}

type FindDeps = AuthenticatorDeps & {
  activeKeys: ActiveKeys;
  noteName(id: string, name: string): void;
  idle: IdleLogins;
  uses: { lastLogin(id: string): number | undefined };
};

export type Authenticator = ReturnType<typeof createAuthenticator>;

function paused(isAncestor = false): ApiError {
  if (!isAncestor) return new ApiError('key_paused');
  return new ApiError('key_paused', { message: 'The key that issued this key is paused.' });
}

async function findKey(deps: FindDeps, digest: string, signalOf: SignalOf): Promise<KeyCaller | undefined> {
  const record = await deps.keysStore.byDigest(digest);
  if (record) return await keyCallerOf(deps, record, (id) => signalOf(id, { digest }));
  const secret = await deps.keysStore.previousByDigest(digest);
  const rotated = secret && (await deps.keysStore.byId(secret.workspaceId, secret.keyId));
  if (!rotated) return undefined;
  const { endsAt } = secret;
  const caller = await keyCallerOf(deps, rotated, (id) => signalOf(id, { digest, endsAt }));
  return { ...caller, previousSecret: { digest, endsAt } };
}

async function keyCallerOf(
  { activeKeys, noteName }: Pick<FindDeps, 'activeKeys' | 'noteName'>,
  record: KeyRecord,
  signalOf: SignalOf,
): Promise<KeyCaller> {
  const { id: keyId, workspaceId } = record;
  noteName(keyId, record.name);
  if (record.revokedAt !== null)
    throw new KeyRefused({ keyId, workspaceId }, new ApiError('unauthenticated'));
  return {
    kind: 'key',
    keyId,
    workspaceId,
    ownerId: record.ownerId,
    scopes: new Set(record.scopes),
    policy: await activeKeys.of(record),
    revoked: signalOf(record.id),
  };
}

async function findLogin(
  { workspacesStore, noteName, idle, uses }: FindDeps,
  digest: string,
  signalOf: SignalOf,
): Promise<LoginCaller | undefined> {
  const record = await workspacesStore.loginByDigest(digest);
  const user = record && (await userOf(record, workspacesStore, signalOf));
  if (!user) return undefined;
  noteName(record.id, `login ${record.name}`);
  const caller: LoginCaller = { kind: 'login', loginId: record.id, ...user };
  const { lastUsedAt } = record;
  idle.watch(caller, {
    ...record,
    lastUsedAt: Math.max(uses.lastLogin(record.id) ?? 0, lastUsedAt ?? 0) || null,
  });
  return caller;
}

async function findToken(
  deps: FindDeps,
  digest: string,
  signalOf: SignalOf,
): Promise<TokenCaller | undefined> {
  const record = await deps.tokensStore?.byDigest(digest);
  return record && (await tokenCallerOf(deps, record, signalOf));
}

async function tokenCallerOf(
  { workspacesStore }: Pick<FindDeps, 'workspacesStore'>,
  record: TokenRecord,
  signalOf: SignalOf,
): Promise<TokenCaller | undefined> {
  const user = await userOf(record, workspacesStore, signalOf);
  if (!user) return undefined;
  const { id, abilities, expiresAt } = record;
  return { kind: 'token', tokenId: id, abilities: new Set(abilities), expiresAt, ...user };
}

/** The user of a login or token in their own workspace, until it is revoked or they leave that workspace. */
async function userOf(
  { id, userId, revokedAt }: { id: string; userId: string; revokedAt: number | null },
  { homeOf }: FindDeps['workspacesStore'],
  signalOf: SignalOf,
): Promise<Pick<LoginCaller, 'userId' | 'workspaceId' | 'revoked'> | undefined> {
  const home = revokedAt === null ? await homeOf(userId) : undefined;
  if (!home) return undefined;
  const revoked = AbortSignal.any([signalOf(id), signalOf(membershipId(home.id, userId))]);
  return { userId, workspaceId: home.id, revoked };
}

async function findAgent(
  { agentsStore }: FindDeps,
  digest: string,
  signalOf: SignalOf,
): Promise<AgentCaller | undefined> {
  const record = await agentsStore?.byDigest(digest);
  return record && agentCallerOf(record, signalOf);
}

function agentCallerOf({ id, workspaceId }: AgentIdentity, signalOf: SignalOf): AgentCaller {
  return { kind: 'agent', agentId: id, workspaceId, revoked: signalOf(id) };
}

const finders = { api: findKey, login: findLogin, agent: findAgent, token: findToken };

/** The id under which a membership is revoked, like a credential. */
function membershipId(workspaceId: string, userId: string): string {
  return `${workspaceId} ${userId}`;
}

/** Logins acting in workspaces other than their own; what runs there ends with the login or the membership. */
function actingLogins(signalOf: (id: string) => AbortSignal) {
  const acting = new RecentMap<string, LoginCaller>(actingMax);
  return {
    of(caller: LoginCaller, workspaceId: string): LoginCaller {
      const key = `${caller.loginId} ${workspaceId}`;
      const known = acting.get(key);
      if (known) return known;
      const ends = [signalOf(caller.loginId), signalOf(membershipId(workspaceId, caller.userId))];
      const login = { ...caller, workspaceId, revoked: AbortSignal.any(ends) };
      acting.set(key, login);
      return login;
    },
    remove(workspaceId: string, userId: string): void {
      for (const [key, caller] of acting) {
        if (caller.workspaceId === workspaceId && caller.userId === userId) acting.delete(key);
      }
    },
  };
}

/** The digest by which secrets are stored and looked up: SHA-256 in lowercase hex. */
export function sha256(secret: string): string {
  return hash('sha256', secret, 'hex');
}
