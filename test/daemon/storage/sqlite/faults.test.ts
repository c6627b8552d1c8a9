import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, test } from 'vitest';
import { DataMoved } from '../../../../src/daemon/storage/sqlite/engine/errors.ts';
import { startThread } from '../../../../src/daemon/storage/sqlite/start-thread.ts';
import type { Storage } from '../../../../src/daemon/storage/storage.ts';
import { aHold, aResponse, aSettlement, morning } from '../../../storage/records.ts';
import { openTemporarily, recordingLog } from './temporary.ts';

const { open, newFolder, cleanUp } = openTemporarily();
afterEach(cleanUp);

const nextFatal = (storage: Storage) => new Promise<Error>((resolve) => storage.onFatal(resolve));

test('the death of the writer rejects pending writes and is reported', async () => {
  const writerThread = startThread('writer-worker');
  const storage = await open({ writerThread });
  await storage.metering.hold(aHold('req_1'));
  const reported = nextFatal(storage);
  const waiting = storage.metering.hold(aHold('req_2'));
  await writerThread.terminate();

  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  expect((await reported).message).toContain('ended');
  expect((await nextFatal(storage)).message).toContain('ended');
  expect(storage.state()).toEqual({ writable: false, reason: 'the database failed' });
  await expect(storage.metering.hold(aHold('req_3'))).rejects.toMatchObject({ code: 'unavailable' });
  expect(await storage.metering.leftHolds(storage.daemons.own)).toHaveLength(1);
});

test('a writer that never returns from a batch is reported, and then ended', async () => {
  const reports: unknown[] = [];
  const error = (details: object, message: string) => reports.push({ details, message, ...storage.state() });
  const folder = newFolder();
  const writerThread = new Worker(new URL('./hanging-worker.ts', import.meta.url));
  const storage: Storage = await open({ folder, log: { ...recordingLog(), error }, writerThread });
  const turns = new Int32Array(new SharedArrayBuffer(4));
  const turning = setInterval(() => Atomics.add(turns, 0, 1), 10);
  storage.watchMainThread({ turns, logFile: join(folder, 'log'), cpuMsMax: 100, everyMs: 10 });
  await storage.metering.settle(aSettlement('req_1'));
  const waiting = storage.metering.hold(aHold('req_2'));
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  expect(reports).toEqual([
    {
      details: { commands: ['metering.hold'] },
      message: 'a batch of writes takes very long',
      writable: false,
      reason: 'one write takes very long',
    },
  ]);
  expect((await nextFatal(storage)).message).toBe('the writer thread did not return from a batch');
  clearInterval(turning);
  await storage.close();

  const next = await open({ folder });
  expect(await next.metering.usage('req_1')).toBeDefined();
  expect(await next.metering.leftHolds(next.daemons.own)).toEqual([]);
});

test('a full disk refuses writes but allows reads, and writing resumes once there is space', async () => {
  const log = recordingLog();
  const storage = await open({
    log,
    writerThread: new Worker(new URL('./small-disk-worker.ts', import.meta.url)),
  });
  await storage.metering.settle(aSettlement('req_1'));
  const large = (id: string) => aResponse(id, { body: 'x'.repeat(30_000) });
  await storage.responses.insert(large('resp_1'));
  let kept = 1;
  const fill = async () => {
    for (;;) {
      await storage.responses.insert(large(`resp_${kept + 1}`));
      kept += 1;
    }
  };
  await expect(fill()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('full'),
  });
  expect(storage.state()).toEqual({ writable: false, reason: 'the disk is full' });
  await expect(storage.responses.insert(large('resp_rejected'))).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(await storage.metering.usage('req_1')).toBeDefined();
  expect(await storage.responses.byId('ws_1', `resp_${kept + 1}`, morning)).toBeUndefined();

  expect(await storage.responses.remove('ws_1', 'resp_1')).toBe(true);
  expect(storage.state()).toEqual({ writable: true, reason: undefined });
  await storage.responses.insert(large('resp_again'));
  expect(log.lines.map(({ message }) => message)).toEqual([
    'a batch of writes failed',
    'writing works again',
  ]);
  expect((await storage.check()).ok).toBe(true);
});

