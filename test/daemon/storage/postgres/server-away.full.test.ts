import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { openPostgresStorage } from '../../../../src/daemon/storage/postgres/open.ts';
import { aHold, morning } from '../../../storage/records.ts';
import type { CommitCut } from '../../../support/fault-proxy.ts';
import { missingPostgres, startPostgres } from '../../../support/postgres.ts';
import { startProxiedPostgres } from '../../../support/proxied-postgres.ts';
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

    test('is found again at the address that its file names then', async () => {
      const { server, proxy } = await startProxiedPostgres();
      const direct = await server.newDatabase();
      const url = proxy.through(direct);
      const folder = await mkdtemp(join(tmpdir(), 'gateway-address-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const urlFile = join(folder, 'storage-url');
      await writeFile(urlFile, url);
      const log = recordingLog();
      const storage = await openPostgresStorage({ url, urlFile, now: () => morning, log, settledEvent });
      onTestFinished(() => storage.close());
      await writeFile(urlFile, `${direct}\n`);
      proxy.cut();
      await proxy.close();
      await storage.metering.hold(aHold('req_1'));
      expect(await storage.check()).toEqual({ ok: true, problems: [] });
    });

    test.each<CommitCut>(['before', 'after'])(
      'in the middle of a start, %s it is committed, does not end it',
      async (where) => {
        const { server, proxy } = await startProxiedPostgres();
        const url = await server.newDatabase();
        const open = async (through: string) => {
          const log = recordingLog();
          const storage = await openPostgresStorage({ url: through, now: () => morning, log, settledEvent });
          onTestFinished(() => storage.close());
          return storage;
        };
        await (await open(url)).close();
        const cut = proxy.cutCommit(where);
        const storage = await open(proxy.through(url));
        await cut;
        await storage.metering.hold(aHold('req_1'));
        const listed = await storage.daemons.list();
        const running = listed.filter(({ isRunning }) => isRunning);
        expect(running.map(({ number }) => number)).toEqual([storage.daemons.own]);
        expect(await storage.check()).toEqual({ ok: true, problems: [] });
      },
    );
  },
);
