import { ApiError } from '../../../shared/errors.ts';
import { wellFormed } from '../../../shared/faults/input-faults.ts';
import { notFound } from '../../../shared/faults/not-found.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { makeSecret } from '../../../shared/secrets.ts';
import type { LoginCaller } from '../../base/handler.ts';
import type { Log } from '../../base/log.ts';
import type { PageRequest } from '../../base/replies.ts';
import type { EventFeed } from '../events/index.ts';
import type { NewLoginCode, PeopleStore } from './people-store.ts';
import { isReservedHandle, slugsFor } from './slugs.ts';
import type {
  LoginKind,
  LoginRecord,
  NewLogin,
  UserRecord,
  WorkspaceRecord,
  WorkspaceRole,
  WorkspacesStore,
} from './store.ts';
import { generateCode, normaliseCode } from './typed-codes.ts';
import type { Workspaces } from './workspaces.ts';

export interface PeopleDeps {
  store: PeopleStore;
  workspacesStore: Pick<WorkspacesStore, 'workspace' | 'homeOf' | 'loginById'>;
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
  /** What expiries are compared with. */
  passed: () => number;
}

/** A workspace and the user's role in it. */
export interface WorkspaceAndRole {
  workspace: WorkspaceRecord;
  role: WorkspaceRole;
}

const loginCodeMs = 15 * 60 * 1000;
/** 50 random bits, for 15 minutes, with a few guesses per minute. */
const loginCodeGroups = 2;
const linkMs = 60_000;
/** 175 random bits, which no one guesses: uses of links are not counted as guesses, so that each second use is noticed. */
const linkGroups = 7;
const linkChars = normaliseCode(generateCode(linkGroups, (count) => new Uint8Array(count))).length;
const unnamed = 'unnamed';
/** How long a browser stays signed in without use. */
const idleMs = 12 * 60 * 60 * 1000;
const keptIdleMs = 30 * 24 * 60 * 60 * 1000;

/** Manages users and their login codes. */
export function createUsers(deps: PeopleDeps) {
  const { store, now } = deps;
  return {
    /** Fails with `conflict` for a taken handle, and with `invalid_request` for a reserved one. */
    async addUser(caller: LoginCaller, request: { handle: string; name: string | undefined }) {
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
      const { code, record } = newCode(deps, { userId: user.id, makerId: caller.loginId });
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
      const { code, record } = newCode(deps, { userId: user.id, makerId: caller.loginId });
      if (!(await store.insertCode(record))) throw new ApiError('unauthenticated');
      return { user, code, expiresAt: record.expiresAt };
    },
  };
}

