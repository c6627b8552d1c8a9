import { describe, expect, test } from 'vitest';
import type { AutopilotRecord } from '../../src/daemon/features/autopilots/store.ts';
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
    return autopilots;
  };

  describe('autopilots', () => {
    test('get the first free handle', async () => {
      const autopilots = await openWithPilots();
      expect(await autopilots.insert(aPilot('ap_3'), ['first', 'second'])).toBeUndefined();
      expect(await autopilots.insert(aPilot('ap_3'), ['second', 'third'])).toBe('third');
    });

    test('are found by their owner, by id or handle', async () => {
      const autopilots = await openWithPilots();
      expect(await autopilots.find(1, 'ap_1')).toEqual(aPilot('ap_1', { handle: 'first' }));
      expect(await autopilots.find(1, 'FIRST')).toMatchObject({ id: 'ap_1' });
      expect(await autopilots.find(2, 'ap_1')).toBeUndefined();
    });

    test('are listed by their last change, newest first, and by status', async () => {
      const autopilots = await openWithPilots();
      const ids = async (owner: number, limit: number, status?: 'disabled') =>
        (await autopilots.list(owner, { limit, status })).map(({ id }) => id);
      expect(await ids(1, 5)).toEqual(['ap_2', 'ap_1']);
      expect(await ids(1, 1)).toEqual(['ap_2']);
      expect(await ids(1, 5, 'disabled')).toEqual(['ap_2']);
      expect(await ids(2, 5)).toEqual([]);
    });

    test('are replaced unless they changed or the handle is taken', async () => {
      const autopilots = await openWithPilots();
      const before = aPilot('ap_1', { handle: 'first' });
      const after = { ...before, displayName: 'Captain', updatedAt: morning + 5 };
      expect(await autopilots.replace(before, { ...after, handle: 'second' })).toBe('handle-taken');
      expect(await autopilots.replace(before, after)).toBe('done');
      expect(await autopilots.replace(before, after)).toBe('changed');
      expect(await autopilots.find(1, 'ap_1')).toEqual(after);
    });
  });
}
