import { afterEach, describe, expect, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { writeLock } from '../../../../src/daemon/storage/postgres/engine/locks.ts';
import { openPostgresStorage } from '../../../../src/daemon/storage/postgres/open.ts';
import type { Storage } from '../../../../src/daemon/storage/storage.ts';
import { aHold, morning, owner } from '../../../storage/records.ts';
import { missingPostgres, newPostgresDatabase, sharedPostgres } from '../../../support/postgres.ts';
import { startProxiedPostgres } from '../../../support/proxied-postgres.ts';
import { recordingLog } from '../sqlite/temporary.ts';

const missing = missingPostgres();
const opened: Storage[] = [];

const open = async (url: string): Promise<Storage> => {
  const storage = await openPostgresStorage({ url, now: () => morning, log: recordingLog(), settledEvent });
  opened.push(storage);
  return storage;
};

const query = async (url: string, sql: string) =>
  (await sharedPostgres()).query(sql, new URL(url).pathname.slice(1));

describe.skipIf(missing !== undefined)(
  `the term of a daemon${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    afterEach(async () => {
      for (const storage of opened.splice(0)) await storage.close();
    });

    test('ends for a daemon that cannot renew it, which then writes nothing', async () => {
      const url = await newPostgresDatabase();
      const first = await open(url);
      const failed = new Promise<Error>((resolve) => first.onFatal(resolve));
      await first.workspaces.createOwner(owner);
      // The connections are lost, and over new ones nothing can be written before the other daemon has the database.
      await query(
        url,
        `SELECT pg_advisory_xact_lock(${writeLock});
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid();
         UPDATE gateway.daemons SET successor = number + 1, expires_at = NULL WHERE successor IS NULL`,
      );
      const unwritten = first.metering.hold(aHold('req_1')).catch((error: Error) => error);
      expect((await failed).message).toMatch('another one has taken over its work');
      expect(await unwritten).toMatchObject({ code: 'unavailable' });
      expect(await query(url, 'SELECT request_id FROM gateway.holds')).toEqual([]);
    });

    test('goes on for a daemon whose connection is lost while another one of its host starts', async () => {
      const url = await newPostgresDatabase();
      const first = await open(url);
      // Its other connections are still there, and it notices the loss with its next write.
      await query(
        url,
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
           WHERE datname = current_database() AND application_name = 'gateway writes'`,
      );
      const second = await open(url);
      for (const [at, daemon] of [first, second].entries()) await daemon.metering.hold(aHold(`req_${at}`));
      const running = (await second.daemons.list()).filter(({ isRunning }) => isRunning);
      expect(running.map(({ number }) => number)).toEqual([first.daemons.own, second.daemons.own]);
    });

    test('is prolonged for all if none could renew it, as the server was away', async () => {
      const url = await newPostgresDatabase();
      const daemons = [await open(url), await open(url)];
      let hasFailed = false;
      for (const daemon of daemons)
        daemon.onFatal(() => {
          hasFailed = true;
        });
      await query(
        url,
        `SELECT pg_advisory_xact_lock(${writeLock}); UPDATE gateway.daemons SET expires_at = expires_at - 60000`,
      );
      for (const [at, daemon] of daemons.entries()) await daemon.metering.hold(aHold(`req_${at}`));
      expect(hasFailed).toBe(false);
      const own = daemons.map(({ daemons: { own: number } }) => number);
      const listed = (await daemons[0]?.daemons.list()) ?? [];
      expect(listed.filter(({ isRunning }) => isRunning).map(({ number }) => number)).toEqual(own);
    });

    test('of one that is cut off in the middle of a transaction does not hold up the writes of others', async () => {
      const { server, proxy } = await startProxiedPostgres();
      const url = await server.newDatabase();
      const cutOff = await open(proxy.through(url));
      const other = await open(url);
      const frozen = proxy.freezeAtCommit();
      const held = cutOff.metering.hold(aHold('req_1'));
      await frozen;
      // Its commit arrives only after the thaw.
      await other.metering.hold(aHold('req_2'));
      proxy.thaw();
      await held;
      const rows = await server.query(
        'SELECT request_id FROM gateway.holds ORDER BY 1',
        new URL(url).pathname.slice(1),
      );
      expect(rows).toEqual([{ request_id: 'req_1' }, { request_id: 'req_2' }]);
      for (const storage of opened.splice(0)) await storage.close();
    });
  },
);
