import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { wellFormed } from '../../../shared/input-faults.ts';
import { notFound } from '../../../shared/not-found.ts';
import { makeSecret } from '../../../shared/secrets.ts';
import type { LoginCaller } from '../../handler.ts';
import type { Log } from '../../log.ts';
import type { PageRequest } from '../../replies.ts';
import type { EventFeed } from '../events/index.ts';
import { createLoginLinks } from './login-links.ts';
import type { LoginCodeRecord, PeopleStore } from './people-store.ts';
import { isReservedHandle, slugsFor } from './slugs.ts';
import type {
  LoginKind,
  LoginRecord,
  UserRecord,
  WorkspaceRecord,
  WorkspaceRole,
  WorkspacesStore,
} from './store.ts';
import { generateCode, normaliseCode } from './typed-codes.ts';
import type { Workspaces } from './workspaces.ts';

export interface PeopleDeps {
  store: PeopleStore;
  workspacesStore: Pick<WorkspacesStore, 'workspace' | 'homeOf' | 'loginById' | 'insertLogin'>;
  workspaces: Pick<Workspaces, 'membership' | 'roleOf'>;
  /** When a login was last used, if not stored yet. */
  lastUse: (loginId: string) => number | undefined;
  /** Limits login attempts per address: `take` returns 0, or the seconds to wait. */
  guesses: { take(address: string): number; giveBack(address: string): void };
  events: Pick<EventFeed, 'record'>;
  log: Pick<Log, 'warn'>;
  digest: (text: string) => string;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

/** A workspace and the user's role in it. */
export interface WorkspaceAndRole {
  workspace: WorkspaceRecord;
  role: WorkspaceRole;
}

const loginCodeMs = 15 * 60 * 1000;
/** 50 random bits, for 15 minutes, with a few guesses per minute. */
const loginCodeGroups = 2;
const unnamed = 'unnamed';
/** How long a browser stays signed in without use. */
const idleMs = 12 * 60 * 60 * 1000;
const keptIdleMs = 30 * 24 * 60 * 60 * 1000;

/** Manages users and their login codes. */
export function createUsers(deps: PeopleDeps) {
  const { store, now } = deps;
  return {
    /** Fails with `conflict` for a taken handle, and with `invalid_request` for a reserved one. */
    async addUser(request: { handle: string; name: string | undefined }) {
      const handle = request.handle.toLowerCase();
      if (isReservedHandle(handle)) {
        throw new ApiError('invalid_request', { param: 'handle', message: 'This handle is reserved.' });
      }
      const createdAt = now();
      const name = wellFormed(request.name, 'name') ?? handle;
      const user = { id: deps.makeId('usr'), handle, name, createdAt };
      const workspace = {
        id: deps.makeId('ws'),
        name,
        createdAt,
        slugs: slugsFor(handle, deps.randomBytes),
      };
      const { code, record } = newCode(deps, user.id);
      if (!(await store.addUser({ user, workspace, code: record }))) {
        throw new ApiError('conflict', { param: 'handle', message: 'This handle is taken.' });
      }
      return { user, standing: await standingAtHome(deps, user.id), code, expiresAt: record.expiresAt };
    },

    users: (page: PageRequest): Promise<UserRecord[]> => store.users(page),

    /** Creates a code for a user given by id, handle or `me`. Fails with `not_found`. */
    async createLoginCode(caller: LoginCaller, reference: string) {
      const user = await findUser(deps, caller, reference);
      if (!user) throw notFound('user', reference);
      const { code, record } = newCode(deps, user.id);
      await store.insertCode(record);
      return { user, code, expiresAt: record.expiresAt };
    },
  };
}

/** Logs users in and out. */
export function createSessions(deps: PeopleDeps) {
  const { store, now } = deps;
  const links = createLoginLinks({
    ...deps,
    insert: deps.workspacesStore.insertLogin,
    endLogin: async ({ userId, id }) => {
      await store.revokeLogin(userId, id, now());
    },
  });
  const withLastUse = (login: LoginRecord): LoginRecord => ({
    ...login,
    lastUsedAt: deps.lastUse(login.id) ?? login.lastUsedAt,
  });
  return {
    /** A link that signs a browser in as the caller's user. */
    createLink: (caller: LoginCaller, { keep }: { keep: boolean }) =>
      links.create({ userId: caller.userId, keep }),

    /** Fails with `unauthenticated` for an invalid code, and with `rate_limited` after a few of those. */
    async logIn(
      address: string,
      { code, name, kind, keep }: { code: string; name: string | undefined; kind: LoginKind; keep: boolean },
    ) {
      const waitSeconds = deps.guesses.take(address);
      if (waitSeconds > 0) {
        throw new ApiError('rate_limited', {
          message: 'Too many login attempts from this address.',
          retryAfterSeconds: waitSeconds,
        });
      }
      const secret = makeSecret('login', deps.randomBytes);
      const login = {
        id: deps.makeId('key'),
        digest: deps.digest(secret),
        name: wellFormed(name, 'name') ?? unnamed,
        createdAt: now(),
        revokedAt: null,
      };
      const ofBrowser = (isKept: boolean) => ({
        ...login,
        kind: 'browser' as const,
        idleMs: isKept ? keptIdleMs : idleMs,
      });
      const linked = await links.redeem(normaliseCode(code), ofBrowser);
      const made =
        linked ??
        (kind === 'browser' ? ofBrowser(keep) : { ...login, kind: 'command' as const, idleMs: null });
      const userId = linked?.userId ?? (await store.redeemCode(deps.digest(normaliseCode(code)), made));
      if (userId === undefined) {
        const message = 'This code is wrong, was used before, or has expired after 15 minutes.';
        throw new ApiError('unauthenticated', { param: 'code', message });
      }
      deps.guesses.giveBack(address);
      return {
        login: { ...made, lastUsedAt: null },
        secret,
        user: await userOf(deps, userId),
        standing: await standingAtHome(deps, userId),
      };
    },

    async current(caller: LoginCaller) {
      const login = await deps.workspacesStore.loginById(caller.loginId);
      if (!login) throw new ApiError('unauthenticated');
      const user = await userOf(deps, caller.userId);
      return { login: withLastUse(login), user, standing: await workspaceAndRoleOf(deps, caller) };
    },

    logins: async (caller: LoginCaller, page: PageRequest) =>
      (await store.logins(caller.userId, { ...page, at: now() })).map(withLastUse),

    /** Ends one of the caller's logins. Fails with `not_found`. */
    async end(caller: LoginCaller, loginId: string): Promise<void> {
      if (!(await store.revokeLogin(caller.userId, loginId, now()))) {
        throw notFound('login', loginId);
      }
    },
  };
}

/** By id, handle or `me`. */
export async function findUser(
  { store }: Pick<PeopleDeps, 'store'>,
  caller: LoginCaller,
  reference: string,
): Promise<UserRecord | undefined> {
  if (reference === 'me') return await store.user(caller.userId);
  return (await store.user(reference)) ?? (await store.user(reference.toLowerCase()));
}

function newCode(
  { randomBytes, digest, now }: PeopleDeps,
  userId: string,
): { code: string; record: LoginCodeRecord } {
  const code = generateCode(loginCodeGroups, randomBytes);
  const createdAt = now();
  const record = {
    digest: digest(normaliseCode(code)),
    userId,
    createdAt,
    expiresAt: createdAt + loginCodeMs,
  };
  return { code, record: { ...record, usedAt: null } };
}

async function userOf({ store }: PeopleDeps, userId: string): Promise<UserRecord> {
  const user = await store.user(userId);
  if (!user) throw new ApiError('unauthenticated');
  return user;
}

async function standingAtHome(
  { workspacesStore, workspaces }: PeopleDeps,
  userId: string,
): Promise<WorkspaceAndRole> {
  const workspace = await workspacesStore.homeOf(userId);
  const role = workspace && (await workspaces.roleOf(workspace.id, userId));
  if (!workspace || !role) throw new ApiError('unauthenticated');
  return { workspace, role };
}

async function workspaceAndRoleOf(
  { workspacesStore, workspaces }: PeopleDeps,
  caller: LoginCaller,
): Promise<WorkspaceAndRole> {
  const workspace = await workspacesStore.workspace(caller.workspaceId);
  const role = await workspaces.roleOf(caller.workspaceId, caller.userId);
  if (!workspace || !role) throw new ApiError('unauthenticated');
  return { workspace, role };
}
