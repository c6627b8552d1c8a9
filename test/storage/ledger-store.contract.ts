import { describe, expect, test } from 'vitest';
import type { GrantRecord } from '../../src/daemon/features/metering/ledger-store.ts';
import type { UsageRecord } from '../../src/daemon/features/metering/store.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { isFiltered } from '../../src/shared/calls/budget-filter.ts';
import { noLabels } from '../../src/shared/constants/call-labels.ts';
import { startOfPeriod } from '../../src/shared/money/spend-periods.ts';
import { aHold, aKey, aSettlement, dayMs, morning, type OpenStorage, owner } from './records.ts';

export function ledgerStoreContract(open: OpenStorage): void {
  const openWithOwner = async () => {
    const storage = await open();
    await storage.workspaces.createOwner(owner);
    return storage;
  };
  const aGrant = (id: string, changes: Partial<GrantRecord> = {}): GrantRecord => ({
    id,
    workspaceId: 'ws_1',
    amount: 10_000,
    note: null,
    reference: null,
    grantedBy: 'usr_1',
    createdAt: morning,
    ...changes,
  });

  describe('the usage of a key', () => {
    const fill = async () => {
      const storage = await openWithOwner();
      const { keys, metering } = storage;
      await keys.insert(aKey('key_1'));
      await keys.insert(aKey('key_2', { parentId: 'key_1' }));
      await keys.insert(aKey('key_3', { parentId: 'key_2' }));
      await keys.insert(aKey('key_4'));
      const charge = (requestId: string, keyId: string, charged: number, at = morning) =>
        metering.settle(aSettlement(requestId, { keyId, charged, createdAt: at, completedAt: at + 20 }));
      await charge('req_1', 'key_1', 1);
      await charge('req_2', 'key_2', 10, morning - dayMs);
      await charge('req_3', 'key_3', 100, morning - 40 * dayMs);
      await charge('req_4', 'key_4', 1_000);
      await charge('req_5', 'key_3', 10_000, morning + 5);
      return storage;
    };

    test('includes the charges and call times of its descendants', async () => {
      const { ledger } = await fill();
      const options = { at: morning + 50, since: morning };
      expect(await ledger.keyUse('key_1', options)).toEqual({
        spend: { total: 10_111, month: 10_011, week: 10_011, day: 10_001 },
        requests: 2,
      });
      expect(await ledger.keyUse('key_3', { ...options, since: morning + 6 })).toEqual({
        spend: { total: 10_100, month: 10_000, week: 10_000, day: 10_000 },
        requests: 0,
      });
    });
  });

  describe('the spending that budgets count', () => {
    type Subject = Parameters<Storage['ledger']['subjectUses']>[0][number];
    const users = ['ann', 'bob'];
    const tags: Record<string, string>[] = [{}, { team: 'a' }, { team: 'b', job: '7' }, { job: '7' }];
    const calendars: Subject['calendar'][] = [
      undefined,
      { timeZone: 'America/Los_Angeles', dayStarts: 0, weekStarts: 'sunday' },
      { timeZone: 'Asia/Kathmandu', dayStarts: 6 * 60 + 30, weekStarts: 'thursday' },
      { timeZone: 'Pacific/Kiritimati', dayStarts: 0, weekStarts: 'monday' },
    ];
    const counted: Subject[] = [
      { workspaceId: 'ws_1', kind: 'model', value: 'sim/two' },
      { workspaceId: 'ws_2', kind: 'model', value: 'sim/two' },
      { workspaceId: 'ws_1', kind: 'model', value: 'sim/none' },
      { workspaceId: 'ws_1', kind: 'provider', value: 'other' },
      { workspaceId: 'ws_1', kind: 'where', value: 'model:sim/t* -provider:other' },
      { workspaceId: 'ws_2', kind: 'where', value: 'user:ann,bob' },
      { workspaceId: 'ws_1', kind: 'where', value: '-tag:team=* key:key_1' },
      { workspaceId: 'ws_1', kind: 'where', value: 'tag:team=b,job=7 endpoint:responses' },
      { workspaceId: 'ws_1', kind: 'where', value: 'provider:no*' },
      { workspaceId: 'ws_1', kind: 'workspace', value: '' },
      { workspaceId: 'ws_2', kind: 'workspace', value: '' },
      { workspaceId: 'ws_1', kind: 'key', value: 'key_1' },
      { workspaceId: 'ws_1', kind: 'key', value: 'key_2' },
      { workspaceId: 'ws_1', kind: 'user', value: 'ann' },
      { workspaceId: 'ws_2', kind: 'user', value: 'ann' },
      { workspaceId: 'ws_1', kind: 'tag', value: 'team=a' },
      { workspaceId: 'ws_1', kind: 'tag', value: 'job=7' },
      { workspaceId: 'ws_1', kind: 'user', value: 'no one' },
    ];
    const subjects = calendars.flatMap((calendar) => counted.map((subject) => ({ ...subject, calendar })));
    const isOf = ({ workspaceId, kind, value }: Subject, call: UsageRecord) => {
      if (kind === 'key') return call.keyId === value || (value === 'key_1' && call.keyId === 'key_2');
      if (call.workspaceId !== workspaceId) return false;
      if (kind === 'workspace') return true;
      if (kind === 'user') return call.labels.user === value;
      if (kind === 'model' || kind === 'provider') return call[kind] === value;
      if (kind === 'where') return isFiltered(value, call, call);
      return Object.entries(call.labels.tags).some(([name, text]) => `${name}=${text}` === value);
    };

    test('is the sum of the charges in each period, folded or not', async () => {
      const storage = await openWithOwner();
      const { keys, ledger, metering } = storage;
      await keys.insert(aKey('key_1'));
      await keys.insert(aKey('key_2', { parentId: 'key_1' }));
      const calls: UsageRecord[] = [];
      const settle = async (count: number) => {
        const settled = Array.from({ length: count }, (_, index) => {
          const number = calls.length + index;
          const quarters = (number * 7919) % (45 * 96);
          const completedAt = morning - quarters * 15 * 60_000 + number;
          return aSettlement(`req_${number}`, {
            workspaceId: number % 5 === 0 ? 'ws_2' : 'ws_1',
            // The calls of a key are those of its workspace.
            keyId: number % 5 === 0 || number % 3 === 2 ? 'key_9' : number % 3 === 0 ? 'key_2' : 'key_1',
            model: number % 2 === 0 ? 'sim/one' : 'sim/two',
            provider: number % 7 === 0 ? 'other' : 'sim',
            charged: 1 + (number % 17),
            createdAt: completedAt,
            completedAt,
            labels: { ...noLabels, user: users[number % 4] ?? null, tags: tags[number % 3] ?? {} },
          });
        });
        await Promise.all(settled.map((settlement) => metering.settle(settlement)));
        calls.push(...settled.map(({ usage }) => usage));
      };
      const check = async (at: number) => {
        const sum = (subject: Subject, from: number) =>
          calls
            .filter((call) => isOf(subject, call) && call.completedAt >= from)
            .reduce((total, { charged }) => total + charged, 0);
        const expected = subjects.map((subject) => ({
          day: sum(subject, startOfPeriod('day', at, subject.calendar)),
          week: sum(subject, startOfPeriod('week', at, subject.calendar)),
          month: sum(subject, startOfPeriod('month', at, subject.calendar)),
          // Filters are for periods that end.
          none: subject.kind === 'where' ? expect.any(Number) : sum(subject, 0),
        }));
        const uses = await ledger.subjectUses(subjects, at);
        expect(uses.map(({ spend }) => spend)).toEqual(expected);
      };
      await settle(40);
      await check(morning);
      await settle(700);
      await check(morning);
      await settle(30);
      await check(morning);
      await check(morning - dayMs);
      await check(morning + 40 * dayMs);
    });

    test('is exact for each of more tags than totals by label are kept for', async () => {
      const { ledger, metering } = await openWithOwner();
      // 10,000 are kept of a day. The first calls have more than callers can give them, so that few are enough.
      const tagsOf = (call: number) =>
        Object.fromEntries(Array.from({ length: call < 600 ? 20 : 1 }, (_, at) => [`tag-${at}`, `${call}`]));
      const settle = (id: string, charged: number, call: number) =>
        metering.settle(aSettlement(id, { charged, labels: { ...noLabels, tags: tagsOf(call) } }));
      // Totals of each 600 are written, then or with some of the next ones.
      for (const from of [0, 600, 1200])
        await Promise.all(Array.from({ length: 600 }, (_, at) => settle(`req_${from + at}`, 3, from + at)));
      await settle('req_late', 4, 700);
      const asked = Array.from({ length: 18 }, (_, index) => index * 100);
      const subjects = asked.map(
        (call): Subject => ({ workspaceId: 'ws_1', kind: 'tag', value: `tag-0=${call}` }),
      );
      const uses = await ledger.subjectUses(subjects, morning);
      expect(uses.map(({ spend }) => spend.day)).toEqual(asked.map((call) => (call === 700 ? 7 : 3)));
    });
  });

  describe('the spending of an autopilot', () => {
    const budget = 'ap_1';
    const options = { at: morning + 50, since: morning };

    test('is kept beside that of the keys that its calls are made with', async () => {
      const storage = await openWithOwner();
      const { metering, ledger } = storage;
      const call = (id: string, charged: number, changes: object) => {
        const cost = { provider: charged, margin: 0, total: charged };
        return metering.settle(aSettlement(id, { charged, cost, ...changes }));
      };
      await call('req_1', 10, { keyId: 'key_1', budget });
      await call('req_2', 100, { keyId: 'key_1' });
      await call('req_3', 1000, { keyId: 'key_3', budget });
      // A schedule calls with the autopilot's own id.
      await call('req_4', 10_000, { keyId: budget, budget });
      expect((await ledger.keyUse(budget, options)).spend.total).toBe(11_010);
      expect((await ledger.keyUse('key_1', options)).spend.total).toBe(110);
      expect((await ledger.verify()).problems).toEqual([]);
      expect(await metering.usage('req_1')).toMatchObject({ keyId: 'key_1', budget });
    });

    test('is named by a hold, so that it counts after the daemon died', async () => {
      const { metering, daemons } = await openWithOwner();
      await metering.hold(aHold('req_1', { budget }));
      expect(await metering.leftHolds(daemons.own)).toMatchObject([{ requestId: 'req_1', budget }]);
    });
  });

  describe('credit', () => {
    test('is granted once per reference, and adds up', async () => {
      const { ledger } = await openWithOwner();
      const first = aGrant('grant_1', { reference: 'r', note: 'Welcome.' });
      expect(await ledger.grant(first)).toEqual({ grant: first, isNew: true });
      expect(await ledger.grant({ ...first, id: 'grant_2' })).toEqual({ grant: first, isNew: false });
      await expect(ledger.grant({ ...first, id: 'grant_3', amount: 5 })).rejects.toMatchObject({
        code: 'conflict',
        param: 'reference',
      });
      await ledger.grant(aGrant('grant_4', { amount: 5 }));
      expect(await ledger.balance('ws_1')).toBe(10_005);
      expect(await ledger.accounts()).toEqual([
        {
          workspaceId: 'ws_1',
          slug: 'home',
          name: 'Home',
          balance: 10_005,
          granted: 10_005,
          bought: 0,
          held: 0,
        },
      ]);
      expect(await ledger.verify()).toEqual({
        accounts: 2,
        entries: 2,
        grants: 2,
        problems: [],
        held: [],
      });
    });

    test('has a maximum', async () => {
      const { ledger } = await openWithOwner();
      await ledger.grant(aGrant('grant_1', { amount: 4_000_000_000_000_000 }));
      await expect(ledger.grant(aGrant('grant_2', { amount: 1 }))).rejects.toMatchObject({ param: 'usd' });
    });

    test('is reduced by charges, except for the calls in `except`', async () => {
      const { ledger, metering } = await openWithOwner();
      await ledger.grant(aGrant('grant_1'));
      await metering.settle(aSettlement('req_1'));
      await metering.settle(aSettlement('req_2'));
      expect(await ledger.balance('ws_1')).toBe(10_000 - 2 * 786);
      expect(await ledger.balance('ws_2')).toBe(0);
    });

    test('is held for the calls that are not settled yet', async () => {
      const { ledger, metering } = await openWithOwner();
      await Promise.all(['req_2', 'req_4'].map((requestId) => metering.hold(aHold(requestId))));
      const ids = ['req_1', 'req_2', 'req_3', 'req_4'];
      expect((await ledger.stillHeld(ids)).sort()).toEqual(['req_2', 'req_4']);
      await metering.settle(aSettlement('req_2'));
      expect(await ledger.stillHeld(ids)).toEqual(['req_4']);
    });
  });

  test('limits of a key are stored', async () => {
    const { keys } = await openWithOwner();
    const limits = {
      spendCap: { amount: 5, period: 'day' as const },
      maxPrice: { input: null, output: 7 },
      models: ['sim/*'],
      requestsPerMinute: 3,
      expiresAt: morning + dayMs,
    };
    await keys.insert(aKey('key_1', { models: ['a'], actions: ['chat'] }));
    expect(await keys.setLimits('ws_1', 'key_1', limits)).toBe(true);
    expect(await keys.setLimits('ws_2', 'key_1', null)).toBe(false);
    expect(await keys.byId('ws_1', 'key_1')).toEqual(
      aKey('key_1', { models: ['a'], actions: ['chat'], limits }),
    );
    await keys.setLimits('ws_1', 'key_1', null);
    expect((await keys.byId('ws_1', 'key_1'))?.limits).toBeNull();
  });
}
