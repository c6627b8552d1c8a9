import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { LoginCaller } from '../../../../src/daemon/base/handler.ts';
import {
  type Authenticator,
  createAuthenticator,
  type KeyRecord,
  sha256,
} from '../../../../src/daemon/features/keys/index.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { hintOf, makeSecret, type SecretKind } from '../../../../src/shared/secrets.ts';
import { type FakeWorld, fakeWorld, passedBy, settled } from '../../../support/fake-world.ts';
import { memoryKeysStore, memoryWorkspacesStore } from '../../../support/memory-stores.ts';

const refused = { code: 'unauthenticated', status: 401, param: null };

let world: FakeWorld;
let keysStore: ReturnType<typeof memoryKeysStore>;
let workspacesStore: ReturnType<typeof memoryWorkspacesStore>;
let authentic: Authenticator;
let reads: number;

beforeEach(() => {
  world = fakeWorld();
  keysStore = memoryKeysStore();
  workspacesStore = memoryWorkspacesStore();
  workspacesStore.addUser({ id: 'usr_ann', workspaces: [['ws_acme', 'owner']] });
  reads = 0;
  authentic = makeAuthenticator();
});

function makeAuthenticator(callersMax?: number): Authenticator {
  const byDigest = (digest: string) => {
    reads += 1;
    return keysStore.byDigest(digest);
  };
  return createAuthenticator({
    keysStore: { ...keysStore, byDigest },
    workspacesStore,
    changes: keysStore.changes,
    digest: sha256,
    now: world.now,
    passed: passedBy(world.now),
    ...(callersMax === undefined ? {} : { callersMax }),
  });
}

/** As the store does once it is committed. */
const revoke = (id: string) => keysStore.changes.announce([{ topic: 'revocation', id }]);
const leave = (workspaceId: string, userId: string) =>
  keysStore.changes.announce([{ topic: 'departure', workspaceId, userId }]);

function keep(secret: string, part: Partial<KeyRecord> = {}): KeyRecord {
  const record: KeyRecord = {
    id: `key_${keysStore.records.size}`,
    workspaceId: 'ws_acme',
    ownerId: 'usr_ann',
    parentId: null,
    name: 'test',
    digest: sha256(secret),
    hint: hintOf(secret),
    scopes: ['responses'],
    models: null,
    actions: null,
    limits: null,
    defaults: null,
    createdAt: world.now(),
    lastUsedAt: null,
    revokedAt: null,
    rotatedAt: null,
    pausedAt: null,
    ...part,
  };
  keysStore.records.set(record.id, record);
  return record;
}

const newSecret = (kind: SecretKind = 'api') => makeSecret(kind, randomBytes);

/** The authenticator's result as a promise. */
const ask = async (header: string | undefined) => await authentic.authenticate(header);

