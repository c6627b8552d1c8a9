import { describe, expect, test } from 'vitest';
import type { AutopilotRecord, OccurrenceRecord } from '../../src/daemon/features/autopilots/store.ts';
import { addUsers, morning, type OpenStorage } from './records.ts';

export function autopilotsStoreContract(open: OpenStorage): void {
  const aPilot = (id: string, changes: Partial<AutopilotRecord> = {}): AutopilotRecord => ({
    id,
    owner: 1,
    handle: id,
    displayName: 'Pilot',
    avatar: '',
    tagline: '',
    status: 'active',
    visibility: 'private',
    configVersion: 1,
    createdAt: morning,
    updatedAt: morning,
    profile: {},
    policy: {},
    schedule: null,
    scheduledBy: null,
    nextRunAt: null,
    ...changes,
  });
  const openWithPilots = async () => {
    const storage = await open();
    await addUsers(storage);
    const { autopilots } = storage;
    await autopilots.insert(aPilot('ap_1'), ['first']);
    await autopilots.insert(aPilot('ap_2', { updatedAt: morning + 1, status: 'disabled' }), [
      'first',
      'second',
    ]);
    return storage;
  };

  describe('autopilots', () => {
    test('get the first free handle', async () => {
      const { autopilots } = await openWithPilots();
      expect(await autopilots.insert(aPilot('ap_3'), ['first', 'second'])).toBeUndefined();
      expect(await autopilots.insert(aPilot('ap_3'), ['second', 'third'])).toBe('third');
    });

    test('are found by their owner, by id or handle', async () => {
      const { autopilots } = await openWithPilots();
      expect(await autopilots.find(1, 'ap_1')).toEqual(aPilot('ap_1', { handle: 'first' }));
      expect(await autopilots.find(1, 'FIRST')).toMatchObject({ id: 'ap_1' });
      expect(await autopilots.find(2, 'ap_1')).toBeUndefined();
    });

    test('are listed by their last change, newest first, and by status', async () => {
      const { autopilots } = await openWithPilots();
      const ids = async (owner: number, limit: number, status?: 'disabled') =>
        (await autopilots.list(owner, { limit, status })).map(({ id }) => id);
      expect(await ids(1, 5)).toEqual(['ap_2', 'ap_1']);
      expect(await ids(1, 1)).toEqual(['ap_2']);
      expect(await ids(1, 5, 'disabled')).toEqual(['ap_2']);
      expect(await ids(2, 5)).toEqual([]);
    });

    test('are in the directory while they are active and not private', async () => {
      const storage = await open();
      await addUsers(storage);
      const { autopilots } = storage;
      const add = (id: string, changes: Partial<AutopilotRecord>) =>
        autopilots.insert(aPilot(id, changes), [id]);
      await add('ap_1', { visibility: 'public' });
      await add('ap_2', { visibility: 'discoverable', tagline: 'Here.' });
      await add('ap_3', {});
      await add('ap_4', { visibility: 'public', status: 'disabled' });
      const page = { isPublicOnly: false, limit: 5, before: undefined };
      const ids = async (changes: object) =>
        (await autopilots.directory({ ...page, ...changes })).map(({ id }) => id);
      expect(await ids({})).toEqual(['ap_2', 'ap_1']);
      expect(await ids({ limit: 1 })).toEqual(['ap_2']);
      expect(await ids({ before: 'ap_2' })).toEqual(['ap_1']);
      expect(await ids({ isPublicOnly: true })).toEqual(['ap_1']);
      const [listed] = await autopilots.directory(page);
      expect(listed).toEqual({
        id: 'ap_2',
        handle: 'ap_2',
        displayName: 'Pilot',
        avatar: '',
        tagline: 'Here.',
        createdAt: morning,
        visibility: 'discoverable',
        owner: {
          number: 1,
          handle: expect.any(String),
          name: expect.any(String),
          avatar: expect.any(String),
        },
      });
    });

    test('are replaced unless they changed or the handle is taken', async () => {
      const { autopilots } = await openWithPilots();
      const before = aPilot('ap_1', { handle: 'first' });
      const after = { ...before, displayName: 'Captain', updatedAt: morning + 5 };
      expect(await autopilots.replace(before, { ...after, handle: 'second' })).toBe('handle-taken');
      expect(await autopilots.replace(before, after)).toBe('done');
      expect(await autopilots.replace(before, after)).toBe('changed');
      expect(await autopilots.find(1, 'ap_1')).toEqual(after);
    });

    const occurrence = (id: string, changes: Partial<OccurrenceRecord> = {}): OccurrenceRecord => ({
      id,
      autopilotId: 'ap_1',
      workspaceId: 'ws_1',
      status: 'claimed',
      dueAt: morning,
      lastDueAt: morning,
      count: 1,
      reason: null,
      createdAt: morning,
      ...changes,
    });
    const openWithDue = async () => {
      const storage = await openWithPilots();
      const schedule = { cron: '* * * * *', timeZone: 'UTC', input: 'Hello.', paused: false };
      const scheduledBy = { userId: 'usr_1', workspaceId: 'ws_1', credentialId: null, mayPay: true };
      const pilot = aPilot('ap_1', { handle: 'first' });
      const due = { ...pilot, schedule, scheduledBy, nextRunAt: morning };
      await storage.autopilots.replace(pilot, due);
      return { ...storage, due };
    };
    const page = { workspaceId: 'ws_1', limit: 10 };

    test('are due from the time of their next run', async () => {
      const { autopilots, due } = await openWithDue();
      expect(await autopilots.due(morning - 1, 10)).toEqual([]);
      expect(await autopilots.due(morning, 10)).toEqual([due]);
      expect(await autopilots.nextDue()).toBe(morning);
    });

    test('are claimed once for each time', async () => {
      const { autopilots } = await openWithDue();
      const claim = { id: 'ap_1', dueAt: morning, nextRunAt: null, occurrences: [occurrence('run_1')] };
      const claims = await Promise.all([autopilots.claim(claim), autopilots.claim(claim)]);
      expect(claims).toEqual([true, false]);
      expect(await autopilots.due(morning, 10)).toEqual([]);
      expect(await autopilots.nextDue()).toBeUndefined();
    });

    test('keep what was not run, and not what was', async () => {
      const { autopilots } = await openWithDue();
      const missed = occurrence('run_2', { status: 'missed', lastDueAt: morning + 60_000, count: 2 });
      const [started, skipped] = [occurrence('run_3'), occurrence('run_4')];
      const occurrences = [missed, started, skipped];
      await autopilots.claim({ id: 'ap_1', dueAt: morning, nextRunAt: null, occurrences });
      expect(await autopilots.notRun('ap_1', page)).toEqual([missed]);
      const reason = { code: 'conflict', message: 'Busy.' };
      await autopilots.endClaim('run_3', null);
      await autopilots.endClaim('run_4', reason);
      expect(await autopilots.notRun('ap_1', page)).toEqual([
        { ...skipped, status: 'skipped', reason },
        missed,
      ]);
      expect(await autopilots.notRun('ap_1', { ...page, workspaceId: 'ws_2' })).toEqual([]);
    });

    test('have missed what was claimed and not started', async () => {
      const { autopilots, daemons } = await openWithDue();
      const claimed = occurrence('run_1');
      await autopilots.claim({ id: 'ap_1', dueAt: morning, nextRunAt: null, occurrences: [claimed] });
      expect(await autopilots.endLeftClaims(daemons.own + 1)).toEqual([]);
      expect(await autopilots.endLeftClaims(daemons.own)).toEqual([{ ...claimed, status: 'missed' }]);
      expect(await autopilots.endLeftClaims(daemons.own)).toEqual([]);
      expect(await autopilots.notRun('ap_1', page)).toEqual([{ ...claimed, status: 'missed' }]);
    });

    test('keep the latest 200 that were not run', async () => {
      const { autopilots } = await openWithDue();
      const id = (number: number) => `run_${String(number).padStart(3, '0')}`;
      const occurrences = Array.from({ length: 205 }, (_, number) =>
        occurrence(id(number), { status: 'missed' }),
      );
      await autopilots.claim({ id: 'ap_1', dueAt: morning, nextRunAt: null, occurrences });
      const kept = await autopilots.notRun('ap_1', { ...page, limit: 500 });
      expect([kept.length, kept.at(-1)?.id]).toEqual([200, id(5)]);
    });
  });
}
