import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTemporarily } from './temporary.ts';

const { open, newFolder, cleanUp } = openTemporarily();
let folder: string;
beforeEach(() => {
  folder = newFolder();
});
afterEach(cleanUp);

test('each start is a daemon of its own, which finishes the work of those before it', async () => {
  const first = await open({ folder });
  for (const daemon of await first.daemons.left()) await first.daemons.remove(daemon);
  expect(await first.daemons.left()).toEqual([]);
  await first.close();

  const second = await open({ folder });
  expect(second.daemons.own).toBe(first.daemons.own + 1);
  expect(await second.daemons.left()).toEqual([first.daemons.own]);
  // It ends before it has finished that.
  await second.close();

  const third = await open({ folder });
  expect(await third.daemons.left()).toEqual([first.daemons.own, second.daemons.own]);
  await third.daemons.remove(first.daemons.own);
  await third.daemons.remove(third.daemons.own);
  expect(await third.daemons.left()).toEqual([second.daemons.own]);
  await third.close();
  expect((await open({ folder })).daemons.own).toBe(third.daemons.own + 1);
});

test('a pending payment is followed up by its daemon, and after that by the one that adopts it', async () => {
  const first = await open({ folder });
  await first.close();
  const database = new Database(join(folder, 'gateway.db'));
  database.pragma('foreign_keys = OFF');
  database.exec(`
    INSERT INTO payments (id, wallet_id, payment_hash, invoice, amount, fee_limit, payee, backend, state, created_at, expires_at,
      daemon)
    VALUES ('pay_1', 'wal_1', 'hash', 'lnbc1', 1000, 50, 'node', 'lnd', 'pending', 1, 2, ${first.daemons.own})`);
  database.close();

  const { daemons, wallets } = await open({ folder });
  const followed = async () =>
    (await wallets.pendingPayments({ after: undefined, limit: 10 })).map(({ id }) => id);
  expect(await followed()).toEqual([]);
  await wallets.adoptPayments(daemons.own + 1);
  expect(await followed()).toEqual([]);
  await wallets.adoptPayments(first.daemons.own);
  expect(await followed()).toEqual(['pay_1']);
});