describe('a credential', () => {
  test('identifies its key, with the scopes on record', async () => {
    const secret = newSecret();
    const { id } = keep(secret, { scopes: ['responses', 'keys'] });
    expect(await ask(`Bearer ${secret}`)).toMatchObject({
      kind: 'key',
      keyId: id,
      workspaceId: 'ws_acme',
      ownerId: 'usr_ann',
      scopes: new Set(['responses', 'keys']),
    });
  });

  test('of a login identifies its user, in the first workspace joined', async () => {
    const secret = newSecret('login');
    await workspacesStore.insertLogin({
      id: 'key_login',
      userId: 'usr_ann',
      digest: sha256(secret),
      name: 'local',
      createdAt: 0,
      revokedAt: null,
    });
    expect(await ask(`Bearer ${secret}`)).toMatchObject({
      kind: 'login',
      loginId: 'key_login',
      userId: 'usr_ann',
      workspaceId: 'ws_acme',
    });
  });

  test('of a known key that is revoked or expired is rejected with the key, like an unknown one', async () => {
    const revoked = newSecret();
    const { id } = keep(revoked, { revokedAt: world.now(), name: 'my app' });
    const failure = await ask(`Bearer ${revoked}`).catch((error: unknown) => error);
    const unknown = await ask(`Bearer ${newSecret()}`).catch((error: unknown) => error);
    expect(failure).toMatchObject({ key: { keyId: id, workspaceId: 'ws_acme' } });
    expect(failure).toMatchObject({ code: 'unauthenticated', message: (unknown as Error).message });
    expect(unknown).not.toHaveProperty('key');
    expect(authentic.nameOf(id)).toBe('my app');
  });

  test('that is absent makes the caller anonymous', async () => {
    expect(await ask(undefined)).toEqual({ kind: 'anonymous' });
  });

  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('is accepted after the scheme %s', async (scheme) => {
    const secret = newSecret();
    keep(secret);
    expect(await ask(`${scheme} ${secret}`)).toMatchObject({ kind: 'key' });
  });

  test('fails with the same error for every fault', async () => {
    const secret = newSecret();
    keep(secret, { revokedAt: 1 });
    const mistyped = newSecret().replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const headers = [
      '',
      'Bearer',
      'Bearer ',
      newSecret(),
      `Basic ${newSecret()}`,
      `Bearer ${newSecret()} more`,
      `Bearer ${newSecret()}`,
      `Bearer ${newSecret('login')}`,
      `Bearer ${newSecret('token')}`,
      `Bearer ${secret}`,
      `Bearer ${mistyped}`,
      "Bearer ' OR 1=1--",
      `Bearer ${'g'.repeat(16_384)}`,
    ];
    for (const header of headers) {
      await expect(ask(header), header.slice(0, 40)).rejects.toMatchObject({
        ...refused,
        message: 'A valid API key or login is required.',
      });
    }
  });

  test('with a wrong checksum causes no lookup', async () => {
    await expect(ask(`Bearer ${newSecret().slice(0, -1)}!`)).rejects.toMatchObject(refused);
    expect(reads).toBe(0);
  });

  test('that differs from a valid one in a few characters is never accepted', async () => {
    const letters = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
    const tail = fc.array(letters, { minLength: 6, maxLength: 6 }).map((chars) => chars.join(''));
    const shared = newSecret().slice(4, 30);
    const secretWith = (end: string) => {
      const bytes = [...(shared + end)].map((char) =>
        '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(char),
      );
      return makeSecret('api', (count) => Uint8Array.from(bytes.splice(0, count)));
    };
    await fc.assert(
      fc.asyncProperty(tail, tail, async (one, other) => {
        fc.pre(one !== other);
        const [first, second] = [secretWith(one), secretWith(other)];
        expect(first.slice(0, 30)).toBe(second.slice(0, 30));
        keysStore.records.clear();
        authentic = makeAuthenticator();
        keep(first, { id: 'key_first' });
        expect(await ask(`Bearer ${first}`)).toMatchObject({ keyId: 'key_first' });
        await expect(ask(`Bearer ${second}`)).rejects.toMatchObject(refused);
        keep(second, { id: 'key_second' });
        expect(await ask(`Bearer ${second}`)).toMatchObject({ keyId: 'key_second' });
        expect(await ask(`Bearer ${first}`)).toMatchObject({ keyId: 'key_first' });
      }),
    );
  });
});

describe('a cached caller', () => {
  test('is returned immediately, without a lookup', async () => {
    const secret = newSecret();
    keep(secret);
    const first = await ask(`Bearer ${secret}`);
    expect(authentic.authenticate(`Bearer ${secret}`)).toBe(first);
    expect(reads).toBe(1);
  });

  test('is looked up once for concurrent calls', async () => {
    const secret = newSecret();
    keep(secret);
    const callers = await Promise.all(Array.from({ length: 20 }, () => ask(`Bearer ${secret}`)));
    expect(new Set(callers).size).toBe(1);
    expect(reads).toBe(1);
  });

  test('is accepted as soon as the key exists, after being rejected before', async () => {
    const secret = newSecret();
    await expect(ask(`Bearer ${secret}`)).rejects.toMatchObject(refused);
    keep(secret);
    expect(await ask(`Bearer ${secret}`)).toMatchObject({ kind: 'key' });
  });

  test('can be evicted, but its revocation still ends what runs', async () => {
    authentic = makeAuthenticator(2);
    const secrets = [newSecret(), newSecret(), newSecret()];
    const records = secrets.map((secret) => keep(secret));
    const [first] = await Promise.all(secrets.map((secret) => ask(`Bearer ${secret}`)));
    await ask(`Bearer ${secrets[0]}`);
    expect(reads).toBe(4);
    if (first?.kind !== 'key') throw new Error('expected a key');
    await revoke(records[0]?.id ?? '');
    expect(first.revoked.aborted).toBe(true);
  });
});

