import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Changes } from '../../../../src/daemon/base/changes.ts';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import {
  type MasterStore,
  MasterStoreFailure,
  type MasterStores,
  type SealedSecret,
  Vault,
  type VaultStore,
} from '../../../../src/daemon/features/vault/index.ts';
import { LocalChanges } from '../../../../src/daemon/storage/local-changes.ts';
import { openSqliteStorage } from '../../../../src/daemon/storage/sqlite/open.ts';
import type { Storage } from '../../../../src/daemon/storage/storage.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { failureOf } from '../../../support/failure-of.ts';
import { addEmptyDatabase } from '../../../support/new-database.ts';

const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** A master store that a test can lock, empty and break. */
class FakePlace implements MasterStore {
  readonly keys = new Map<string, Uint8Array>();
  trouble: string | undefined;
  /** Like keytar with a locked keyring, which reports nothing else. */
  hides = false;
  looks = 0;

  async find(kid: string): Promise<Uint8Array[]> {
    this.looks += 1;
    if (this.trouble) throw new MasterStoreFailure(this.trouble);
    const key = this.keys.get(kid);
    return key && !this.hides ? [key] : [];
  }

  async add(kid: string, fresh: Uint8Array): Promise<Uint8Array> {
    if (this.trouble) throw new MasterStoreFailure(this.trouble);
    if (this.keys.has(kid)) throw new Error('a key would be replaced');
    this.keys.set(kid, Uint8Array.from(fresh));
    return fresh;
  }

  async delete(kid: string): Promise<void> {
    if (this.trouble) throw new MasterStoreFailure(this.trouble);
    this.keys.delete(kid);
  }
}

let storage: Storage;
let keychain: FakePlace;
let elapsed: number;
const workspaceId = 'ws_1';
const name = (provider: string) => `provider-key|${workspaceId}|${provider}`;

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-vault-'));
  addEmptyDatabase(folder);
  storage = await openSqliteStorage({ folder, now: Date.now, log: silent, settledEvent });
  onTestFinished(async () => {
    await storage.close();
    await rm(folder, { recursive: true, force: true });
  });
  await storage.workspaces.createOwner({
    user: { id: 'usr_1', handle: 'owner', name: 'Owner', createdAt: 1 },
    workspace: { id: workspaceId, slug: 'w', name: 'W', createdAt: 1 },
  });
  keychain = new FakePlace();
  elapsed = 0;
});

/** A vault after a restart, which knows only the database and the stores. */
function started({
  masterStores = { keychain },
  store = storage.vault as VaultStore,
  changes = new LocalChanges() as Changes,
} = {}): Vault {
  const world = {
    now: Date.now,
    elapsed: () => elapsed,
    randomBytes: (count: number) => randomBytes(count),
    sleep: async () => {},
  };
  return new Vault({
    store,
    changes,
    masterStores: masterStores as MasterStores,
    preferredStore: undefined,
    world,
    log: silent,
  });
}

type Provider = 'openai' | 'google' | 'anthropic';

async function keep(vault: Vault, provider: Provider, text: string): Promise<boolean> {
  const version = (await vault.version(name(provider))) + 1;
  const sealed = await vault.seal({ name: name(provider), version, secret: Buffer.from(text) });
  const record = { workspaceId, provider, name: '', fingerprint: 'f', addedAt: 1, updatedAt: 1 };
  return await storage.providerKeys.put(record, sealed);
}

const read = async (vault: Vault, provider: Provider) => (await vault.open(name(provider))).toString();

