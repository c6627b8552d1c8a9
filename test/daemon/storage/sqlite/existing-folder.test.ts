import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { migrations } from '../../../../src/daemon/storage/sqlite/engine/migrations/index.ts';
import {
  aHold,
  aKey,
  aLogin,
  aResponse,
  aSettlement,
  aUsage,
  dayMs,
  morning,
  owner,
  tokens,
} from '../../../storage/records.ts';
import { databaseOf39 } from '../../../support/schema-39.ts';
import { openTemporarily } from './temporary.ts';

const { open, newFolder, cleanUp } = openTemporarily();
let folder: string;
beforeEach(() => {
  folder = newFolder();
  databaseOf39(join(folder, 'gateway.db')).close();
});
afterEach(cleanUp);

test('a database of the first schema opens with all its records', async () => {
  const {
    keys,
    workspaces,
    people,
    tokens: accessTokens,
    metering,
    ledger,
    vault,
    ...rest
  } = await open({ folder });
  expect(await workspaces.owner()).toMatchObject(owner);
  expect(await workspaces.loginById('login_1')).toEqual(aLogin('login_1'));
  expect(await keys.byId('ws_1', 'key_2')).toEqual(aKey('key_2', { parentId: 'key_1' }));
  expect((await people.invitations('ws_1', { limit: 5, after: undefined })).map(({ id }) => id)).toEqual([
    'inv_1',
  ]);
  expect(await accessTokens.byDigest('digest of tok_1')).toMatchObject({ abilities: ['whispers:read'] });

  expect(await metering.usage('req_1')).toEqual(aUsage('req_1', { httpStatus: null }));
  expect(await metering.usage('req_2')).toMatchObject({ keyId: 'key_2', trace: { startedMs: [3] } });
  expect(await metering.leftHolds(0)).toEqual([
    { ...aHold('req_3'), provider: 'openai', progressTokens: tokens, progressCost: 300 },
  ]);
  expect(await metering.spendOfKey('key_1', morning)).toEqual({
    total: 1572,
    day: 1572,
    week: 1572,
    month: 1572,
  });
  expect(await ledger.verify()).toMatchObject({ entries: 5, grants: 1, problems: [], held: ['req_3'] });
  expect(await vault.secretsCount()).toBe(1);

  const { responses, background, threads, idempotency, cache, events, shouts, whispers, autopilots } = rest;
  expect(await responses.byId('ws_1', 'resp_1', morning)).toEqual(aResponse('resp_1'));
  expect(await background.eventsAfter('resp_3', 0)).toEqual({ lastSequence: 4, text: 'data: x\n\n' });
  expect(await threads.runs('th_1', 5)).toMatchObject([
    { id: 'run_1', meta: { a: 'b' }, usage: { cost: 7 } },
  ]);
  expect(await threads.conversation('th_1')).toHaveLength(2);
  expect(await idempotency.answer('ws_1', 'once')).toMatchObject({
    headers: { 'content-type': 'application/json' },
  });
  expect(await cache.find('ws_1', 'd1', morning)).toMatchObject({ providerModel: 'gpt-5' });
  expect(await events.last()).toBe(2);
  expect(await shouts.find(1)).toMatchObject({ body: 'hello', author: { handle: 'ada' } });
  expect(await whispers.find(1)).toMatchObject({ body: 'psst', recipient: { handle: 'bob' } });
  expect(await autopilots.find(1, 'pilot')).toMatchObject({ id: 'ap_1' });
});

test('the totals of a database of the first schema include its calls, whose events keep their sequences', async () => {
  const { metering, events, traces } = await open({ folder });
  const all = { workspaceId: 'ws_1', model: undefined, since: 0, until: morning + dayMs, timeZone: 'UTC' };
  const byKey = await metering.summarize({ ...all, keyId: undefined, groupBy: ['key'] });
  expect(byKey.map(({ groups: [key], requests, charged }) => [key, requests, charged])).toEqual([
    ['key_1', 1, 786],
    ['key_2', 1, 786],
  ]);
  expect(await metering.summarize({ ...all, keyId: 'key_2', groupBy: ['day'] })).toMatchObject([
    { groups: ['2026-11-21'], requests: 1, tokens, cost: { total: 786 } },
  ]);
  expect(await events.after(['ws_1'], 0, 10)).toEqual([
    { ...settledEvent(aUsage('req_1')), sequence: 1 },
    { ...settledEvent((await traces.find('ws_1', 'req_2')) ?? aUsage('none')), sequence: 2 },
  ]);
});

test('a database of the first schema is written like a new one', async () => {
  const storage = await open({ folder });
  await storage.metering.settle(aSettlement('req_3', { completedAt: morning + dayMs }));
  await storage.keys.insert(aKey('key_3'));
  expect(await storage.events.last()).toBe(3);
  expect(await storage.check()).toEqual({ ok: true, problems: [] });
  expect((await storage.ledger.verify()).problems).toEqual([]);
});

test('a payment that was declared without a proof has none', async () => {
  const database = new Database(join(folder, 'gateway.db'));
  database.exec(`
    INSERT INTO wallets (id, owner_id, workspace_id, node_id, secret, created_at)
    SELECT 'wal_1', 'usr_1', 'ws_1', 'node', name, 1 FROM vault_secrets;
    INSERT INTO payments (id, wallet_id, payment_hash, invoice, amount, fee_limit, fee, payee, backend, state, preimage,
      created_at, expires_at, settled_at, resolved_by)
    SELECT id, 'wal_1', id, 'lnbc1', 1000, 50, 7, 'node', 'lnd', 'succeeded', preimage, 1, 2, 3, resolved_by
    FROM (SELECT 'pay_1' AS id, '' AS preimage, 'usr_1' AS resolved_by UNION ALL SELECT 'pay_2', 'sealed', NULL)`);
  database.close();
  const { wallets } = await open({ folder });
  expect(await wallets.payment('pay_1')).toMatchObject({ state: 'succeeded', preimage: null });
  expect(await wallets.payment('pay_2')).toMatchObject({ state: 'succeeded', preimage: 'sealed' });
});

test('a database of an older development version is refused', async () => {
  const database = new Database(join(folder, 'gateway.db'));
  database.pragma('user_version = 38');
  database.close();
  await expect(open({ folder })).rejects.toThrow(
    `has schema version 38; this version of Gateway supports versions 39 to ${migrations.at(-1)?.version}`,
  );
});
