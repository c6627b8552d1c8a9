import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchDisk } from '../../../../../src/daemon/storage/sqlite/guard/disk-watch.ts';

const mebibyte = 1024 * 1024;

async function aWatch(freeMebibytes: number) {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-disk-'));
  let free = freeMebibytes * mebibyte;
  const logged: unknown[] = [];
  const log = { info() {}, warn: (details: object) => logged.push(details), error() {} };
  const watch = watchDisk({ folder, log, freeBytes: () => free });
  onTestFinished(async () => {
    watch.stop();
    await rm(folder, { recursive: true });
  });
  const levelAt = async (mebibytes: number) => {
    free = mebibytes * mebibyte;
    await watch.check();
    return watch.level();
  };
  const ballast = () =>
    stat(join(folder, 'ballast')).then(
      ({ size }) => size / mebibyte,
      () => 0,
    );
  return { watch, levelAt, ballast, logged };
}

test('the disk is low below 256 MiB and full below 64 MiB, and each change is logged once', async () => {
  const { watch, levelAt, logged } = await aWatch(255);
  expect(watch.level()).toBe('low');
  expect([await levelAt(64), await levelAt(63), await levelAt(10), await levelAt(256)]).toEqual([
    'low',
    'full',
    'full',
    'enough',
  ]);
  expect(logged).toMatchObject([{ disk: 'low' }, { disk: 'full' }, { disk: 'enough' }]);
});

test('a reserve file is written after a minute with enough space, and deleted when the disk is full', async () => {
  const { levelAt, ballast } = await aWatch(10_000);
  await levelAt(10_000);
  expect(await ballast()).toBe(0);
  for (let looks = 1; looks < 12; looks += 1) await levelAt(10_000);
  expect(await ballast()).toBe(32);
  await levelAt(100);
  expect(await ballast()).toBe(32);
  await levelAt(60);
  expect(await ballast()).toBe(0);
  await levelAt(300);
  expect(await ballast()).toBe(0);
  await levelAt(10_000);
  expect(await ballast()).toBe(32);
});
