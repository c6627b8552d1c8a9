import type { MakeId } from '../../../shared/ids.ts';
import { makeSecret, parseSecret } from '../../../shared/secrets.ts';
import type { WorkspacesStore } from './store.ts';

/** The secrets in the files next to the database; undefined if a file is missing. */
export interface FirstSecrets {
  /** The owner's login key. */
  login: string | undefined;
  /** The API key named `default`. */
  defaultKey: string | undefined;
}

export interface BootstrapDeps {
  store: Pick<WorkspacesStore, 'owner' | 'createOwner' | 'replaceLogin' | 'loginByDigest'>;
  keys: {
    standing(secret: string): Promise<'unknown' | 'active' | 'ended'>;
    issueFor(owner: { userId: string; workspaceId: string }, name: string): Promise<{ secret: string }>;
  };
  digest: (secret: string) => string;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
  /** The name of the login of this data folder. */
  loginName: string;
}

export interface Bootstrap {
  userId: string;
  workspaceId: string;
  workspaceCreatedAt: number;
  /** Whether this was the first start. */
  isFresh: boolean;
  /** The secrets to write to the files; undefined where the existing one is valid. */
  write: FirstSecrets;
}

/**
 * Creates what a local daemon needs on its first start: an owner, a workspace, a login and a `default` key. Later starts
 * create what is missing, which repairs an interrupted start or a lost file.
 */
export async function bootstrap(deps: BootstrapDeps, files: FirstSecrets): Promise<Bootstrap> {
  const existing = await deps.store.owner();
  const { user, workspace } = existing ?? (await createOwner(deps));
  const owner = { userId: user.id, workspaceId: workspace.id };
  const login = (await isActiveLogin(deps, files.login)) ? undefined : await issueLogin(deps, owner.userId);
  // A revoked default key is not replaced, only an unknown one or one whose file is missing.
  const standing = files.defaultKey === undefined ? 'unknown' : await deps.keys.standing(files.defaultKey);
  const defaultKey = standing === 'unknown' ? (await deps.keys.issueFor(owner, 'default')).secret : undefined;
  return {
    ...owner,
    workspaceCreatedAt: workspace.createdAt,
    isFresh: !existing,
    write: { login, defaultKey },
  };
}

async function createOwner(deps: BootstrapDeps) {
  const { store, makeId, now } = deps;
  const at = now();
  const user = { id: makeId('usr'), handle: 'owner', name: 'Owner', createdAt: at };
  const workspace = { id: makeId('ws'), slug: 'personal', name: 'Personal', createdAt: at };
  try {
    await store.createOwner({ user, workspace });
  } catch (error) {
    // Another daemon has created one at the same time.
    const created = await store.owner();
    if (!created) throw error;
    return created;
  }
  return { user, workspace };
}

async function isActiveLogin(deps: BootstrapDeps, secret: string | undefined): Promise<boolean> {
  if (secret === undefined || parseSecret(secret) !== 'login') return false;
  const record = await deps.store.loginByDigest(deps.digest(secret));
  return record !== undefined && record.revokedAt === null;
}

/** Replaces a lost login, since someone else may have it. */
async function issueLogin(deps: BootstrapDeps, userId: string): Promise<string> {
  const { store, digest, makeId, randomBytes, now, loginName } = deps;
  const secret = makeSecret('login', randomBytes);
  await store.replaceLogin({
    id: makeId('key'),
    userId,
    digest: digest(secret),
    name: loginName,
    createdAt: now(),
    revokedAt: null,
  });
  return secret;
}