describe('the first master key', () => {
  test('is created with the first secret, stored only in the keychain, and opens it after a restart', async () => {
    const vault = started();
    expect(await vault.status()).toMatchObject({ state: 'no_vault', store: null, secrets: 0 });
    expect(keychain.looks).toBe(0);
    await keep(vault, 'openai', 'sk-secret');
    expect(await vault.status()).toMatchObject({ state: 'unlocked', store: 'keychain', secrets: 1 });
    expect([...keychain.keys.keys()]).toEqual([(await vault.status()).key_id]);
    const again = started();
    expect((await again.status()).state).toBe('sealed');
    expect(await read(again, 'openai')).toBe('sk-secret');
    expect((await again.status()).state).toBe('unlocked');
  });

  test('is created once, for concurrent requests', async () => {
    const vault = started();
    const sealed = await Promise.all(
      ['a', 'b', 'c'].map((text) => vault.seal({ name: text, version: 1, secret: Buffer.from(text) })),
    );
    expect(new Set(sealed.map(({ kid }) => kid)).size).toBe(1);
    expect(keychain.keys.size).toBe(1);
  });

  test('is not created if no store works, and the reasons are reported', async () => {
    keychain.trouble = 'The keychain is locked.';
    const vault = started();
    const failure = await failureOf(keep(vault, 'openai', 'x'));
    expect(failure).toMatchObject({ code: 'unavailable', status: 503 });
    expect(failure.message).toContain('The keychain is locked.');
    expect(failure.message).toContain('gateway vault unlock');
    expect(await storage.vault.current()).toBeUndefined();
    keychain.trouble = undefined;
    expect(await keep(vault, 'openai', 'x')).toBe(true);
  });

  test('is stored in a file before the keychain, and nowhere else if the file fails', async () => {
    const file = new FakePlace();
    file.trouble = 'There is no file.';
    const vault = started({ masterStores: { file, keychain } as MasterStores as { keychain: FakePlace } });
    expect((await failureOf(keep(vault, 'openai', 'x'))).message).toContain('There is no file.');
    expect(keychain.keys.size).toBe(0);
    file.trouble = undefined;
    await keep(vault, 'openai', 'x');
    expect((await vault.status()).store).toBe('file');
  });
});

describe('an unavailable master key', () => {
  let kid: string;
  beforeEach(async () => {
    await keep(started(), 'openai', 'sk-secret');
    kid = (await storage.vault.current())?.kid as string;
  });

  test.each<[string, () => void, string, string]>([
    ['a locked keychain', () => (keychain.trouble = 'The keychain is locked.'), 'sealed', 'is locked'],
    ['a locked keychain that says "nothing there"', () => (keychain.hides = true), 'sealed', 'vault unlock'],
    ['an item that was deleted', () => keychain.keys.clear(), 'sealed', 'vault export'],
    ['another key under that id', () => keychain.keys.set(kid, randomBytes(32)), 'wrong_key', 'another one'],
    ['rubbish under that id', () => keychain.keys.set(kid, Buffer.from('x')), 'wrong_key', 'another one'],
  ])('%s seals the vault, and no new key is created', async (_, spoil, state, remedy) => {
    const kept = keychain.keys.get(kid) as Uint8Array;
    spoil();
    const before = [...keychain.keys];
    const vault = started();
    for (const attempt of [
      () => read(vault, 'openai'),
      () => keep(vault, 'google', 'AIza'),
      () => vault.rotate(),
      () => vault.export(),
    ]) {
      const failure = await failureOf(attempt());
      expect(failure).toMatchObject({ code: 'unavailable' });
      expect(failure.message).toContain(remedy);
    }
    expect((await vault.unlock()).state).toBe(state);
    expect([...keychain.keys]).toEqual(before);
    expect((await storage.vault.current())?.kid).toBe(kid);
    keychain.trouble = undefined;
    keychain.hides = false;
    keychain.keys.set(kid, kept);
    expect((await vault.unlock()).state).toBe('unlocked');
    expect(await read(vault, 'openai')).toBe('sk-secret');
  });

  test('is read again after 30 seconds, not at every call', async () => {
    keychain.trouble = 'The keychain is locked.';
    const vault = started();
    for (let call = 0; call < 5; call += 1) await failureOf(read(vault, 'openai'));
    expect(keychain.looks).toBe(1);
    keychain.trouble = undefined;
    elapsed = 29_000;
    expect((await failureOf(read(vault, 'openai'))).code).toBe('unavailable');
    elapsed = 30_000;
    expect(await read(vault, 'openai')).toBe('sk-secret');
  });

  test('is restored from an export', async () => {
    const { master_key: exported } = await started().export();
    keychain.keys.clear();
    const vault = started();
    const wrong = await failureOf(vault.unlock({ masterKey: randomBytes(32) }));
    expect(wrong).toMatchObject({ code: 'invalid_request', param: 'master_key' });
    expect((await vault.unlock({ masterKey: Buffer.from(exported, 'base64url') })).state).toBe('unlocked');
    expect(await read(started(), 'openai')).toBe('sk-secret');
  });
});

