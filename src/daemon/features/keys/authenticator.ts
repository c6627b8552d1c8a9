import { ApiError } from '../../../shared/errors.ts';
import { parseSecret } from '../../../shared/secrets.ts';
import type { AnonymousCaller, Caller, KeyCaller, LoginCaller, TokenCaller } from '../../handler.ts';
import type { World } from '../../world.ts';
import type { TokensStore } from '../tokens/index.ts';
import type { WorkspacesStore } from '../workspaces/index.ts';
import { actingLogins, membershipId } from './acting.ts';
import type { KeysStore } from './keys-store.ts';
import { isExpired, type LiveKeys, liveKeys } from './live-keys.ts';
import { credentialUses } from './uses-log.ts';

export interface AuthenticatorDependencies {
  keysStore: Pick<KeysStore, 'byDigest' | 'byId' | 'touch'>;
  workspacesStore: Pick<WorkspacesStore, 'loginByDigest' | 'homeOf'>;
  /** Without one, no access token is good. */
  tokensStore?: Pick<TokensStore, 'byDigest' | 'touch'>;
  /** Of a whole secret; two secrets never share one. */
  digest: (secret: string) => string;
  now: () => number;
  /** What keys in use are held to; a set of its own unless told. */
  live?: LiveKeys;
  /** Told of each call that came with an expired key. */
  onExpired?: (caller: KeyCaller) => void;
  /** How many callers are kept in memory. */
  callersMax?: number;
}

const callersMaxDefault = 10_000;
/** Whoever has a credential. */
type Known = KeyCaller | LoginCaller | TokenCaller;

const anonymous: AnonymousCaller = { kind: 'anonymous' };

/** Tells callers by their credential, and is the one place that knows at once when a credential ends. */
export function authenticator(deps: AuthenticatorDependencies) {
  const { digest, now, callersMax = callersMaxDefault } = deps;
  const callers = rememberedCallers(callersMax);
  const lookups = new Map<string, Promise<Caller>>();
  const uses = credentialUses(deps);
  const endings = revocations();
  const acting = actingLogins(endings.signalOf);
  const live = deps.live ?? liveKeys({ store: deps.keysStore, now });
  const admit = admitting(deps, uses.note);

  const lookUp = async (kind: CredentialKind, key: string): Promise<Caller> => {
    const find = finders[kind];
    const seen = callers.forgettings();
    const caller = await find({ ...deps, live }, key, endings.signalOf);
    // What was read while somebody left may name them still.
    if (callers.forgettings() !== seen) return lookUp(kind, key);
    // What is unknown is not kept: it could be issued the next moment, and guesses would fill the memory.
    if (!caller) throw new ApiError('unauthenticated');
    // Whoever expired this moment may be given more time: the next call looks anew.
    if (caller.revoked.aborted) return admit(caller);
    callers.add(key, caller);
    return admit(caller);
  };

  return {
    /**
     * The caller that an `Authorization` header names; nobody without one. Answers at once for a caller seen before.
     * Throws or rejects with the same `unauthenticated` for a malformed, mistyped, unknown or revoked credential.
     */
    authenticate(header: string | undefined): Caller | Promise<Caller> {
      if (header === undefined) return anonymous;
      const { secret, kind } = credentialIn(header);
      const key = digest(secret);
      const known = callers.get(key);
      if (known) return admit(known);
      const underWay = lookups.get(key);
      if (underWay) return underWay;
      const lookup = lookUp(kind, key).finally(() => lookups.delete(key));
      lookups.set(key, lookup);
      return lookup;
    },

    /** Refuses a key or login from now on and ends what runs with it. To be called once its revocation is on disk. */
    revoke: endings.revoke,

    /** The login as it acts in another workspace of its user. */
    inWorkspace: acting.of,

    /** Ends what runs for a member who is none any more, and looks their logins and keys up anew. */
    endMembership(workspaceId: string, userId: string): void {
      callers.forget((caller) => caller.workspaceId === workspaceId && holderOf(caller) === userId);
      acting.forget(workspaceId, userId);
      endings.end(membershipId(workspaceId, userId));
    },

    /** Ends what runs with keys whose time is over, until aborted; they are refused from that moment in any case. */
    keepExpiring: (world: Pick<World, 'sleep'>, signal: AbortSignal): Promise<void> =>
      live.watch(world, signal, (keyId) => {
        endings.expire(keyId);
        callers.forget((caller) => caller.kind === 'key' && caller.keyId === keyId);
      }),

    /** When a key or token was last used, as far as it is not in the store yet. */
    lastUse: uses.lastKey,
    lastTokenUse: uses.lastToken,

    /** Writes the times of last use down: now and then until aborted, and once more at the end. */
    keepFlushed: uses.keepFlushed,
  };
}

type CredentialKind = 'api' | 'login' | 'token';

function credentialIn(header: string): { secret: string; kind: CredentialKind } {
  const secret = /^bearer +(\S+)$/i.exec(header)?.[1] ?? '';
  const kind = parseSecret(secret);
  if (kind !== 'api' && kind !== 'login' && kind !== 'token') throw new ApiError('unauthenticated');
  return { secret, kind };
}

