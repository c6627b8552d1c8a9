import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { wellFormed } from '../../../shared/input-faults.ts';
import { makeSecret } from '../../../shared/secrets.ts';
import type { LoginCaller } from '../../handler.ts';
import type { PageRequest } from '../../replies.ts';
import type { EventFeed } from '../events/index.ts';
import { makeCode, readCode } from './codes.ts';
import type { LoginCodeRecord, PeopleStore } from './people-store.ts';
import { isReservedHandle, slugsFor } from './slugs.ts';
import type { Workspaces } from './workspaces.ts';
import type { UserRecord, WorkspaceRecord, WorkspaceRole, WorkspacesStore } from './workspaces-store.ts';

export interface PeopleNeeds {
  store: PeopleStore;
  workspacesStore: Pick<WorkspacesStore, 'workspace' | 'homeOf' | 'loginById'>;
  workspaces: Pick<Workspaces, 'membership' | 'roleOf' | 'forgetRole'>;
  /** Told once it is on disk that a login, or somebody's part in a workspace, ended. */
  endings: { revoke(loginId: string): void; endMembership(workspaceId: string, userId: string): void };
  /** Tries to guess a code, of one address: `take` gives 0, or how many seconds to wait. */
  guesses: { take(address: string): number; giveBack(address: string): void };
  events: Pick<EventFeed, 'record'>;
  digest: (text: string) => string;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

/** Where somebody stands: the workspace that they act in, and what they are there. */
export interface Standing {
  workspace: WorkspaceRecord;
  role: WorkspaceRole;
}

const loginCodeMs = 15 * 60 * 1000;
/** 50 random bits, for 15 minutes, against a few guesses a minute. */
const loginCodeGroups = 2;
const unnamed = 'unnamed';

/** Users, and the codes that let them in. */
export function users(needs: PeopleNeeds) {
  const { store, now } = needs;
  return {
    /** Fails with `conflict` when the handle is taken, and with `invalid_request` when it could be taken for something else. */
    async addUser(wish: { handle: string; name: string | undefined }) {
      const handle = wish.handle.toLowerCase();
      if (isReservedHandle(handle)) {
        throw new ApiError('invalid_request', { param: 'handle', message: 'This handle is reserved.' });
      }
      const createdAt = now();
      const name = wellFormed(wish.name, 'name') ?? handle;
      const user = { id: needs.makeId('usr'), handle, name, createdAt };
      const workspace = {
        id: needs.makeId('ws'),
        name,
        createdAt,
        slugs: slugsFor(handle, needs.randomBytes),
      };
      const { code, record } = newCode(needs, user.id);
      if (!(await store.addUser({ user, workspace, code: record }))) {
        throw new ApiError('conflict', { param: 'handle', message: 'There is a user of this handle.' });
      }
      return { user, standing: await standingAtHome(needs, user.id), code, expiresAt: record.expiresAt };
    },

    users: (page: PageRequest): Promise<UserRecord[]> => store.users(page),

    /** A code for a user by id, handle or `me`. Fails with `not_found`. */
    async createLoginCode(caller: LoginCaller, reference: string) {
      const user = await findUser(needs, caller, reference);
      if (!user) throw new ApiError('not_found', { message: 'There is no such user.' });
      const { code, record } = newCode(needs, user.id);
      await store.insertCode(record);
      return { user, code, expiresAt: record.expiresAt };
    },
  };
}

/** What users do with their codes: log in, and out. */
export function sessions(needs: PeopleNeeds) {
  const { store, now } = needs;
  return {
    /** Fails with `unauthenticated` for a code that is not good, and with `rate_limited` after a few of those. */
    async logIn(address: string, { code, name }: { code: string; name: string | undefined }) {
      const waitSeconds = needs.guesses.take(address);
      if (waitSeconds > 0) {
        throw new ApiError('rate_limited', {
          message: 'Too many tries to log in from this address.',
          retryAfterSeconds: waitSeconds,
        });
      }
      const secret = makeSecret('login', needs.randomBytes);
      const login = {
        id: needs.makeId('key'),
        digest: needs.digest(secret),
        name: wellFormed(name, 'name') ?? unnamed,
        createdAt: now(),
        revokedAt: null,
      };
      const userId = await store.redeemCode(needs.digest(readCode(code)), login);
      if (userId === undefined) {
        const message = 'This code is wrong, was used, or is past its 15 minutes.';
        throw new ApiError('unauthenticated', { param: 'code', message });
      }
      needs.guesses.giveBack(address);
      return {
        login,
        secret,
        user: await userOf(needs, userId),
        standing: await standingAtHome(needs, userId),
      };
    },

    async current(caller: LoginCaller) {
      const login = await needs.workspacesStore.loginById(caller.loginId);
      if (!login) throw new ApiError('unauthenticated');
      return { login, user: await userOf(needs, caller.userId), standing: await standingOf(needs, caller) };
    },

    logins: (caller: LoginCaller, page: PageRequest) => store.logins(caller.userId, page),

    /** Ends one of the caller's own logins. Fails with `not_found`. */
    async end(caller: LoginCaller, loginId: string): Promise<void> {
      if (!(await store.revokeLogin(caller.userId, loginId, now()))) {
        throw new ApiError('not_found', { message: 'You have no such login.' });
      }
      needs.endings.revoke(loginId);
    },
  };
}

/** By id, handle or `me`. */
export async function findUser(
  { store }: Pick<PeopleNeeds, 'store'>,
  caller: LoginCaller,
  reference: string,
): Promise<UserRecord | undefined> {
  if (reference === 'me') return await store.user(caller.userId);
  return (await store.user(reference)) ?? (await store.user(reference.toLowerCase()));
}

function newCode(
  { randomBytes, digest, now }: PeopleNeeds,
  userId: string,
): { code: string; record: LoginCodeRecord } {
  const code = makeCode(loginCodeGroups, randomBytes);
  const createdAt = now();
  const record = { digest: digest(readCode(code)), userId, createdAt, expiresAt: createdAt + loginCodeMs };
  return { code, record: { ...record, usedAt: null } };
}

async function userOf({ store }: PeopleNeeds, userId: string): Promise<UserRecord> {
  const user = await store.user(userId);
  if (!user) throw new ApiError('unauthenticated');
  return user;
}

async function standingAtHome(
  { workspacesStore, workspaces }: PeopleNeeds,
  userId: string,
): Promise<Standing> {
  const workspace = await workspacesStore.homeOf(userId);
  const role = workspace && (await workspaces.roleOf(workspace.id, userId));
  if (!workspace || !role) throw new ApiError('unauthenticated');
  return { workspace, role };
}

async function standingOf(
  { workspacesStore, workspaces }: PeopleNeeds,
  caller: LoginCaller,
): Promise<Standing> {
  const workspace = await workspacesStore.workspace(caller.workspaceId);
  const role = await workspaces.roleOf(caller.workspaceId, caller.userId);
  if (!workspace || !role) throw new ApiError('unauthenticated');
  return { workspace, role };
}