describe('a sealed secret', () => {
  test('opens only with its own name and version, and unmodified', async () => {
    const vault = started();
    await keep(vault, 'openai', 'sk-secret');
    const row = (await storage.vault.secret(name('openai'))) as SealedSecret;
    const openAs = (changed: Partial<SealedSecret>) => {
      const store = { ...storage.vault, secret: async () => ({ ...row, ...changed }) };
      return started({ store }).open(row.name);
    };
    expect((await openAs({})).toString()).toBe('sk-secret');
    const cut = (text: string) => Buffer.from(text, 'base64url').subarray(0, -12).toString('base64url');
    const flip = (text: string) => {
      const bytes = Buffer.from(text, 'base64url');
      bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
      return bytes.toString('base64url');
    };
    for (const changed of [
      { name: 'provider-key|ws_2|openai' },
      { name: 'provider-key|ws_1|google' },
      { version: 2 },
      { sealed: flip(row.sealed) },
      { wrappedKey: flip(row.wrappedKey) },
      { sealed: cut(row.sealed) },
      { sealed: '' },
      { wrappedKey: row.sealed },
    ]) {
      expect((await failureOf(openAs(changed))).code).toBe('unavailable');
    }
  });

  test('differs each time for the same content', async () => {
    const vault = started();
    const one = { name: 'n', version: 1, secret: Buffer.from('same') };
    const [first, second] = [await vault.seal(one), await vault.seal(one)];
    expect(first.sealed).not.toBe(second.sealed);
    expect(first.wrappedKey).not.toBe(second.wrappedKey);
  });
});

describe('a passphrase', () => {
  test('opens its vault after each start; another does not', async () => {
    const vault = started({ masterStores: {} as { keychain: FakePlace } });
    expect((await vault.unlock({ passphrase: 'correct horse' })).store).toBe('passphrase');
    await keep(vault, 'openai', 'sk-secret');
    const again = started();
    expect((await failureOf(read(again, 'openai'))).message).toContain('gateway vault unlock');
    expect((await failureOf(again.unlock({ passphrase: 'wrong horse' }))).param).toBe('passphrase');
    expect((await failureOf(again.unlock())).param).toBe('passphrase');
    expect((await again.unlock({ passphrase: 'correct horse' })).state).toBe('unlocked');
    expect(await read(again, 'openai')).toBe('sk-secret');
    expect(keychain.looks).toBe(0);
  });

  test('cannot be guessed quickly', async () => {
    await started({ masterStores: {} as { keychain: FakePlace } }).unlock({ passphrase: 'correct horse' });
    const vault = started();
    for (let guess = 0; guess < 3; guess += 1)
      await failureOf(vault.unlock({ passphrase: `wrong ${guess} it is` }));
    const failure = await failureOf(vault.unlock({ passphrase: 'correct horse' }));
    expect(failure.code).toBe('rate_limited');
    elapsed += 1000 * (failure.retryAfterSeconds as number);
    expect((await vault.unlock({ passphrase: 'correct horse' })).state).toBe('unlocked');
  });
});

