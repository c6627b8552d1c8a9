import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recoverHolds, settledEvent } from '../../../../src/daemon/features/metering/index.ts';
import { openPostgresStorage } from '../../../../src/daemon/storage/postgres/open.ts';
import type { Storage } from '../../../../src/daemon/storage/storage.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';
import { addUsers, aKey, dayMs, morning } from '../../../storage/records.ts';
import { missingPostgres, newPostgresDatabase } from '../../../support/postgres.ts';
import { policyWith, sharedMembers } from '../../../support/shared-members.ts';
import { recordingLog } from '../sqlite/temporary.ts';

const missing = missingPostgres();
const daemonCount = 3;
const storages: Storage[] = [];

describe.skipIf(missing !== undefined)(
  `daemons that admit calls of one database${missing ? ` (skipped: ${missing})` : ''}`,
  () => {
    let shared: ReturnType<typeof sharedMembers>;
    let keys = 0;
    const newKey = async (
      limits: Parameters<typeof policyWith>[1],
      parent?: ReturnType<typeof policyWith>,
    ) => {
      keys += 1;
      const policy = policyWith(`key_${keys}`, limits, parent);
      await storages[0]?.keys.insert(aKey(policy.keyId, { parentId: parent?.keyId ?? null }));
      return policy;
    };

    beforeAll(async () => {
      const url = await newPostgresDatabase();
      for (let count = 0; count < daemonCount; count += 1) {
        const log = recordingLog();
        storages.push(await openPostgresStorage({ url, now: () => morning, log, settledEvent }));
      }
      await addUsers(storages[0] as Storage);
      shared = sharedMembers(storages);
    });
    afterAll(async () => {
      for (const storage of storages.splice(0)) await storage.close();
    });

    test('admit exactly 20 of 400 at the same time, then what was not spent, and warn once', async () => {
      const { hold, many, warnings } = shared;
      const key = await newKey({ spendCap: { amount: 20_000, period: 'day' } });
      const { admitted, errors } = await many(400, () => hold(key));
      expect(admitted).toHaveLength(20);
      expect(errors[0]).toMatchObject({ code: 'limit_reached', param: 'limits.spend_cap' });
      await Promise.all(admitted.map(({ settle }) => settle(850)));
      // 17,000 are spent.
      expect((await many(60, () => hold(key))).admitted).toHaveLength(3);
      expect(warnings.filter(({ policy }) => policy.keyId === key.keyId)).toMatchObject([{ spent: 16_150 }]);
    });

    test('count the requests that all of them accept in a minute', async () => {
      const { hold, many, time } = shared;
      const key = await newKey({ requestsPerMinute: 30 });
      const { admitted } = await many(60, () => hold(key));
      expect(admitted).toHaveLength(30);
      await Promise.all(admitted.slice(0, 10).map(({ settle }) => settle(1)));
      time.now += 59_999;
      expect((await many(9, () => hold(key))).admitted).toHaveLength(0);
      time.now += 1;
      expect((await many(60, () => hold(key))).admitted).toHaveLength(30);
    });

    test('keep caps of keys that issued others, balances and budgets while calls end', async () => {
      const { hold, many, rules, time } = shared;
      time.now += dayMs;
      const [first] = storages as [Storage];
      await first.ledger.grant({
        id: 'grant_1',
        workspaceId: 'ws_2',
        amount: 9_000,
        note: null,
        reference: null,
        grantedBy: 'usr_1',
        createdAt: morning,
      });
      const parent = await newKey({ spendCap: { amount: 12_000, period: 'day' } });
      const child = await newKey({}, parent);
      const tagged = { ...noLabels, tags: { team: 'search' } };
      rules.put({
        workspaceId: 'ws_1',
        id: 'search',
        scope: { kind: 'tag', value: 'team=search' },
        period: 'day',
        amount: 7_000,
        isHard: true,
        thresholds: [100],
      });
      let charged = 0;
      const spend = async (make: () => ReturnType<typeof hold>) => {
        // Ten at a time, so that holds, settlements and refusals of all daemons mix.
        const { admitted } = await many(10, make);
        await Promise.all(admitted.map(({ settle }) => settle(700)));
        charged += admitted.length;
        return admitted.length;
      };
      const all = async (make: () => ReturnType<typeof hold>) => {
        charged = 0;
        while ((await spend(make)) > 0);
        return charged;
      };
      const [ofParent, prepaid, ofTag] = [
        await all(() => hold(child)),
        await all(() => hold(undefined, { workspaceId: 'ws_2' }, { isPrepaid: true })),
        await all(() => hold(undefined, { labels: tagged })),
      ];
      // As many as leave less than 1,000: 16 × 700 = 11,200; 12 × 700 = 8,400; 9 × 700 = 6,300.
      expect([ofParent, prepaid, ofTag]).toEqual([16, 12, 9]);
      expect(await first.ledger.balance('ws_2')).toBe(600);
      rules.remove({ workspaceId: 'ws_1', id: 'search' });
    });

    test('count what a daemon reserved that died, and its charges once it is settled', async () => {
      const { hold, many } = shared;
      const key = await newKey({ spendCap: { amount: 20_000, period: 'total' } });
      const { admitted } = await many(30, () => hold(key, { promptCost: 100 }));
      expect(admitted).toHaveLength(20);
      expect((await many(6, () => hold(key))).admitted).toHaveLength(0);
      const [heir] = storages as [Storage];
      const leftBy = async (daemon: number) =>
        (await heir.metering.leftHolds(daemon)).filter(({ keyId }) => keyId === key.keyId);
      const all = await Promise.all(storages.map(async ({ daemons: { own } }) => (await leftBy(own)).length));
      const lost = Math.max(...all);
      const dead = storages[all.indexOf(lost)]?.daemons.own ?? 0;
      const store = { leftHolds: leftBy, settle: heir.metering.settle };
      const now = () => shared.time.now;
      expect(await recoverHolds({ store, now, marginPpm: 0, daemon: dead })).toBe(lost);
      const free = Math.floor((lost * 900) / 1000);
      expect((await many(30, () => hold(key))).admitted).toHaveLength(free);
    });
  },
);
