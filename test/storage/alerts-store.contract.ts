import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  AlertRecord,
  DeliveryRecord,
  FiringRecord,
  Transition,
} from '../../src/daemon/features/alerts/store.ts';
import { morning, type OpenStorage, owner } from './records.ts';

type NewAlert = Omit<AlertRecord, 'state' | 'since' | 'firingId'>;

const condition = {
  kind: 'spend',
  windowMinutes: 60,
  threshold: 9_000_000_000_000_000,
  minCalls: 20,
  keyId: null,
  model: 'openai/søk 搜索',
  provider: null,
} as const;

const anAlert = (changes: Partial<NewAlert> = {}): NewAlert => ({
  workspaceId: 'ws_1',
  id: 'dear',
  ...condition,
  hook: { sealed: 'sealed', origin: 'https://hooks.example.com', mayBePrivate: false },
  createdAt: morning,
  updatedAt: morning,
  ...changes,
});

const aFiring = (id: string, changes: Partial<FiringRecord> = {}): FiringRecord => ({
  id,
  workspaceId: 'ws_1',
  alertId: 'dear',
  condition,
  value: 9_000_000_000_000_001,
  message: 'All calls cost $9 000 000.',
  firedAt: morning,
  resolvedAt: null,
  resolvedValue: null,
  ...changes,
});

const aDelivery = (id: string, changes: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  id,
  workspaceId: 'ws_1',
  alertId: 'dear',
  type: 'alert.fired',
  body: '{"type":"alert.fired"}',
  state: 'pending',
  attempts: 0,
  nextAt: morning,
  httpStatus: null,
  failure: null,
  createdAt: morning,
  ...changes,
});

const event = (type: string, at = morning) => ({ type, workspaceId: 'ws_1', at, data: { alert: 'dear' } });

const seen = (changes: Partial<Transition['seen']> = {}): Transition['seen'] => ({
  workspaceId: 'ws_1',
  id: 'dear',
  state: 'ok',
  updatedAt: morning,
  ...changes,
});

const fires = (firing: FiringRecord, changes: Partial<Transition> = {}): Transition => ({
  seen: seen(),
  at: firing.firedAt,
  change: { firing },
  event: event('alert.fired', firing.firedAt),
  delivery: undefined,
  ...changes,
});

const resolves = (at: number, changes: Partial<Transition> = {}): Transition => ({
  seen: seen({ state: 'firing' }),
  at,
  change: { resolvedValue: 5 },
  event: event('alert.resolved', at),
  delivery: undefined,
  ...changes,
});

const all = { workspaceId: 'ws_1', alertId: undefined, isOpen: undefined, after: undefined, limit: 10 };
const one = { max: 1 };
const some = { max: 10 };