describe('revoking', () => {
  test('ends what runs and rejects the next call immediately', async () => {
    const secret = newSecret();
    const { id } = keep(secret);
    const caller = await ask(`Bearer ${secret}`);
    await revoke(id);
    expect(caller).toMatchObject({ revoked: { aborted: true } });
    await expect(ask(`Bearer ${secret}`)).rejects.toMatchObject(refused);
  });

  test('rejects a key that was used several times, and looked up again in between', async () => {
    const secret = newSecret();
    const record = keep(secret);
    const callers = [];
    for (let use = 0; use < 3; use += 1) callers.push(await ask(`Bearer ${secret}`));
    expect(new Set(callers).size).toBe(1);
    await leave(record.workspaceId, record.ownerId);
    expect(await ask(`Bearer ${secret}`)).toMatchObject({ kind: 'key' });
    await revoke(record.id);
    await expect(ask(`Bearer ${secret}`)).rejects.toMatchObject(refused);
  });

  test('does not affect other keys', async () => {
    const [one, other] = [newSecret(), newSecret()];
    const { id } = keep(one);
    keep(other);
    await ask(`Bearer ${one}`);
    await ask(`Bearer ${other}`);
    await revoke(id);
    expect(await ask(`Bearer ${other}`)).toMatchObject({ kind: 'key', revoked: { aborted: false } });
  });

  test('wins over a lookup that read the key just before', async () => {
    const secret = newSecret();
    const { id } = keep(secret);
    const late = Promise.withResolvers<void>();
    const slow = async (digest: string) => {
      const record = await keysStore.byDigest(digest);
      await late.promise;
      return record;
    };
    authentic = createAuthenticator({
      keysStore: { ...keysStore, byDigest: slow },
      workspacesStore,
      changes: keysStore.changes,
      digest: sha256,
      now: world.now,
      passed: passedBy(world.now),
    });
    const asked = ask(`Bearer ${secret}`);
    await revoke(id);
    late.resolve();
    await expect(asked).rejects.toMatchObject(refused);
    await expect(ask(`Bearer ${secret}`)).rejects.toMatchObject(refused);
  });
});

