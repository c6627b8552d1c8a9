import { afterEach, describe, expect, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { openPostgresStorage } from '../../../../src/daemon/storage/postgres/open.ts';
import type { Storage } from '../../../../src/daemon/storage/storage.ts';
import { aHold, morning, owner } from '../../../storage/records.ts';
import { missingPostgres, newPostgresDatabase, sharedPostgres } from '../../../support/postgres.ts';
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
      // The connections are lost, and cannot be opened again until the other daemon has the database.
      const { pathname } = new URL(url);
      const name = pathname.slice(1);
      const server = await sharedPostgres();
      await server.query(`ALTER DATABASE ${name} CONNECTION LIMIT 0`);
      await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
      const unwritten = first.metering.hold(aHold('req_1')).catch((error: Error) => error);
      await server.query(`ALTER DATABASE ${name} CONNECTION LIMIT -1`);
      await query(
        url,
        'UPDATE gateway.daemons SET successor = number + 1, expires_at = NULL WHERE successor IS NULL',
      );
      expect((await failed).message).toMatch('another one has taken over its work');
      expect(await unwritten).toMatchObject({ code: 'unavailable' });
      expect(await query(url, 'SELECT request_id FROM gateway.holds')).toEqual([]);
    });
  },
);
