import { describe, expect, test } from 'vitest';
import type { BudgetRecord, Firing } from '../../src/daemon/features/budgets/store.ts';
import { morning, type OpenStorage, owner } from './records.ts';

export function budgetsStoreContract(open: OpenStorage): void {
  const openWithOwner = async () => {
    const storage = await open();
    await storage.workspaces.createOwner(owner);
    return storage;
  };
  const aBudget = (changes: Partial<BudgetRecord> = {}): Omit<BudgetRecord, 'fired'> => ({
    workspaceId: 'ws_1',
    id: 'team',
    scope: { kind: 'tag', value: 'team=søk 搜索' },
    period: 'day',
    amount: 9_000_000_000_000_000,
    isHard: true,
    thresholds: [50, 80, 100],
    createdAt: morning,
    updatedAt: morning,
    ...changes,
  });
  const aFiring = (percent: number, changes: Partial<Firing['fired']> = {}): Firing => {
    const fired = { period: morning, percent, at: morning + percent, ...changes };
    const event = { type: 'budget.threshold', workspaceId: 'ws_1', at: fired.at, data: { percent } };
    return { workspaceId: 'ws_1', id: 'team', fired, event };
  };
  const one = { max: 1 };

  describe('budgets', () => {
    test('are added, replaced and removed; their number has a maximum in each workspace', async () => {
      const { budgets } = await openWithOwner();
      const first = aBudget();
      expect(await budgets.put(first, one)).toEqual({ ...first, fired: [] });
      expect(await budgets.put(aBudget({ id: 'other' }), one)).toBe('full');
      const changed = aBudget({ amount: 0, isHard: false, thresholds: [], updatedAt: morning + 1 });
      expect(await budgets.put({ ...changed, createdAt: morning + 1 }, one)).toEqual({
        ...changed,
        fired: [],
      });
      const elsewhere = aBudget({ workspaceId: 'ws_2', scope: { kind: 'workspace', value: '' } });
      expect(await budgets.put(elsewhere, one)).toEqual({ ...elsewhere, fired: [] });
      expect(await budgets.list('ws_1')).toEqual([{ ...changed, fired: [] }]);
      expect(await budgets.all()).toHaveLength(2);
      expect(await budgets.byId('ws_2', 'team')).toEqual({ ...elsewhere, fired: [] });
      expect(await budgets.byId('ws_2', 'other')).toBeUndefined();
      expect(await budgets.remove('ws_1', 'team')).toBe(true);
      expect(await budgets.remove('ws_1', 'team')).toBe(false);
      expect(await budgets.list('ws_1')).toEqual([]);
    });

    test('keep their calendar, and forget what fired when they get another one', async () => {
      const { budgets } = await openWithOwner();
      const calendar = { timeZone: 'Europe/Berlin', dayStarts: 360, weekStarts: 'sunday' } as const;
      const zoned = aBudget({ calendar, scope: { kind: 'where', value: 'model:openai/*' } });
      expect(await budgets.put(zoned, one)).toEqual({ ...zoned, fired: [] });
      expect(await budgets.list('ws_1')).toEqual([{ ...zoned, fired: [] }]);
      const { fired } = aFiring(50);
      await budgets.fire([aFiring(50)]);
      expect((await budgets.put({ ...zoned, amount: 1 }, one)) as BudgetRecord).toMatchObject({
        fired: [fired],
      });
      const { calendar: _, ...inUtc } = zoned;
      expect(await budgets.put(inUtc, one)).toEqual({ ...inUtc, fired: [] });
      expect(await budgets.byId('ws_1', 'team')).toEqual({ ...inUtc, fired: [] });
    });

    test('fire each threshold once in a period, with its event', async () => {
      const { budgets, events } = await openWithOwner();
      await budgets.put(aBudget(), one);
      const from = await events.last();
      const [half, most] = [aFiring(50), aFiring(80)];
      const raced = await Promise.all([
        budgets.fire([half, most]),
        budgets.fire([half]),
        budgets.fire([half, most]),
      ]);
      expect(raced).toEqual([[half.fired, most.fired], [], []]);
      const next = aFiring(50, { period: morning + 1 });
      expect(await budgets.fire([next, aFiring(80)])).toEqual([next.fired]);
      const stored = await events.after(['ws_1'], from, 10);
      expect(stored.map(({ data }) => data)).toEqual([{ percent: 50 }, { percent: 80 }, { percent: 50 }]);
      expect(stored.map(({ sequence }) => sequence)).toEqual([from + 1, from + 2, from + 3]);
      expect((await budgets.byId('ws_1', 'team'))?.fired).toEqual([half.fired, most.fired, next.fired]);
    });

    test('remember what fired while they count the same, and nothing is recorded for one that is gone', async () => {
      const { budgets, events } = await openWithOwner();
      await budgets.put(aBudget(), one);
      await budgets.fire([aFiring(50)]);
      const higher = await budgets.put(aBudget({ amount: 1, thresholds: [60] }), one);
      expect(higher).toMatchObject({ fired: [aFiring(50).fired] });
      expect(await budgets.put(aBudget({ period: 'week' }), one)).toMatchObject({ fired: [] });
      await budgets.fire([aFiring(50)]);
      const other = aBudget({ period: 'week', scope: { kind: 'tag', value: 'team=other' } });
      expect(await budgets.put(other, one)).toMatchObject({ fired: [] });
      await budgets.remove('ws_1', 'team');
      const last = await events.last();
      expect(await budgets.fire([aFiring(50)])).toEqual([]);
      expect(await events.last()).toBe(last);
    });

    test('remember the latest firings only', async () => {
      const { budgets } = await openWithOwner();
      await budgets.put(aBudget(), one);
      for (let day = 0; day < 70; day += 1) await budgets.fire([aFiring(50, { period: day })]);
      const fired = (await budgets.byId('ws_1', 'team'))?.fired ?? [];
      expect(fired).toHaveLength(64);
      expect(fired.at(-1)?.period).toBe(69);
    });
  });
}