describe('with other daemons on the same database', () => {
  test('a known caller is only accepted once it is known what they have revoked', async () => {
    const secret = newSecret();
    keep(secret);
    let current: Promise<void> | undefined;
    authentic = createAuthenticator({
      keysStore,
      workspacesStore,
      changes: {
        subscribe: (topic, apply) => keysStore.changes.subscribe(topic, apply),
        announce: (changes) => keysStore.changes.announce(changes),
        current: () => current,
      },
      digest: sha256,
      now: world.now,
      passed: passedBy(world.now),
    });
    await ask(`Bearer ${secret}`);
    const caughtUp = Promise.withResolvers<void>();
    current = caughtUp.promise;
    let isAnswered = false;
    const asked = ask(`Bearer ${secret}`).then((caller) => {
      isAnswered = true;
      return caller;
    });
    await settled();
    expect(isAnswered).toBe(false);
    caughtUp.resolve();
    expect(await asked).toMatchObject({ kind: 'key' });
    current = Promise.reject(new ApiError('unavailable', { retryAfterSeconds: 1 }));
    await expect(ask(`Bearer ${secret}`)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
  });

  test('a login that only another one saw in use is not idle', async () => {
    const secret = newSecret('login');
    const record = { id: 'key_page', userId: 'usr_ann', digest: sha256(secret), name: 'page' };
    await workspacesStore.insertLogin({
      ...record,
      createdAt: world.now(),
      revokedAt: null,
      idleMs: 1000,
    });
    await ask(`Bearer ${secret}`);
    await world.advance(900);
    await workspacesStore.touchLogins([{ id: 'key_page', at: world.now() }]);
    await world.advance(500);
    expect(await ask(`Bearer ${secret}`)).toMatchObject({ kind: 'login' });
    await world.advance(1000);
    await expect(ask(`Bearer ${secret}`)).rejects.toMatchObject(refused);
    await expect(ask(`Bearer ${secret}`)).rejects.toMatchObject(refused);
  });
});

describe('a former member', () => {
  const secretOfLogin = async (): Promise<string> => {
    const secret = newSecret('login');
    const record = { id: 'key_login', userId: 'usr_ann', digest: sha256(secret), name: 'local' };
    await workspacesStore.insertLogin({ ...record, createdAt: 0, revokedAt: null });
    return secret;
  };

  test('cannot act there, and what runs there ends; elsewhere it continues', async () => {
    workspacesStore.addUser({ id: 'usr_ann', workspaces: [['ws_club', 'member']] });
    const secret = await secretOfLogin();
    const home = (await ask(`Bearer ${secret}`)) as LoginCaller;
    const there = authentic.inWorkspace(home, 'ws_club');
    expect(there).toMatchObject({ workspaceId: 'ws_club', userId: 'usr_ann', loginId: 'key_login' });
    expect(authentic.inWorkspace(home, 'ws_club')).toBe(there);

    await leave('ws_club', 'usr_ann');
    expect([home.revoked.aborted, there.revoked.aborted]).toEqual([false, true]);
    // A member who is added again is accepted.
    expect(authentic.inWorkspace(home, 'ws_club').revoked.aborted).toBe(false);
  });

  test('who signs out ends what runs in every workspace', async () => {
    const home = (await ask(`Bearer ${await secretOfLogin()}`)) as LoginCaller;
    const there = authentic.inWorkspace(home, 'ws_club');
    await revoke('key_login');
    expect([home.revoked.aborted, there.revoked.aborted]).toEqual([true, true]);
  });

  test('of their own workspace gets another home workspace', async () => {
    const secret = await secretOfLogin();
    const before = (await ask(`Bearer ${secret}`)) as LoginCaller;
    await leave('ws_acme', 'usr_ann');
    expect(before.revoked.aborted).toBe(true);
    expect(await ask(`Bearer ${secret}`)).toMatchObject({ kind: 'login', revoked: { aborted: false } });
  });

  test('leaves keys to the new owner, including those being looked up', async () => {
    const [kept, late] = [newSecret(), newSecret()];
    const records = [keep(kept), keep(late)];
    expect(await ask(`Bearer ${kept}`)).toMatchObject({ ownerId: 'usr_ann' });
    const blocked = Promise.withResolvers<void>();
    let isSlow = true;
    authentic = createAuthenticator({
      keysStore: {
        ...keysStore,
        async byDigest(digest) {
          const record = await keysStore.byDigest(digest);
          if (isSlow && digest === sha256(late)) await blocked.promise;
          return record;
        },
      },
      workspacesStore,
      changes: keysStore.changes,
      digest: sha256,
      now: world.now,
      passed: passedBy(world.now),
    });
    await ask(`Bearer ${kept}`);
    const asked = ask(`Bearer ${late}`);
    for (const { id } of records) {
      const record = keysStore.records.get(id);
      if (record) record.ownerId = 'usr_heir';
    }
    await leave('ws_acme', 'usr_ann');
    isSlow = false;
    blocked.resolve();
    expect(await asked).toMatchObject({ ownerId: 'usr_heir' });
    expect(await ask(`Bearer ${kept}`)).toMatchObject({ ownerId: 'usr_heir' });
  });
});

describe('the time of last use', () => {
  test('is stored periodically, and once more at the end', async () => {
    const secret = newSecret();
    const record = keep(secret);
    const end = new AbortController();
    const flushing = authentic.keepFlushed(world, end.signal, () => {});
    await ask(`Bearer ${secret}`);
    const firstUse = world.now();
    expect(authentic.lastUse(record.id)).toBe(firstUse);
    expect(record.lastUsedAt).toBeNull();
    await world.advance(60_000);
    expect(record.lastUsedAt).toBe(firstUse);
    await ask(`Bearer ${secret}`);
    end.abort();
    await flushing;
    expect(record.lastUsedAt).toBe(firstUse + 60_000);
  });

  test('is stored for logins, too', async () => {
    const secret = newSecret('login');
    const login = { id: 'key_login', userId: 'usr_ann', digest: sha256(secret), name: 'local' };
    await workspacesStore.insertLogin({ ...login, createdAt: 0, revokedAt: null });
    const end = new AbortController();
    const flushing = authentic.keepFlushed(world, end.signal, () => {});
    await ask(`Bearer ${secret}`);
    const usedAt = world.now();
    expect(authentic.lastLoginUse('key_login')).toBe(usedAt);
    await world.advance(60_000);
    expect(await workspacesStore.loginById('key_login')).toMatchObject({ lastUsedAt: usedAt });
    end.abort();
    await flushing;
  });

  test('is not lost if it could not be stored', async () => {
    const secret = newSecret();
    const record = keep(secret);
    let isBroken = true;
    const touch = async (uses: { keyId: string; at: number }[]) => {
      if (isBroken) throw new Error('disk full');
      await keysStore.touch(uses);
    };
    authentic = createAuthenticator({
      keysStore: { ...keysStore, touch },
      workspacesStore,
      changes: keysStore.changes,
      digest: sha256,
      now: world.now,
      passed: passedBy(world.now),
    });
    const failures: unknown[] = [];
    const end = new AbortController();
    const flushing = authentic.keepFlushed(world, end.signal, (error) => failures.push(error));
    await ask(`Bearer ${secret}`);
    const usedAt = world.now();
    await world.advance(30_000);
    expect(failures).toHaveLength(1);
    isBroken = false;
    await world.advance(30_000);
    await settled();
    expect(record.lastUsedAt).toBe(usedAt);
    end.abort();
    await flushing;
  });
});