test('a lock of another program refuses writes but allows reads, and writing resumes once it is released', async () => {
  const log = recordingLog();
  const folder = newFolder();
  const storage = await open({
    log,
    folder,
    writerThread: new Worker(new URL('./impatient-worker.ts', import.meta.url)),
  });
  await storage.metering.settle(aSettlement('req_1'));
  const other = new Database(join(folder, 'gateway.db'));
  other.exec('BEGIN IMMEDIATE');
  for (const id of ['req_2', 'req_3']) {
    await expect(storage.metering.settle(aSettlement(id))).rejects.toMatchObject({
      code: 'unavailable',
      message: 'Cannot write to the database: another program has locked the database.',
    });
  }
  expect(storage.state()).toEqual({ writable: false, reason: 'another program has locked the database' });
  expect(await storage.metering.usage('req_1')).toBeDefined();

  other.exec('ROLLBACK');
  other.close();
  await storage.metering.settle(aSettlement('req_2'));
  expect(storage.state()).toEqual({ writable: true, reason: undefined });
  expect(log.lines.map(({ message }) => message)).toEqual([
    'a batch of writes failed',
    'writing works again',
  ]);
});

describe('files that were moved, replaced or deleted', () => {
  const changes: [string, (folder: string) => void][] = [
    ['a moved folder', (folder) => renameSync(folder, `${folder}-elsewhere`)],
    ['a deleted folder', (folder) => rmSync(folder, { recursive: true })],
    ['a replaced database', (folder) => replaceByCopy(join(folder, 'gateway.db'))],
    ['a deleted write-ahead log', (folder) => rmSync(join(folder, 'gateway.db-wal'))],
    ['a deleted lock', (folder) => rmSync(join(folder, 'daemon.lock'))],
  ];
  test.skipIf(process.platform === 'win32').each(changes)('stop all writes: %s', async (_what, change) => {
    const folder = join(newFolder(), 'data');
    const storage = await open({ folder, pollMs: 20 });
    await storage.metering.settle(aSettlement('req_1'));
    const reported = nextFatal(storage);
    change(folder);
    const reason = await reported;
    expect(reason).toBeInstanceOf(DataMoved);
    expect(reason.message).toContain(`${folder}/`);
    expect(storage.state()).toEqual({ writable: false, reason: 'the database failed' });
    await expect(storage.metering.hold(aHold('req_2'))).rejects.toMatchObject({ code: 'unavailable' });
  });

  function replaceByCopy(file: string): void {
    copyFileSync(file, `${file}.copy`);
    renameSync(`${file}.copy`, file);
  }
});

// With the shell's limit the system refuses to grow a file, which SQLite reports as an I/O error.
test.skipIf(process.platform === 'win32')('an I/O error stops all writes and is reported', async () => {
  const folder = newFolder();
  const child = fileURLToPath(new URL('./storage-child.ts', import.meta.url));
  const shell = spawn(
    'sh',
    ['-c', `ulimit -f 2000; exec "$0" "$@"`, process.execPath, child, folder, 'req'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exited = once(shell, 'exit');
  const acknowledged: string[] = [];
  let last = '';
  for await (const line of createInterface({ input: shell.stdout })) {
    if (line.startsWith('settled ')) acknowledged.push(line.slice('settled '.length));
    last = line;
  }
  const reason = expect.stringContaining('fatal writable=false the database failed: SQLITE_IOERR');
  expect([last, await exited]).toEqual([reason, [70, null]]);

  const storage = await open({ folder });
  expect(acknowledged.length).toBeGreaterThan(0);
  for (const id of acknowledged) expect(await storage.metering.usage(id), id).toBeDefined();
  expect((await storage.check()).ok).toBe(true);
});

test('a writer thread that ended before the database was opened is replaced', async () => {
  const writerThread = new Worker('throw new Error("broken")', { eval: true });
  writerThread.on('error', () => {});
  await new Promise((resolve) => writerThread.once('exit', resolve));
  const storage = await open({ writerThread });
  await storage.metering.hold(aHold('req_1'));
  expect(await storage.metering.leftHolds(storage.daemons.own)).toHaveLength(1);
});
