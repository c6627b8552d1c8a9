import { describe, expect, test } from 'vitest';
import { addUsers, morning, type OpenStorage } from './records.ts';

export function shoutsStoreContract(open: OpenStorage): void {
  const openWithShouts = async () => {
    const storage = await open();
    await addUsers(storage);
    const { shouts } = storage;
    const shout = (author: number, zone: string, at: number) =>
      shouts.insert({ author, zone, body: `in ${zone}`, at });
    expect(await shout(1, 'home', morning)).toBe(1);
    expect(await shout(2, 'home', morning + 1)).toBe(2);
    expect(await shout(1, 'work', morning + 2)).toBe(3);
    return storage;
  };
  const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);

  describe('shouts', () => {
    test('are found with their author', async () => {
      const { shouts } = await openWithShouts();
      expect(await shouts.find(2)).toEqual({
        id: 2,
        body: 'in home',
        zone: 'home',
        createdAt: morning + 1,
        updatedAt: morning + 1,
        author: { number: 2, handle: 'bob', name: 'Bob', avatar: '' },
      });
      expect(await shouts.find(9)).toBeUndefined();
    });

    test('are listed newest first, by zone, time and page', async () => {
      const { shouts } = await openWithShouts();
      const all = { zone: undefined, since: undefined };
      const page = { limit: 5, before: undefined };
      expect(idsOf(await shouts.list(all, page))).toEqual([3, 2, 1]);
      expect(idsOf(await shouts.list(all, { limit: 1, before: 3 }))).toEqual([2]);
      expect(idsOf(await shouts.list({ ...all, zone: 'home' }, page))).toEqual([2, 1]);
      expect(idsOf(await shouts.list({ ...all, since: morning + 1 }, page))).toEqual([3, 2]);
      expect(idsOf(await shouts.list({ ...all, since: morning + 9 }, page))).toEqual([]);
    });

    test('are read oldest first after an id', async () => {
      const { shouts } = await openWithShouts();
      expect(idsOf(await shouts.after(undefined, { limit: 5, after: 1 }))).toEqual([2, 3]);
      expect(idsOf(await shouts.after('home', { limit: 1, after: 0 }))).toEqual([1]);
    });

    test('are removed by their author alone, and their ids are not used again', async () => {
      const { shouts } = await openWithShouts();
      expect(await shouts.remove(3, 2)).toBe(false);
      expect(await shouts.remove(3, 1)).toBe(true);
      expect(await shouts.remove(3, 1)).toBe(false);
      expect(await shouts.insert({ author: 1, zone: 'work', body: 'again', at: morning + 3 })).toBe(4);
    });

    test('are counted per zone, the busiest first', async () => {
      const { shouts } = await openWithShouts();
      const home = { zone: 'home', count: 2 };
      expect(await shouts.zones(morning, 5)).toEqual([home, { zone: 'work', count: 1 }]);
      expect(await shouts.zones(morning, 1)).toEqual([home]);
      expect(await shouts.zones(morning + 2, 5)).toEqual([{ zone: 'work', count: 1 }]);
    });

    test('have a highest id', async () => {
      const empty = await open();
      expect(await empty.shouts.last()).toBe(0);
      expect(await (await openWithShouts()).shouts.last()).toBe(3);
    });
  });
}
