import { expect, onTestFinished, test } from 'vitest';
import { settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { openPostgresStorage } from '../../../../src/daemon/storage/postgres/open.ts';
import { addUsers, aKey, morning } from '../../../storage/records.ts';
import { missingPostgres, newPostgresDatabase } from '../../../support/postgres.ts';
import { recordingLog } from '../sqlite/temporary.ts';

const missing = missingPostgres();
const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

test.skipIf(missing)(
  'a wrong clock of a daemon ends what it refused, and what it passes once it is believed',
  async () => {
    let wall = morning;
    let elapsed = 0;
    const storage = await openPostgresStorage({
      url: await newPostgresDatabase(),
      now: () => wall,
      elapsed: () => elapsed,
      log: recordingLog(),
      settledEvent,
    });
    onTestFinished(() => storage.close());
    await addUsers(storage);
    const { keys, passed } = storage;
    const none = { spendCap: null, maxPrice: null, models: null, requestsPerMinute: null };
    const expiry = morning + hourMs;
    for (const id of ['key_1', 'key_2'])
      await keys.insert({ ...aKey(id), limits: { ...none, expiresAt: expiry } });
    const expiries = async () => {
      // Stored after what the clock has ended.
      await keys.touch([{ keyId: 'key_1', at: morning }]);
      const records = await Promise.all(['key_1', 'key_2'].map((id) => keys.byId('ws_1', id)));
      return records.map((record) => record?.limits?.expiresAt);
    };
    wall += 30 * dayMs;
    passed.at();
    passed.noteExpiry('key_1', expiry);
    expect(await expiries()).toEqual([morning, expiry]);
    wall += 10 * 60_000;
    elapsed += 10 * 60_000;
    passed.at();
    wall -= 30 * dayMs;
    passed.at();
    expect(await expiries()).toEqual([morning, wall]);
  },
);
