import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { requireDataKey } from '../../../src/daemon/process/require-data-key.ts';
import { explainFailure } from '../../../src/daemon/process/start-failures.ts';
import { openTemporarily } from '../storage/sqlite/temporary.ts';

const temporary = openTemporarily();
afterEach(() => temporary.cleanUp());

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

test('a database of several daemons is used with the data key of the first one only', async () => {
  const { daemons: store } = await temporary.open();
  const path = join(temporary.newFolder(), 'data-key');
  writeFileSync(path, 'a key');
  const check = (key: Uint8Array, isNew: boolean) =>
    requireDataKey({ store, key, path, isNew, isShared: true });
  await check(first, true);
  await check(first, false);
  const refusal = await check(second, false).catch((error: unknown) => error);
  expect(await explainFailure(refusal)).toEqual({
    text: `${path} is not the key with which the database was written.
Copy data-key from the data folder of the first daemon of this database, or from its backup.`,
    exit: 78,
  });
  expect(existsSync(path)).toBe(true);
  // A key that the start has created would only be in the way of the right one.
  await expect(check(second, true)).rejects.toThrow('is missing, and the database was written with it');
  expect(existsSync(path)).toBe(false);
});

test('a data folder may get another key', async () => {
  const { daemons: store } = await temporary.open();
  const path = join(temporary.newFolder(), 'data-key');
  for (const key of [first, second, first])
    await requireDataKey({ store, key, path, isNew: false, isShared: false });
  await requireDataKey({ store, key: first, path, isNew: false, isShared: true });
});