/** Lets a caller pass whose credential is still good. */
function admitting(
  { now, onExpired }: AuthenticatorDependencies,
  note: Record<'key' | 'token', (id: string, at: number) => void>,
) {
  return (caller: Known): Caller => {
    if (caller.kind === 'key' && caller.policy?.isRestricted && isExpired(caller.policy, now())) {
      onExpired?.(caller);
      throw expired();
    }
    if (caller.revoked.aborted) throw new ApiError('unauthenticated');
    if (caller.kind === 'key') note.key(caller.keyId, now());
    else if (caller.kind === 'token') {
      if (caller.expiresAt !== null && caller.expiresAt <= now()) throw new ApiError('unauthenticated');
      note.token(caller.tokenId, now());
    }
    return caller;
  };
}

function holderOf(caller: Known): string {
  return caller.kind === 'key' ? caller.ownerId : caller.userId;
}

/** Callers by the digest of their secret; the oldest gives way. */
function rememberedCallers(callersMax: number) {
  const callers = new Map<string, Known>();
  let forgettings = 0;
  return {
    /** How often something was forgotten because it had changed. */
    forgettings: () => forgettings,
    get: (key: string) => callers.get(key),
    add(key: string, caller: Known): void {
      if (callers.size >= callersMax) callers.delete(callers.keys().next().value ?? '');
      callers.set(key, caller);
    },
    forget(isMeant: (caller: Known) => boolean): void {
      forgettings += 1;
      for (const [key, caller] of callers) if (isMeant(caller)) callers.delete(key);
    },
  };
}

type Finding = AuthenticatorDependencies & { live: LiveKeys };

export type Authenticator = ReturnType<typeof authenticator>;

/** What whoever comes with an expired key is told. */
function expired(): ApiError {
  return new ApiError('limit_reached', { param: 'limits.expires_at', message: 'This key has expired.' });
}

async function findKey(
  { keysStore, live }: Finding,
  digest: string,
  signalOf: (id: string) => AbortSignal,
): Promise<KeyCaller | undefined> {
  const record = await keysStore.byDigest(digest);
  if (!record || record.revokedAt !== null) return undefined;
  return {
    kind: 'key',
    keyId: record.id,
    workspaceId: record.workspaceId,
    ownerId: record.ownerId,
    scopes: new Set(record.scopes),
    policy: await live.of(record),
    revoked: signalOf(record.id),
  };
}

async function findLogin(
  { workspacesStore }: Finding,
  digest: string,
  signalOf: (id: string) => AbortSignal,
): Promise<LoginCaller | undefined> {
  const record = await workspacesStore.loginByDigest(digest);
  const person = record && (await personOf(record, workspacesStore, signalOf));
  return person && { kind: 'login', loginId: record.id, ...person };
}

async function findToken(
  { tokensStore, workspacesStore }: Finding,
  digest: string,
  signalOf: (id: string) => AbortSignal,
): Promise<TokenCaller | undefined> {
  const record = await tokensStore?.byDigest(digest);
  const person = record && (await personOf(record, workspacesStore, signalOf));
  if (!person) return undefined;
  const { id, abilities, expiresAt } = record;
  return { kind: 'token', tokenId: id, abilities: new Set(abilities), expiresAt, ...person };
}

/** Whoever has a credential of their own and calls in their own workspace: until it is revoked, or they leave that. */
async function personOf(
  { id, userId, revokedAt }: { id: string; userId: string; revokedAt: number | null },
  { homeOf }: Finding['workspacesStore'],
  signalOf: (id: string) => AbortSignal,
): Promise<Pick<LoginCaller, 'userId' | 'workspaceId' | 'revoked'> | undefined> {
  const home = revokedAt === null ? await homeOf(userId) : undefined;
  if (!home) return undefined;
  const revoked = AbortSignal.any([signalOf(id), signalOf(membershipId(home.id, userId))]);
  return { userId, workspaceId: home.id, revoked };
}

const finders = { api: findKey, login: findLogin, token: findToken };

/**
 * One abort signal a credential, kept as long as the process: were it dropped with its caller, a look-up that raced a
 * revocation could bring the credential back, and a running stream could miss its end.
 */
function revocations() {
  const controllers = new Map<string, AbortController>();
  const controllerOf = (id: string): AbortController => {
    let controller = controllers.get(id);
    if (!controller) {
      controller = new AbortController();
      controllers.set(id, controller);
    }
    return controller;
  };
  return {
    signalOf: (id: string): AbortSignal => controllerOf(id).signal,
    revoke: (id: string): void => controllerOf(id).abort(new ApiError('unauthenticated')),
    /** Ends what runs now; the same may begin again. */
    end: (id: string): void => {
      const controller = controllers.get(id);
      controllers.delete(id);
      controller?.abort(new ApiError('unauthenticated'));
    },
    /** Ends what runs now; a key that is given more time begins anew. */
    expire: (id: string): void => {
      const controller = controllerOf(id);
      if (controller.signal.aborted) return;
      controllers.delete(id);
      controller.abort(expired());
    },
  };
}
