import { defaultScopes, type ScopeName, scopeNames } from '../../../shared/contract/endpoint.ts';
import type { KeyDefaultsChange } from '../../../shared/contract/key-defaults.ts';
import { type ActionName, actionNames, type LimitsChange } from '../../../shared/contract/key-limits.ts';
import type { KeyView } from '../../../shared/contract/keys.ts';
import { ApiError } from '../../../shared/errors.ts';
import { wellFormed } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import type { MakeId } from '../../../shared/ids.ts';
import type { NanoUsd } from '../../../shared/money/money.ts';
import { hintOf, makeSecret } from '../../../shared/secrets.ts';
import type { KeyCaller, KeyOrLogin } from '../../base/handler.ts';
import type { PageRequest } from '../../base/replies.ts';
import type { EventFeed } from '../events/index.ts';
import type { UsageReader } from '../metering/index.ts';
import type { Membership, Workspaces, WorkspacesStore } from '../workspaces/index.ts';
import type { Authenticator } from './authenticator.ts';
import { toKey, toKeyView, toLoginView } from './key-view.ts';
import { changedDefaults, changedLimits } from './limits-and-defaults.ts';
import type { KeyRecord, KeysStore } from './store.ts';

export interface KeysDeps {
  store: KeysStore;
  logins: Pick<WorkspacesStore, 'loginById'>;
  workspaces: Pick<Workspaces, 'membership' | 'mayIssueKeys'>;
  usage: Pick<UsageReader, 'spendOf'>;
  /** The balance of a prepaid workspace; null for a postpaid one. */
  balanceOf?: (workspaceId: string) => Promise<NanoUsd | null>;
  events: Pick<EventFeed, 'record'>;
  authenticator: Pick<Authenticator, 'lastUse' | 'lastLoginUse'>;
  digest: (secret: string) => string;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

export interface NewKey {
  name: string | undefined;
  scopes: readonly ScopeName[] | undefined;
  models?: string[] | undefined;
  actions?: readonly ActionName[] | undefined;
  limits?: LimitsChange | undefined;
  defaults?: KeyDefaultsChange | undefined;
}

/** Maximum depth of descent, since each call checks the policies of all ancestors. */
const generationsMax = 16;
const unnamed = 'unnamed';
const unrestricted = { models: null, actions: null, limits: null, defaults: null };

/** Issues, lists and revokes API keys. */
export function createKeys(deps: KeysDeps) {
  const { store, authenticator } = deps;

  const withLastUse = (record: KeyRecord): KeyRecord => {
    return { ...record, lastUsedAt: authenticator.lastUse(record.id) ?? record.lastUsedAt };
  };

  return {
    /** Each fails with `permission`, also if there is no such workspace. */
    permit: {
      issue: (caller: KeyOrLogin, workspace: string) => issuer(deps, caller, workspace),
      list: (caller: KeyOrLogin, workspace: string) => member(deps, caller, workspace),
    },

    /**
     * Issues a key for owners, admins and permitted members of a workspace. A key can pass on only its own scopes. Fails
     * with `permission`, `invalid_request`, or `out_of_scope` when a key requests more than it has.
     */
    async issue(caller: KeyOrLogin, workspace: string, request: NewKey) {
      const membership = await issuer(deps, caller, workspace);
      return await insert(deps, {
        ...membership,
        name: wellFormed(request.name, 'name') ?? unnamed,
        scopes: scopesFor(caller, request.scopes),
        ...(await policyFor(deps, caller, request)),
        parentId: caller.kind === 'key' ? caller.keyId : null,
      });
    },

    /** Issues a key on behalf of the daemon. */
    issueFor: (owner: { userId: string; workspaceId: string }, name: string) =>
      insert(deps, { ...owner, name, scopes: [...defaultScopes], parentId: null, ...unrestricted }),

    /** Whether this secret was issued here, and is still active. */
    async standing(secret: string): Promise<'unknown' | 'active' | 'ended'> {
      const digest = deps.digest(secret);
      const record = await store.byDigest(digest);
      if (record !== undefined) return isEnded(record, deps.now()) ? 'ended' : 'active';
      const previous = await store.previousByDigest(digest);
      if (previous === undefined) return 'unknown';
      return previous.endsAt > deps.now() ? 'active' : 'ended';
    },

    /** Newest first, for any member. Fails with `permission`, also if there is no such workspace. */
    async list(caller: KeyOrLogin, workspace: string, page: PageRequest): Promise<KeyRecord[]> {
      const { workspaceId } = await member(deps, caller, workspace);
      return (await store.list(workspaceId, page)).map(withLastUse);
    },

    /**
     * Revokes a key and its descendants, since the holder of the key could have issued them. Returns the ids of the
     * descendants. Fails with `not_found` for callers without permission, and for a key that is not active.
     */
    async revoke(caller: KeyOrLogin, workspace: string, keyId: string): Promise<string[]> {
      const membership = await deps.workspaces.membership(caller, workspace);
      const record = membership && (await store.byId(membership.workspaceId, keyId));
      if (!record || !mayRevoke(membership, record)) throw noSuchKey(keyId);
      return await revokeTree(deps, record);
    },

    /** The view of the calling key or login of itself. */
    async view(caller: KeyOrLogin): Promise<KeyView> {
      const spend = await deps.usage.spendOf(caller);
      const balance = (await deps.balanceOf?.(caller.workspaceId)) ?? null;
      if (caller.kind === 'key') {
        const record = await store.byId(caller.workspaceId, caller.keyId);
        if (!record) throw new ApiError('unauthenticated');
        return toKeyView(withLastUse(record), { spend, balance });
      }
      const login = await deps.logins.loginById(caller.loginId);
      if (!login) throw new ApiError('unauthenticated');
      const lastUsedAt = authenticator.lastLoginUse(login.id) ?? login.lastUsedAt;
      return toLoginView({ ...login, lastUsedAt }, caller.workspaceId, { spend, balance });
    },
  };
}

export type Keys = ReturnType<typeof createKeys>;

type Members = Pick<KeysDeps, 'workspaces'>;

async function issuer({ workspaces }: Members, caller: KeyOrLogin, workspace: string): Promise<Membership> {
  const membership = await workspaces.membership(caller, workspace);
  if (membership && (await workspaces.mayIssueKeys(membership))) return membership;
  throw new ApiError('permission', {
    message: 'Only owners and admins can issue keys in this workspace; they can allow members to.',
  });
}

async function member({ workspaces }: Members, caller: KeyOrLogin, workspace: string): Promise<Membership> {
  const membership = await workspaces.membership(caller, workspace);
  if (membership) return membership;
  throw new ApiError('permission', { message: 'You are not a member of this workspace.' });
}

async function insert(
  deps: KeysDeps,
  key: Pick<KeyRecord, 'workspaceId' | 'name' | 'scopes' | 'parentId' | keyof typeof unrestricted> & {
    userId: string;
  },
): Promise<{ record: KeyRecord; secret: string }> {
  const secret = makeSecret('api', deps.randomBytes);
  const record: KeyRecord = {
    id: deps.makeId('key'),
    workspaceId: key.workspaceId,
    ownerId: key.userId,
    parentId: key.parentId,
    name: key.name,
    digest: deps.digest(secret),
    hint: hintOf(secret),
    scopes: key.scopes,
    models: key.models,
    actions: key.actions,
    limits: key.limits,
    defaults: key.defaults,
    createdAt: deps.now(),
    lastUsedAt: null,
    revokedAt: null,
    rotatedAt: null,
    pausedAt: null,
  };
  if (!(await deps.store.insert(record))) throw new ApiError('unauthenticated');
  await recordEvent(deps, 'key.issued', record);
  return { record, secret };
}

/** Revokes a key and its descendants, and records an event for each; returns the ids of the descendants. */
async function revokeTree(deps: KeysDeps, key: KeyRecord): Promise<string[]> {
  const { store } = deps;
  const revoked = await store.revoke(key.workspaceId, key.id, deps.now());
  if (revoked.length === 0) throw noSuchKey(key.id);
  const others = revoked.filter((id) => id !== key.id);
  const records = await Promise.all(others.map((id) => store.byId(key.workspaceId, id)));
  await Promise.all([key, ...records].map((each) => each && recordEvent(deps, 'key.revoked', each)));
  return others;
}

/** Returns the scopes in canonical order, without duplicates. */
function scopesFor(caller: KeyOrLogin, wanted: readonly ScopeName[] | undefined): ScopeName[] {
  const may = (scope: ScopeName) => caller.kind === 'login' || caller.scopes.has(scope);
  if (wanted === undefined) return defaultScopes.filter(may);
  const refused = wanted.find((scope) => !may(scope));
  if (refused !== undefined) {
    const message = `A key can only pass on scopes that it has: it lacks \`${refused}\`.`;
    throw new ApiError('out_of_scope', { param: 'scopes', message });
  }
  return scopeNames.filter((scope) => wanted.includes(scope));
}

/** The policy of a new key: as requested, on top of the issuing key's. */
async function policyFor(
  deps: KeysDeps,
  caller: KeyOrLogin,
  request: NewKey,
): Promise<Pick<KeyRecord, keyof typeof unrestricted>> {
  if (caller.kind === 'key' && generationsOf(caller) >= generationsMax) {
    const message = `A key with ${generationsMax - 1} ancestors cannot issue keys.`;
    throw new ApiError('permission', { message });
  }
  const parent = caller.kind === 'key' ? await deps.store.byId(caller.workspaceId, caller.keyId) : undefined;
  const actions = request.actions ? actionNames.filter((name) => request.actions?.includes(name)) : null;
  const refused = actions?.find((name) => parent?.actions && !parent.actions.includes(name));
  if (refused !== undefined) {
    const message = `A key can only pass on actions that it may call: it lacks \`${refused}\`.`;
    throw new ApiError('out_of_scope', { param: 'actions', message });
  }
  const change = { change: request.limits ?? {}, now: deps.now(), prefix: 'limits.' };
  return {
    models: request.models ? wellFormed(request.models, 'models') : (parent?.models ?? null),
    actions: actions ?? parent?.actions ?? null,
    limits: changedLimits(parent?.limits ?? null, change),
    defaults: changedDefaults(parent?.defaults ?? null, request.defaults ?? {}),
  };
}

/** The number of keys from the first ancestor to this one. */
function generationsOf({ policy }: KeyCaller): number {
  let count = 0;
  for (let key = policy; key; key = key.parent) count += 1;
  return count;
}

export function mayRevoke(membership: Membership, record: KeyRecord): boolean {
  return membership.role !== 'member' || record.ownerId === membership.userId;
}

export function noSuchKey(id: string): ApiError {
  return notFound('key', id);
}

function isEnded(record: KeyRecord, now: number): boolean {
  return ['revoked', 'expired'].includes(toKey(record, now).status);
}

export function recordEvent(
  deps: Pick<KeysDeps, 'events' | 'now'>,
  type: 'key.issued' | 'key.revoked' | 'key.rotated' | 'key.paused' | 'key.resumed',
  record: KeyRecord,
  more: Record<string, string> = {},
): Promise<void> {
  const data = { key: record.id, name: record.name, hint: record.hint, ...more };
  return deps.events.record({ type, workspaceId: record.workspaceId, at: deps.now(), data });
}
