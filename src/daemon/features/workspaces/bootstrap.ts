import type { MakeId } from '../../../shared/ids.ts';
import { makeSecret, parseSecret } from '../../../shared/secrets.ts';
import type { WorkspacesStore } from './workspaces-store.ts';

/** Secrets of the first start, as the files beside the database hold them; undefined where there is no file. */
export interface FirstSecrets {
  /** The owner's login key. */
  login: string | undefined;
  /** The API key named `default`. */
  defaultKey: string | undefined;
}

export interface BootstrapDependencies {
  store: Pick<WorkspacesStore, 'owner' | 'createOwner' | 'replaceLogin' | 'loginByDigest'>;
  /** What the keys feature does for the owner: whether it issued this secret, and a new key by that name. */
  keys: {
    standing(secret: string): Promise<'unknown' | 'active' | 'ended'>;
    issueFor(owner: { userId: string; workspaceId: string }, name: string): Promise<{ secret: string }>;
  };
  digest: (secret: string) => string;
  makeId: MakeId;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

/** The login of the machine itself; logins of other machines have other names. */
const localLogin = 'local';

export interface Bootstrap {
  userId: string;
  workspaceId: string;
  /** Whether this was the first start. */
  isFresh: boolean;
  /** Whether the default key is good. */
  hasDefaultKey: boolean;
  /** What has to be written into the files now; undefined where the file's own is still good. */
  write: FirstSecrets;
}

/**
 * Makes what a local daemon needs on its first start: an owner, a workspace, a login and a `default` key. Later starts
 * make only what is missing, so that one which was cut short, or a file that was lost, mends itself.
 */
export async function bootstrap(deps: BootstrapDependencies, files: FirstSecrets): Promise<Bootstrap> {
  const found = await deps.store.owner();
  const owner = found ? { userId: found.user.id, workspaceId: found.workspace.id } : await createOwner(deps);
  const login = (await isActiveLogin(deps, files.login)) ? undefined : await issueLogin(deps, owner.userId);
  // A default key that was revoked stays so: only one that never was, or whose file is gone, is made.
  const standing = files.defaultKey === undefined ? 'unknown' : await deps.keys.standing(files.defaultKey);
  const defaultKey = standing === 'unknown' ? (await deps.keys.issueFor(owner, 'default')).secret : undefined;
  return { ...owner, isFresh: !found, hasDefaultKey: standing !== 'ended', write: { login, defaultKey } };
}

async function createOwner(deps: BootstrapDependencies) {
  const { store, makeId, now } = deps;
  const at = now();
  const userId = makeId('usr');
  const workspaceId = makeId('ws');
  await store.createOwner({
    user: { id: userId, handle: 'owner', name: 'Owner', createdAt: at },
    workspace: { id: workspaceId, slug: 'personal', name: 'Personal', createdAt: at },
  });
  return { userId, workspaceId };
}

async function isActiveLogin(deps: BootstrapDependencies, secret: string | undefined): Promise<boolean> {
  if (secret === undefined || parseSecret(secret) !== 'login') return false;
  const record = await deps.store.loginByDigest(deps.digest(secret));
  return record !== undefined && record.revokedAt === null;
}

/** A lost login may be in somebody's hands: the new one takes its place. */
async function issueLogin(deps: BootstrapDependencies, userId: string): Promise<string> {
  const { store, digest, makeId, randomBytes, now } = deps;
  const secret = makeSecret('login', randomBytes);
  await store.replaceLogin({
    id: makeId('key'),
    userId,
    digest: digest(secret),
    name: localLogin,
    createdAt: now(),
    revokedAt: null,
  });
  return secret;
}
