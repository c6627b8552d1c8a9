import { createHash, randomBytes } from 'node:crypto';
import type { Static } from 'typebox';
import type { KeyRecord } from '../../src/daemon/features/keys/index.ts';
import { settledEvent } from '../../src/daemon/features/metering/index.ts';
import { openSqliteStorage } from '../../src/daemon/storage/sqlite/open.ts';
import { type Endpoint, scopeNames } from '../../src/shared/contract/endpoint.ts';
import type { IssuedKey } from '../../src/shared/contract/keys.ts';
import { idMaker } from '../../src/shared/ids.ts';
import { hintOf, makeSecret } from '../../src/shared/secrets.ts';
import { easySignUp } from './agents.ts';
import type { ExampleIds } from './example-calls.ts';
import { type DaemonOptions, type RunningDaemon, startDaemon } from './start-daemon.ts';
import { createThreadExample } from './threads.ts';
import { createUserExamples } from './users.ts';

export interface DaemonWithStranger {
  daemon: RunningDaemon;
  /** The id of the owner's workspace. */
  workspace: string;
  /** An API key with every scope, and a login, of a user outside that workspace. */
  stranger: { key: string; login: string };
  /** An expired key of the owner's workspace with every scope. */
  expiredKey: string;
  /** Issues a key in the owner's workspace. */
  issue(scopes: readonly string[]): Promise<{ id: string; secret: string }>;
  /**
   * Creates a stored response and a request with this key, an active key of the owner's workspace, and what
   * else the endpoint names, for the user of `login`, by default the owner.
   */
  createExamples(key: string, endpoint?: Endpoint, login?: string): Promise<ExampleIds>;
}

/** Provider keys need a vault, and checking one must not leave this machine. */
export const ownKeysConfig = `vault: {keychain: false, insecure_plain_file: true}
providers: {openai: {base_url: "http://127.0.0.1:9/v1"}}
${easySignUp}`;

/** A daemon with a second user, written into its storage while it was stopped. */
export async function startWithStranger(given: DaemonOptions = {}): Promise<DaemonWithStranger> {
  const options = { ...given, config: `${ownKeysConfig}${given.config ?? ''}` };
  const first = await startDaemon(options);
  await first.stop({ keep: true });
  const { expiredKey, ...stranger } = await addStranger(first.home);
  const daemon = await startDaemon({ ...options, home: first.home });
  const asOwner = async (path: string, init: RequestInit & { json?: unknown } = {}) => {
    const headers = { authorization: `Bearer ${daemon.login}`, ...init.headers };
    return (await daemon.fetch(path, { ...init, headers })).json();
  };
  const { workspace } = (await asOwner('/v1/key')) as { workspace: string };
  // The vault is created with the first secret.
  for (const path of ['openai', 'openai/second']) {
    await asOwner(`/v1/workspaces/me/provider-keys/${path}`, {
      method: 'PUT',
      body: JSON.stringify({ key: 'sk-example-0123456789abcdef' }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${daemon.login}` },
    });
  }
  const issue = async (scopes: readonly string[]) => {
    const { key, secret } = (await asOwner('/v1/workspaces/me/keys', { json: { scopes } })) as Static<
      typeof IssuedKey
    >;
    return { id: key.id, secret };
  };
  return {
    daemon,
    workspace,
    stranger,
    expiredKey,
    issue,
    async createExamples(key, endpoint, login = daemon.login) {
      const background = endpoint?.id === 'cancelResponse';
      const json = { model: 'sim/echo', input: 'Keep this.', background };
      const answer = await daemon.fetch('/v1/responses', {
        json,
        headers: { authorization: `Bearer ${key}` },
      });
      const { id } = (await answer.json()) as { id: string };
      const request = answer.headers.get('x-request-id') as string;
      const more = await (endpoint
        ? createUserExamples(daemon, endpoint, login)
        : createThreadExample(daemon));
      return { workspace, response: id, request, key: (await issue(['models:read'])).id, ...more };
    },
  };
}

const unlimited = {
  spendCap: null,
  maxPrice: null,
  models: null,
  requestsPerMinute: null,
  expiresAt: null,
};

async function addStranger(
  folder: string,
): Promise<DaemonWithStranger['stranger'] & Pick<DaemonWithStranger, 'expiredKey'>> {
  const silent = () => {};
  const now = () => Date.now();
  const storage = await openSqliteStorage({
    folder,
    now,
    log: { info: silent, warn: silent, error: silent },
    settledEvent,
  });
  const makeId = idMaker(now, (count) => randomBytes(count));
  const secrets = { key: makeSecret('api', randomBytes), login: makeSecret('login', randomBytes) };
  const digest = (secret: string) => createHash('sha256').update(secret).digest('hex');
  const owner = await storage.workspaces.owner();
  if (!owner) throw new Error('the first start made no owner');
  const [userId, workspaceId, createdAt] = [makeId('usr'), makeId('ws'), now()];
  await storage.workspaces.createOwner({
    user: { id: userId, handle: 'stranger', name: 'Stranger', createdAt },
    workspace: { id: workspaceId, slug: 'elsewhere', name: 'Elsewhere', createdAt },
  });
  await storage.workspaces.insertLogin({
    id: makeId('key'),
    userId,
    digest: digest(secrets.login),
    name: 'local',
    createdAt,
    revokedAt: null,
  });
  const key = (secret: string): Omit<KeyRecord, 'workspaceId' | 'ownerId' | 'limits'> => ({
    id: makeId('key'),
    parentId: null,
    name: 'all',
    digest: digest(secret),
    hint: hintOf(secret),
    scopes: [...scopeNames],
    models: null,
    actions: null,
    defaults: null,
    createdAt,
    lastUsedAt: null,
    revokedAt: null,
    rotatedAt: null,
    pausedAt: null,
  });
  await storage.keys.insert({ ...key(secrets.key), workspaceId, ownerId: userId, limits: null });
  const expiredKey = makeSecret('api', randomBytes);
  await storage.keys.insert({
    ...key(expiredKey),
    workspaceId: owner.workspace.id,
    ownerId: owner.user.id,
    limits: { ...unlimited, expiresAt: createdAt - 1 },
  });
  await storage.close();
  return { ...secrets, expiredKey };
}
