import { describe, expect, onTestFinished, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { openPostgresStorage } from '../../../../src/daemon/storage/postgres/open.ts';
import { morning } from '../../../storage/records.ts';
import { missingPostgres, startPostgres } from '../../../support/postgres.ts';
import { recordingLog } from '../sqlite/temporary.ts';

const missing = missingPostgres();

describe.skipIf(missing !== undefined)(
  `a server that is away${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    test('fails reads, also those for which a thread starts, and nothing else', async () => {
      const server = await startPostgres();
      onTestFinished(() => server.stop());
      const url = await server.newDatabase();
      const log = recordingLog();
      const storage = await openPostgresStorage({ url, now: () => morning, log, settledEvent });
      onTestFinished(() => storage.close());
      let fatal: Error | undefined;
      storage.onFatal((reason) => {
        fatal = reason;
      });
      // Stores that are asked at the same time need both threads, and a verification one more.
      const reads = () =>
        Promise.allSettled([storage.daemons.list(), storage.alerts.all(), storage.ledger.verify()]);
      await server.halt('kill');
      expect(await reads()).toEqual(
        Array.from({ length: 3 }, () => ({
          status: 'rejected',
          reason: expect.objectContaining({ code: 'unavailable' }),
        })),
      );
      await server.restart();
      expect((await reads()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
      expect(fatal).toBeUndefined();
    });
  },
);