/** Logs users in and out. */
export function createSessions(deps: PeopleDeps) {
  const { store, now } = deps;
  const withLastUse = (login: LoginRecord): LoginRecord => ({
    ...login,
    lastUsedAt: deps.lastUse(login.id) ?? login.lastUsedAt,
  });
  return {
    /** A link that signs a browser in as the caller's user. */
    async createLink(caller: LoginCaller, { keep }: { keep: boolean }) {
      const { code, record } = newCode(deps, { userId: caller.userId, makerId: caller.loginId, keep });
      if (!(await store.insertCode(record))) throw new ApiError('unauthenticated');
      return { code: normaliseCode(code), expiresAt: record.expiresAt };
    },

    /** Whom a code would log in, and whether there is anyone else. Fails as `logIn` does. */
    async preview(address: string, code: string) {
      const giveBack = takeGuess(deps, { address, code });
      const user = await store.userOfCode(deps.digest(normaliseCode(code)), deps.passed());
      if (!user) throw wrongCode();
      giveBack();
      return { user, isOnly: (await store.users({ limit: 2, after: undefined })).length < 2 };
    },

    /** Fails with `unauthenticated` for an invalid code, and with `rate_limited` after a few of those. */
    async logIn(
      address: string,
      { code, name, kind, keep }: { code: string; name: string | undefined; kind: LoginKind; keep: boolean },
    ) {
      const giveBack = takeGuess(deps, { address, code });
      const secret = makeSecret('login', deps.randomBytes);
      const login = {
        id: deps.makeId('key'),
        digest: deps.digest(secret),
        name: wellFormed(name, 'name') ?? unnamed,
        createdAt: now(),
        revokedAt: null,
      };
      const made = isLink(code)
        ? await redeemLink(deps, code, login)
        : await redeemCode(deps, code, { ...login, kind, idleMs: idleTimeOf(kind, keep) });
      giveBack();
      return {
        login: { ...made, lastUsedAt: null },
        secret,
        user: await userOf(deps, made.userId),
        standing: await standingAtHome(deps, made.userId),
      };
    },

    async current(caller: LoginCaller) {
      const login = await deps.workspacesStore.loginById(caller.loginId);
      if (!login) throw new ApiError('unauthenticated');
      const user = await userOf(deps, caller.userId);
      return { login: withLastUse(login), user, standing: await workspaceAndRoleOf(deps, caller) };
    },

    logins: async (caller: LoginCaller, page: PageRequest) =>
      (await store.logins(caller.userId, { ...page, at: deps.passed() })).map(withLastUse),

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

/** Without `keep`, a login code that people type; with it, that of a link. */
function newCode(
  { randomBytes, digest, now }: PeopleDeps,
  { userId, makerId, keep = null }: Pick<NewLoginCode, 'userId' | 'makerId'> & { keep?: boolean | null },
): { code: string; record: NewLoginCode } {
  const [groups, validMs] = keep === null ? [loginCodeGroups, loginCodeMs] : [linkGroups, linkMs];
  const code = generateCode(groups, randomBytes);
  const createdAt = now();
  const times = { createdAt, expiresAt: createdAt + validMs };
  return { code, record: { digest: digest(normaliseCode(code)), userId, ...times, makerId, keep } };
}

const isLink = (code: string): boolean => normaliseCode(code).length === linkChars;

function idleTimeOf(kind: LoginKind, isKept: boolean): number | null {
  if (kind === 'command') return null;
  return isKept ? keptIdleMs : idleMs;
}

/** Counts a guess, unless it is the code of a link; the returned function gives it back. */
function takeGuess(
  { guesses }: PeopleDeps,
  { address, code }: { address: string; code: string },
): () => void {
  if (isLink(code)) return () => {};
  const waitSeconds = guesses.take(address);
  if (waitSeconds > 0) {
    throw new ApiError('rate_limited', {
      message: 'Too many login attempts from this address.',
      retryAfterSeconds: waitSeconds,
    });
  }
  return () => guesses.giveBack(address);
}

type UnknownLogin = Omit<NewLogin, 'userId' | 'kind' | 'idleMs'>;
type MadeLogin = Omit<LoginRecord, 'lastUsedAt'>;

async function redeemCode(
  { store, digest, passed }: PeopleDeps,
  code: string,
  login: UnknownLogin & Pick<LoginRecord, 'kind' | 'idleMs'>,
): Promise<MadeLogin> {
  const userId = await store.redeemCode(digest(normaliseCode(code)), login, passed());
  if (userId === undefined) throw wrongCode();
  return { ...login, userId };
}

/** The first use makes the login. A second one ends it: one of both who used the link is not who it was made for. */
async function redeemLink(
  { store, digest, log, passed }: PeopleDeps,
  code: string,
  unknown: UnknownLogin,
): Promise<MadeLogin> {
  const login = { ...unknown, kind: 'browser' as const };
  const idle = { kept: keptIdleMs, other: idleMs };
  const outcome = await store.redeemLink(digest(normaliseCode(code)), login, { idleMs: idle, at: passed() });
  if (outcome === 'unknown') throw wrongCode();
  if (outcome === 'expired') {
    const message = 'This link has expired after 60 seconds.';
    throw new ApiError('unauthenticated', { param: 'code', message });
  }
  const { userId } = outcome;
  if ('keep' in outcome) return { ...login, userId, idleMs: idleTimeOf('browser', outcome.keep) };
  log.warn({ user_id: userId }, 'a sign-in link was used twice; the login that it made was ended');
  const message =
    'This link was used before. The login that it made has been ended, as someone else may have seen it.';
  throw new ApiError('unauthenticated', { param: 'code', message });
}

function wrongCode(): ApiError {
  const message = 'This code is wrong, was used before, or has expired.';
  return new ApiError('unauthenticated', { param: 'code', message });
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
