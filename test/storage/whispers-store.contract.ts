import { describe, expect, test } from 'vitest';
import { addUsers, morning, type OpenStorage } from './records.ts';

export function whispersStoreContract(open: OpenStorage): void {
  const openWithWhispers = async () => {
    const storage = await open();
    await addUsers(storage);
    const { whispers, people } = storage;
    await people.addUser({
      user: { id: 'usr_3', handle: 'eve', name: 'Eve', createdAt: morning },
      workspace: { id: 'ws_3', slugs: ['eve'], name: 'Eve', createdAt: morning },
      code: {
        digest: 'code of eve',
        userId: 'usr_3',
        createdAt: morning,
        expiresAt: morning + 9,
        makerId: null,
        keep: null,
      },
    });
    const whisper = (sender: number, recipient: number, at: number) =>
      whispers.insert({ sender, recipient, body: `from ${sender} to ${recipient}`, at });
    await whisper(1, 2, morning);
    await whisper(2, 1, morning + 1);
    await whisper(3, 1, morning + 2);
    await whisper(2, 1, morning + 3);
    return whispers;
  };
  const idsOf = (records: { id: number }[]) => records.map(({ id }) => id);

  describe('whispers', () => {
    test('are found with their sender and recipient', async () => {
      const whispers = await openWithWhispers();
      expect(await whispers.find(1)).toEqual({
        id: 1,
        body: 'from 1 to 2',
        createdAt: morning,
        updatedAt: morning,
        readAt: null,
        sender: { number: 1, handle: 'ada', name: 'Ada', avatar: '' },
        recipient: { number: 2, handle: 'bob', name: 'Bob', avatar: '' },
      });
      expect(await whispers.find(9)).toBeUndefined();
    });

    test('are listed newest first, sent and received, of all or of one peer', async () => {
      const whispers = await openWithWhispers();
      const page = { limit: 5, before: undefined };
      expect(idsOf(await whispers.list({ person: 1 }, page))).toEqual([4, 3, 2, 1]);
      expect(idsOf(await whispers.list({ person: 1 }, { limit: 1, before: 4 }))).toEqual([3]);
      expect(idsOf(await whispers.list({ person: 1, peer: 2 }, page))).toEqual([4, 2, 1]);
      expect(idsOf(await whispers.list({ person: 3 }, page))).toEqual([3]);
    });

    test('are read oldest first after an id', async () => {
      const whispers = await openWithWhispers();
      expect(idsOf(await whispers.after(1, { limit: 2, after: 1 }))).toEqual([2, 3]);
    });

    test('form a thread per peer, the latest first, with the number of unread ones', async () => {
      const whispers = await openWithWhispers();
      const threads = async (page: { limit: number; before: number | undefined }) =>
        (await whispers.threads(1, page)).map(({ last, unread }) => [last.id, unread]);
      expect(await threads({ limit: 5, before: undefined })).toEqual([
        [4, 2],
        [3, 1],
      ]);
      expect(await threads({ limit: 5, before: 4 })).toEqual([[3, 1]]);
    });

    test('are marked as read once', async () => {
      const whispers = await openWithWhispers();
      expect(await whispers.markRead(2, morning + 9)).toBe(true);
      expect(await whispers.markRead(2, morning + 10)).toBe(false);
      expect(await whispers.find(2)).toMatchObject({ readAt: morning + 9, updatedAt: morning + 9 });
      expect(await whispers.markAllRead({ person: 1, peer: 2 }, morning + 11)).toEqual([4]);
      expect(await whispers.markAllRead({ person: 1 }, morning + 12)).toEqual([3]);
      expect(await whispers.find(1)).toMatchObject({ readAt: null });
    });

    test('have a highest id', async () => {
      expect(await (await open()).whispers.last()).toBe(0);
      expect(await (await openWithWhispers()).last()).toBe(4);
    });
  });
}