describe('a rotation', () => {
  const texts = { openai: 'sk-one', google: 'AIza-two', anthropic: 'sk-ant-three' } as const;
  const all = Object.entries(texts) as [Provider, string][];

  beforeEach(async () => {
    const vault = started();
    for (const [provider, text] of all) await keep(vault, provider, text);
  });

  test('reseals every secret with a new key and deletes the old one', async () => {
    const vault = started();
    const before = (await vault.status()).key_id as string;
    const after = await vault.rotate();
    expect(after).toMatchObject({ state: 'unlocked', secrets: 3 });
    expect(after.key_id).not.toBe(before);
    expect([...keychain.keys.keys()]).toEqual([after.key_id]);
    expect(await storage.vault.retired()).toEqual([]);
    for (const one of [vault, started()]) {
      for (const [provider, text] of all) expect(await read(one, provider)).toBe(text);
    }
  });

  test('is noticed by other daemons, which read the new key', async () => {
    const { changes } = storage;
    const other = started({ changes });
    expect(await read(other, 'openai')).toBe('sk-one');
    await started().rotate();
    expect((await other.status()).state).not.toBe('unlocked');
    expect(await read(other, 'openai')).toBe('sk-one');
  });

  test('that dies at any step leaves a vault that opens, and the next one cleans up', async () => {
    for (let step = 1; ; step += 1) {
      const dying = dyingAt(step);
      const rotating = started({ masterStores: { keychain: dying.place }, store: dying.store });
      const rotated = await rotating.rotate().then(
        () => true,
        () => false,
      );
      const vault = started();
      for (const [provider, text] of all) expect(await read(vault, provider), `step ${step}`).toBe(text);
      if (rotated && dying.steps() < step) {
        expect(step).toBeGreaterThan(8);
        break;
      }
    }
    const last = await started().rotate();
    expect(await storage.vault.retired()).toEqual([]);
    expect((await storage.vault.current())?.kid).toBe(last.key_id);
  });

  /** The daemon dies at the n-th step of a rotation, before or after it takes effect. */
  function dyingAt(deadly: number) {
    let steps = 0;
    const mortal =
      <Args extends unknown[], R>(work: (...args: Args) => Promise<R>) =>
      async (...args: Args): Promise<R> => {
        if (++steps >= deadly) throw new Error('died before');
        const result = await work(...args);
        if (++steps >= deadly) throw new Error('died after');
        return result;
      };
    const { vault } = storage;
    const store: VaultStore = {
      ...vault,
      current: mortal(vault.current),
      retired: mortal(vault.retired),
      secrets: mortal(vault.secrets),
      rotate: mortal(vault.rotate),
      dropMaster: mortal(vault.dropMaster),
    };
    const place = {
      find: mortal((kid: string) => keychain.find(kid)),
      add: mortal((kid: string, fresh: Uint8Array) => keychain.add(kid, fresh)),
      delete: mortal((kid: string) => keychain.delete(kid)),
    } as unknown as FakePlace;
    return { store, place, steps: () => steps };
  }

  test('includes secrets that are stored meanwhile', async () => {
    const vault = started();
    let isFirst = true;
    const store: VaultStore = {
      ...storage.vault,
      async rotate(rotation) {
        if (isFirst) await keep(vault, 'openai', 'sk-newer');
        isFirst = false;
        return await storage.vault.rotate(rotation);
      },
    };
    await read(vault, 'openai');
    await started({ store }).rotate();
    expect(await read(started(), 'openai')).toBe('sk-newer');
    // Sealed with the retired key, which the database rejects.
    expect(await keep(vault, 'google', 'AIza-late')).toBe(false);
    expect(await read(started(), 'google')).toBe(texts.google);
  });

  test('can change the store, and changes nothing if that fails', async () => {
    const plain = new FakePlace();
    const masterStores = { keychain, plain } as MasterStores as { keychain: FakePlace };
    plain.trouble = 'The disk is full.';
    const vault = started({ masterStores });
    const failure = await failureOf(vault.rotate({ to: 'plain' }));
    expect(failure).toMatchObject({ code: 'conflict' });
    expect(failure.message).toContain('The disk is full.');
    expect((await vault.status()).store).toBe('keychain');
    plain.trouble = undefined;
    expect((await vault.rotate({ to: 'plain' })).store).toBe('plain');
    expect(keychain.keys.size).toBe(0);
    expect(await read(started({ masterStores }), 'openai')).toBe(texts.openai);
  });

  test('reports a damaged secret, and changes nothing', async () => {
    const store: VaultStore = {
      ...storage.vault,
      secrets: async () => (await storage.vault.secrets()).map((row) => ({ ...row, wrappedKey: 'x' })),
    };
    const failure = await failureOf(started({ store }).rotate());
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure.message).toMatch(/ws_1, (anthropic|google|openai)/);
    for (const [provider, text] of all) expect(await read(started(), provider)).toBe(text);
  });
});

test('while a person unlocks it, calls fail immediately with the known reason', async () => {
  await keep(started(), 'openai', 'sk-secret');
  keychain.trouble = 'The keychain is locked.';
  const vault = started();
  await failureOf(read(vault, 'openai'));
  const typed = Promise.withResolvers<void>();
  const find = keychain.find.bind(keychain);
  keychain.find = async (kid) => {
    await typed.promise;
    return await find(kid);
  };
  const unlocking = vault.unlock();
  expect((await failureOf(read(vault, 'openai'))).message).toContain('locked');
  keychain.trouble = undefined;
  typed.resolve();
  expect((await unlocking).state).toBe('unlocked');
  expect(await read(vault, 'openai')).toBe('sk-secret');
});

test('a daemon opens its vault when the keychain becomes available, and logs the reason once', async () => {
  await keep(started(), 'openai', 'sk-secret');
  keychain.trouble = 'The keychain is locked.';
  const reported: unknown[] = [];
  let sleeps = 0;
  const world = {
    now: Date.now,
    elapsed: () => elapsed,
    randomBytes: (count: number) => randomBytes(count),
    async sleep(ms: number) {
      elapsed += ms;
      sleeps += 1;
      if (sleeps === 3) keychain.trouble = undefined;
    },
  };
  const log = { warn: (details: object) => reported.push(details) };
  const vault = new Vault({
    store: storage.vault,
    changes: new LocalChanges(),
    masterStores: { keychain },
    preferredStore: undefined,
    world,
    log,
  });
  await vault.keepOpen(new AbortController().signal);
  expect((await vault.status()).state).toBe('unlocked');
  expect(sleeps).toBe(3);
  expect(reported).toEqual([{ reason: expect.stringContaining('locked') }]);
});