export function alertsStoreContract(open: OpenStorage): void {
  const openWithOwner = async () => {
    const storage = await open();
    await storage.workspaces.createOwner(owner);
    return storage;
  };

  describe('alerts', () => {
    test('are added, replaced and removed; their number has a maximum in each workspace', async () => {
      const { alerts } = await openWithOwner();
      const first = { ...anAlert(), state: 'ok', since: morning, firingId: null };
      expect(await alerts.put(anAlert(), one)).toEqual(first);
      expect(await alerts.put(anAlert({ id: 'other' }), one)).toBe('full');
      const changed = { threshold: null, hook: null, kind: 'silence', updatedAt: morning + 1 } as const;
      expect(await alerts.put(anAlert({ ...changed, createdAt: morning + 1 }), one)).toEqual({
        ...first,
        ...changed,
      });
      await alerts.put(anAlert({ workspaceId: 'ws_2' }), one);
      expect(await alerts.list('ws_1')).toEqual([{ ...first, ...changed }]);
      expect((await alerts.all()).map(({ workspaceId }) => workspaceId)).toEqual(['ws_1', 'ws_2']);
      expect(await alerts.byId('ws_2', 'dear')).toEqual({ ...first, workspaceId: 'ws_2' });
      expect(await alerts.byId('ws_1', 'other')).toBeUndefined();
      expect(await alerts.remove(seen(), event('alert.resolved'))).toBe(true);
      expect(await alerts.remove(seen(), event('alert.resolved'))).toBe(false);
      expect(await alerts.list('ws_1')).toEqual([]);
    });

    test('fire once, however many see it, with the event and the message', async () => {
      const { alerts, events } = await openWithOwner();
      await alerts.put(anAlert(), one);
      const from = await events.last();
      const firing = aFiring('firing_1', { firedAt: morning + 1 });
      const delivery = aDelivery('msg_1');
      const raced = await Promise.all([
        alerts.transition(fires(firing, { delivery })),
        alerts.transition(fires(aFiring('firing_2'), { delivery: aDelivery('msg_2') })),
      ]);
      expect(raced).toEqual([true, false]);
      const stored = await alerts.byId('ws_1', 'dear');
      expect(stored).toMatchObject({ state: 'firing', since: morning + 1, firingId: 'firing_1' });
      expect(await alerts.current('ws_1')).toEqual([firing]);
      expect(await alerts.dueDeliveries(morning, 10)).toEqual([delivery]);
      expect((await events.after(['ws_1'], from, 10)).map(({ type }) => type)).toEqual(['alert.fired']);

      const end = resolves(morning + 9);
      expect(await Promise.all([alerts.transition(end), alerts.transition(end)])).toEqual([true, false]);
      expect(await alerts.byId('ws_1', 'dear')).toMatchObject({
        state: 'ok',
        since: morning + 9,
        firingId: null,
      });
      expect(await alerts.current('ws_1')).toEqual([]);
      expect(await alerts.firings(all)).toEqual([{ ...firing, resolvedAt: morning + 9, resolvedValue: 5 }]);
    });

    test('keep their state when they are changed, and what was seen before counts no more', async () => {
      const { alerts } = await openWithOwner();
      await alerts.put(anAlert(), one);
      await alerts.transition(fires(aFiring('firing_1')));
      const changed = await alerts.put(anAlert({ threshold: 1, updatedAt: morning + 5 }), one);
      expect(changed).toMatchObject({ state: 'firing', since: morning, firingId: 'firing_1', threshold: 1 });
      expect(await alerts.transition(resolves(morning + 6))).toBe(false);
      const now = seen({ state: 'firing', updatedAt: morning + 5 });
      expect(await alerts.transition(resolves(morning + 6, { seen: now }))).toBe(true);
    });

    test('that are removed end their firing and send nothing more', async () => {
      const { alerts, events } = await openWithOwner();
      await alerts.put(anAlert(), some);
      await alerts.put(anAlert({ id: 'other' }), some);
      await alerts.transition(fires(aFiring('firing_1'), { delivery: aDelivery('msg_1') }));
      await alerts.addDelivery(aDelivery('msg_2', { alertId: 'other' }));
      const from = await events.last();
      await alerts.remove(seen(), event('alert.resolved', morning + 7));
      await alerts.remove(seen({ id: 'none' }), event('alert.resolved'));
      expect((await alerts.firings(all)).map(({ resolvedAt }) => resolvedAt)).toEqual([morning + 7]);
      expect((await alerts.dueDeliveries(morning, 10)).map(({ id }) => id)).toEqual(['msg_2']);
      expect((await events.after(['ws_1'], from, 10)).map(({ type }) => type)).toEqual(['alert.resolved']);
      // Another one, which does not fire.
      await alerts.remove(seen({ id: 'other' }), event('alert.resolved'));
      expect(await events.after(['ws_1'], from, 10)).toHaveLength(1);
    });

    test('list their firings by pages, newest first, of one alert or of a state', async () => {
      const { alerts } = await openWithOwner();
      for (const id of ['a', 'b', 'c']) {
        await alerts.put(anAlert({ id }), some);
        const firing = aFiring(`firing_${id}`, { alertId: id });
        await alerts.transition(fires(firing, { seen: seen({ id }) }));
      }
      await alerts.transition(resolves(morning + 1, { seen: seen({ id: 'b', state: 'firing' }) }));
      const ids = async (filter: object) => (await alerts.firings({ ...all, ...filter })).map(({ id }) => id);
      expect(await ids({ limit: 2 })).toEqual(['firing_c', 'firing_b']);
      expect(await ids({ after: 'firing_b' })).toEqual(['firing_a']);
      expect(await ids({ after: 'firing_none' })).toEqual([]);
      expect(await ids({ alertId: 'a' })).toEqual(['firing_a']);
      expect(await ids({ isOpen: true })).toEqual(['firing_c', 'firing_a']);
      expect(await ids({ isOpen: false })).toEqual(['firing_b']);
      expect(await ids({ workspaceId: 'ws_2' })).toEqual([]);
    });

    test('remember the latest firings and the one that lasts', async () => {
      const { alerts } = await openWithOwner();
      await alerts.put(anAlert({ id: 'lasting' }), some);
      await alerts.put(anAlert(), some);
      await alerts.transition(
        fires(aFiring('firing_0', { alertId: 'lasting' }), { seen: seen({ id: 'lasting' }) }),
      );
      const writes = Array.from({ length: 1_010 }, (_, index) => [
        alerts.transition(fires(aFiring(`firing_${1_000 + index}`, { firedAt: morning + index }))),
        alerts.transition(resolves(morning + index)),
      ]);
      expect(new Set(await Promise.all(writes.flat()))).toEqual(new Set([true]));
      const ended = await alerts.firings({ ...all, isOpen: false, limit: 2_000 });
      expect([ended.length, ended[0]?.id]).toEqual([1_001, 'firing_2009']);
      expect(await alerts.current('ws_1')).toHaveLength(1);
    });
  });

  describe('messages to web hooks', () => {
    test('are attempted by one daemon at a time, until one attempt ends them', async () => {
      const { alerts } = await openWithOwner();
      await alerts.put(anAlert(), one);
      expect(await alerts.hasPending()).toBe(false);
      const message = aDelivery('msg_1');
      await alerts.addDelivery(message);
      expect(await alerts.hasPending()).toBe(true);
      const claim = () => alerts.claimDelivery(message, morning + 5);
      expect(await Promise.all([claim(), claim()])).toEqual([true, false]);
      expect(await alerts.dueDeliveries(morning + 4, 10)).toEqual([]);
      const failed = { id: 'msg_1', state: 'pending', httpStatus: 500, failure: 'HTTP 500' } as const;
      expect(await alerts.attempted({ ...failed, attempt: 1, nextAt: morning + 6 })).toBe(true);
      expect(await alerts.dueDeliveries(morning + 6, 10)).toMatchObject([{ attempts: 1, httpStatus: 500 }]);
      expect(await alerts.claimDelivery({ id: 'msg_1', attempts: 1 }, morning + 9)).toBe(true);
      // The end of the first attempt comes late.
      expect(await alerts.attempted({ ...failed, attempt: 1, nextAt: null, state: 'failed' })).toBe(false);
      const done = { id: 'msg_1', attempt: 2, nextAt: null, httpStatus: 204, failure: null } as const;
      expect(await alerts.attempted({ ...done, state: 'delivered' })).toBe(true);
      expect(await alerts.attempted({ ...done, state: 'failed' })).toBe(false);
      expect(await alerts.claimDelivery({ id: 'msg_1', attempts: 2 }, morning)).toBe(false);
      expect(await alerts.hasPending()).toBe(false);
      const last = { state: 'delivered', attempts: 2, nextAt: null, httpStatus: 204, failure: null };
      expect(await alerts.delivery('msg_1')).toEqual({ ...message, ...last });
      expect(await alerts.lastDeliveries('ws_1')).toMatchObject([{ id: 'msg_1' }]);
      expect(await alerts.delivery('msg_2')).toBeUndefined();
    });

    test('that a daemon was sending when it died are due again', async () => {
      const { alerts, daemons } = await openWithOwner();
      await alerts.put(anAlert(), one);
      await alerts.addDelivery(aDelivery('msg_1'));
      await alerts.claimDelivery({ id: 'msg_1', attempts: 0 }, morning + 60_000);
      await alerts.adoptDeliveries(daemons.own + 1, morning);
      expect(await alerts.dueDeliveries(morning + 1, 10)).toEqual([]);
      await alerts.adoptDeliveries(daemons.own, morning);
      expect(await alerts.dueDeliveries(morning + 1, 10)).toMatchObject([{ id: 'msg_1', attempts: 1 }]);
    });

    test('are kept for each alert, the latest ones', async () => {
      const { alerts } = await openWithOwner();
      await alerts.put(anAlert(), one);
      const added = Array.from({ length: 120 }, (_, index) =>
        alerts.addDelivery(
          aDelivery(`msg_${index}`, { createdAt: morning + index, nextAt: morning + index }),
        ),
      );
      await Promise.all(added);
      const kept = await alerts.dueDeliveries(morning + 1_000, 1_000);
      expect([kept.length, kept[0]?.id]).toEqual([100, 'msg_20']);
    });
  });

  test('any order of changes gives the states, firings and events of a simple model', async () => {
    const { alerts, events } = await openWithOwner();
    let runs = 0;
    const step = fc.record({
      what: fc.constantFrom('fire', 'resolve', 'change', 'remove', 'put'),
      isStale: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        runs += 1;
        const id = `alert-${runs}`;
        const from = await events.last();
        const model = {
          exists: false,
          state: 'ok' as 'ok' | 'firing',
          version: 0,
          open: 0,
          ended: 0,
          events: 0,
        };
        for (const [index, { what, isStale }] of steps.entries()) {
          const at = morning + index;
          const version = isStale ? model.version + 1 : model.version;
          if (what === 'put' || (what === 'change' && model.exists)) {
            await alerts.put(anAlert({ id, updatedAt: at }), { max: 1_000 });
            if (!model.exists) model.state = 'ok';
            Object.assign(model, { exists: true, version: at });
          } else if (what === 'remove') {
            const removed = await alerts.remove({ workspaceId: 'ws_1', id }, event('alert.resolved', at));
            expect(removed).toBe(model.exists);
            if (model.exists && model.state === 'firing') {
              model.open -= 1;
              model.ended += 1;
              model.events += 1;
            }
            Object.assign(model, { exists: false, state: 'ok' });
          } else if (what === 'fire' || what === 'resolve') {
            const before = what === 'fire' ? 'ok' : 'firing';
            const was = seen({ id, state: before, updatedAt: version });
            const firing = aFiring(`firing_${runs}_${index}`, { alertId: id, firedAt: at });
            const change = what === 'fire' ? fires(firing, { seen: was }) : resolves(at, { seen: was });
            const isValid = model.exists && !isStale && model.state === before;
            expect(await alerts.transition(change)).toBe(isValid);
            if (!isValid) continue;
            model.state = what === 'fire' ? 'firing' : 'ok';
            model.open += what === 'fire' ? 1 : -1;
            model.ended += what === 'fire' ? 0 : 1;
            model.events += 1;
          }
        }
        const stored = await alerts.byId('ws_1', id);
        expect(stored?.state).toBe(model.exists ? model.state : undefined);
        const count = async (isOpen: boolean) =>
          (await alerts.firings({ ...all, alertId: id, isOpen, limit: 100 })).length;
        expect([await count(true), await count(false)]).toEqual([model.open, model.ended]);
        expect(await events.after(['ws_1'], from, 100)).toHaveLength(model.events);
        await alerts.remove({ workspaceId: 'ws_1', id }, event('alert.resolved'));
      }),
      { numRuns: 60 },
    );
  });
}
