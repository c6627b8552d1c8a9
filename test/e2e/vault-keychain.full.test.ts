import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openKeychain } from '../../src/keychain/index.ts';
import { noSecretService, type SecretService, startSecretService } from '../support/secret-service.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';

const key = 'sk-KEYCHAINCANARY-0123456789abcdefghijkl';
const place = '/v1/workspaces/me/provider-keys/openai';

interface Answer {
  status: number;
  body: { error?: { code: string; message: string }; [member: string]: unknown };
}

describe.skipIf(noSecretService !== undefined)('a daemon with a real Secret Service', () => {
  let session: SecretService;
  let home: string;
  let daemon: RunningDaemon | undefined;

  beforeAll(async () => {
    session = await startSecretService();
  });
  afterAll(() => session.close());

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'gateway-vault-'));
    await session.start('unlocked');
  });
  afterEach(async () => {
    await stop();
    await rm(home, { recursive: true, force: true });
  });

  const start = async (env: Record<string, string> = session.env, at = home) => {
    const config = 'providers: {openai: {base_url: "http://127.0.0.1:9/v1"}}\n';
    daemon = await startDaemon({
      home: at,
      config,
      env: { ...env, GATEWAY_HOME: at, GATEWAY_LOG_LEVEL: 'silent' },
    });
  };
  const stop = async () => {
    await daemon?.stop({ keep: true });
    daemon = undefined;
  };
  const ask = async (path: string, method = 'GET', json?: unknown): Promise<Answer> => {
    const { url, login } = daemon as RunningDaemon;
    const answer = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${login}`,
        ...(json !== undefined && { 'content-type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    return { status: answer.status, body: (await answer.json()) as Answer['body'] };
  };
  const put = () => ask(place, 'PUT', { key });
  const check = () => ask(`${place}/check`, 'POST');
  const vault = async () => (await ask('/v1/admin/vault')).body;
  const unlock = async () => (await ask('/v1/admin/vault/unlock', 'POST', {})).body;
  const keychain = () => openKeychain({ timeoutMs: 60_000, env: session.env });
  const masters = () => {
    const database = new Database(join(home, 'gateway.db'), { readonly: true });
    const kids = database.prepare<[], string>('SELECT kid FROM vault_masters').pluck().all();
    database.close();
    return kids;
  };

  test('stores the master key there and nowhere else, and opens the vault with it after a restart', async () => {
    await start();
    expect(await vault()).toMatchObject({ state: 'no_vault' });
    expect(await put()).toMatchObject({ status: 200 });
    const { state, store, key_id: kid } = await vault();
    expect({ state, store }).toEqual({ state: 'unlocked', store: 'keychain' });
    const master = await keychain().get(`master:${kid}`);
    expect(master).toMatch(/^[\w-]{43}$/);
    expect((await ask('/v1/admin/vault/export', 'POST')).body).toEqual({ key_id: kid, master_key: master });
    await stop();
    await start();
    expect((await check()).body.result).toBe('unreachable');
    const rotated = (await ask('/v1/admin/vault/rotate', 'POST', {})).body;
    expect(rotated).toMatchObject({ state: 'unlocked', store: 'keychain' });
    expect(await keychain().get(`master:${kid}`)).toBeUndefined();
    expect(await keychain().get(`master:${rotated.key_id}`)).toMatch(/^[\w-]{43}$/);
    expect(await check()).toMatchObject({ status: 200 });
  });

  test.each<[string, () => Promise<Record<string, string> | undefined>, RegExp]>([
    ['locked', async () => void (await session.start('locked')), /locked/],
    ['gone', async () => void (await session.stop()), /No secret service is running/],
    ['out of reach', async () => ({ PATH: process.env.PATH ?? '' }), /no D-Bus/],
    [
      'without the item',
      async () => void (await keychain().delete(`master:${masters()[0]}`)),
      /gateway vault export/,
    ],
  ])('a keychain that is %s seals the vault, and no new key is created', async (_, spoil, reason) => {
    await start();
    await put();
    const { key_id: kid } = await vault();
    const master = (await keychain().get(`master:${kid}`)) as string;
    await stop();
    await start((await spoil()) ?? session.env);
    for (const reported of [await check(), await put(), await ask('/v1/admin/vault/export', 'POST')]) {
      expect(reported.status).toBe(503);
      expect(reported.body.error).toMatchObject({ type: 'unavailable', code: 'unavailable' });
      expect(reported.body.error?.message).toMatch(reason);
    }
    expect(await vault()).toMatchObject({ state: 'sealed', key_id: kid, secrets: 1 });
    expect(masters()).toEqual([kid]);
    // Everything else keeps working.
    expect((await ask('/v1/models')).status).toBe(200);
    await stop();
    await session.start('unlocked');
    await keychain().set(`master:${kid}`, master);
    await start();
    expect((await unlock()).state).toBe('unlocked');
    expect(await check()).toMatchObject({ status: 200 });
  });

  test('a keychain that waits for user input delays only calls that need it', async () => {
    await start();
    await put();
    await stop();
    session.hang();
    try {
      await start();
      let hasWaited = false;
      const waiting = check().finally(() => {
        hasWaited = true;
      });
      expect((await ask('/v1/models')).status).toBe(200);
      expect(hasWaited).toBe(false);
      const reported = await waiting;
      expect(reported.status).toBe(503);
      expect(reported.body.error?.message).toMatch(/did not respond in time/);
    } finally {
      session.goOn();
    }
    expect((await unlock()).state).toBe('unlocked');
    expect(await check()).toMatchObject({ status: 200 });
  });

  test('a wrong key under the same id is reported', async () => {
    await start();
    await put();
    const { key_id: kid } = await vault();
    await stop();
    await keychain().set(`master:${kid}`, 'A'.repeat(43));
    await start();
    expect((await check()).body.error?.message).toMatch(/does not match this database/);
    expect(await vault()).toMatchObject({ state: 'wrong_key' });
    expect(await put()).toMatchObject({ status: 503 });
    expect(masters()).toEqual([kid]);
  });

  test('a database from before a rotation stays sealed until its key is given', async () => {
    await start();
    await put();
    const exported = (await ask('/v1/admin/vault/export', 'POST')).body;
    await stop();
    const copy = await mkdtemp(join(tmpdir(), 'gateway-vault-copy-'));
    onTestFinished(() => rm(copy, { recursive: true, force: true }));
    await cp(home, copy, { recursive: true });
    await start();
    await ask('/v1/admin/vault/rotate', 'POST', {});
    await stop();
    await start(session.env, copy);
    expect(await check()).toMatchObject({ status: 503 });
    expect(await vault()).toMatchObject({ state: 'sealed', key_id: exported.key_id });
    const opened = await ask('/v1/admin/vault/unlock', 'POST', { master_key: exported.master_key });
    expect(opened.body.state).toBe('unlocked');
    expect(await check()).toMatchObject({ status: 200 });
    await stop();
    // Both databases open from now on: each has its own key in the keychain.
    for (const at of [home, copy]) {
      await start(session.env, at);
      expect(await check()).toMatchObject({ status: 200 });
      await stop();
    }
  });

  test('the daemon does not start with sealed secrets whose master record is missing', async () => {
    await start();
    await put();
    await stop();
    const database = new Database(join(home, 'gateway.db'));
    database.pragma('foreign_keys = OFF');
    database.exec('DELETE FROM vault_masters');
    database.close();
    await expect(start()).rejects.toThrow(/ended with 78.*sealed secrets/s);
    daemon = undefined;
  });

  test('without a usable keychain no vault is created, and the error names the remedies', async () => {
    await session.start('locked');
    await start();
    const reported = await put();
    expect(reported.status).toBe(503);
    expect(reported.body.error?.message).toMatch(/locked.*gateway vault unlock.*GATEWAY_MASTER_KEY_FILE/s);
    expect(await vault()).toMatchObject({ state: 'no_vault', secrets: 0 });
    expect(masters()).toEqual([]);
    await session.start('unlocked');
    expect(await put()).toMatchObject({ status: 200 });
  });
});
