import { describe, expect, test } from 'vitest';
import { aKey, morning, type OpenStorage, owner } from './records.ts';

export function keysStoreContract(open: OpenStorage): void {
  const openWithOwner = async () => {
    const storage = await open();
    await storage.workspaces.createOwner(owner);
    return storage;
  };

  describe('keys', () => {
    test('are found by digest, and by id in their own workspace alone', async () => {
      const { keys } = await openWithOwner();
      const key = aKey('key_1', { lastUsedAt: morning + 1 });
      await keys.insert(key);

      expect(await keys.byDigest(key.digest)).toEqual(key);
      expect(await keys.byId('ws_1', 'key_1')).toEqual(key);
      expect(await keys.byId('ws_2', 'key_1')).toBeUndefined();
      expect(await keys.byDigest('another')).toBeUndefined();
    });

    test.each([
      ['id', aKey('key_1', { digest: 'other' })],
      ['digest', aKey('key_2', { digest: 'digest of key_1' })],
    ])('have a unique %s', async (_what, second) => {
      const { keys } = await openWithOwner();
      await keys.insert(aKey('key_1'));
      await expect(keys.insert(second)).rejects.toMatchObject({ code: 'conflict' });
    });

    test('are listed newest first, page by page, without those of other workspaces', async () => {
      const { keys } = await openWithOwner();
      const made = [
        aKey('key_b', { createdAt: morning }),
        aKey('key_a', { createdAt: morning + 2 }),
        aKey('key_c', { createdAt: morning + 1 }),
        aKey('key_d', { createdAt: morning + 1 }),
      ];
      for (const key of made) await keys.insert(key);

      const first = await keys.list('ws_1', { limit: 2, after: undefined });
      const second = await keys.list('ws_1', { limit: 2, after: first[1]?.id });
      expect([...first, ...second].map(({ id }) => id)).toEqual(['key_a', 'key_d', 'key_c', 'key_b']);
      expect(await keys.list('ws_1', { limit: 2, after: 'key_b' })).toEqual([]);
      expect(await keys.list('ws_2', { limit: 2, after: undefined })).toEqual([]);
    });

    test('are revoked once, by their own workspace', async () => {
      const { keys } = await openWithOwner();
      await keys.insert(aKey('key_1'));

      expect(await keys.revoke('ws_2', 'key_1', morning)).toEqual([]);
      const answers = await Promise.all([1, 2, 3].map((ms) => keys.revoke('ws_1', 'key_1', morning + ms)));
      expect(answers).toEqual([['key_1'], [], []]);
      expect(await keys.byId('ws_1', 'key_1')).toMatchObject({ revokedAt: morning + 1 });
    });

    test('are revoked with the key that issued them, at any depth', async () => {
      const { keys } = await openWithOwner();
      const child = (id: string, parentId: string, extra = {}) =>
        keys.insert(aKey(id, { parentId, ...extra }));
      await keys.insert(aKey('key_1'));
      await keys.insert(aKey('key_other'));
      await child('key_2', 'key_1');
      await child('key_3', 'key_2');
      await child('key_4', 'key_3');
      await child('key_5', 'key_1');
      await child('key_6', 'key_other');
      await child('key_7', 'key_1', { revokedAt: morning });

      expect((await keys.revoke('ws_1', 'key_2', morning + 1)).sort()).toEqual(['key_2', 'key_3', 'key_4']);
      expect((await keys.revoke('ws_1', 'key_1', morning + 2)).sort()).toEqual(['key_1', 'key_5']);
      expect(await keys.byId('ws_1', 'key_3')).toMatchObject({ revokedAt: morning + 1 });
      expect(await keys.byId('ws_1', 'key_7')).toMatchObject({ revokedAt: morning });
      expect(await keys.byId('ws_1', 'key_6')).toMatchObject({ revokedAt: null });
    });

    test('are issued only by active keys, even at the same time', async () => {
      const { keys } = await openWithOwner();
      await keys.insert(aKey('key_1'));
      const [early, revoked, late] = await Promise.all([
        keys.insert(aKey('key_2', { parentId: 'key_1' })),
        keys.revoke('ws_1', 'key_1', morning),
        keys.insert(aKey('key_3', { parentId: 'key_1' })),
      ]);
      expect({ early, revoked: revoked.sort(), late }).toEqual({
        early: true,
        revoked: ['key_1', 'key_2'],
        late: false,
      });
      expect(await keys.byId('ws_1', 'key_3')).toBeUndefined();
    });

    test('keep their defaults until they are changed, in their own workspace alone', async () => {
      const { keys } = await openWithOwner();
      const defaults = { cache: 'read-write', store: false, events: null } as const;
      await keys.insert(aKey('key_1', { defaults }));
      expect((await keys.byDigest('digest of key_1'))?.defaults).toEqual(defaults);
      expect(await keys.setDefaults('ws_2', 'key_1', null)).toBe(false);
      expect((await keys.byId('ws_1', 'key_1'))?.defaults).toEqual(defaults);
      expect(await keys.setDefaults('ws_1', 'key_1', null)).toBe(true);
      expect((await keys.byId('ws_1', 'key_1'))?.defaults).toBeNull();
    });

    test('are only changed if they are as they were read, so that no change of another daemon is lost', async () => {
      const { keys } = await openWithOwner();
      const ofKey = async () => await keys.byId('ws_1', 'key_1');
      await keys.insert(aKey('key_1', { defaults: { cache: 'read-write', store: false, events: null } }));
      const read = (await ofKey())?.defaults ?? null;
      const changed = { cache: 'off', store: false, events: null } as const;
      expect(await keys.setDefaults('ws_1', 'key_1', changed, read)).toBe(true);
      expect(await keys.setDefaults('ws_1', 'key_1', null, read)).toBe(false);
      expect((await ofKey())?.defaults).toEqual(changed);
      const limits = { requestsPerMinute: 5, expiresAt: null } as never;
      expect(await keys.setLimits('ws_1', 'key_1', limits, null)).toBe(true);
      expect(await keys.setLimits('ws_1', 'key_1', null, null)).toBe(false);
      expect((await ofKey())?.limits).toEqual(limits);
    });

    test('keep their latest use, in whatever order uses are reported', async () => {
      const { keys } = await openWithOwner();
      await keys.insert(aKey('key_1'));
      await keys.touch([
        { keyId: 'key_1', at: morning + 5 },
        { keyId: 'key_unknown', at: morning },
      ]);
      await keys.touch([{ keyId: 'key_1', at: morning + 3 }]);
      expect(await keys.byId('ws_1', 'key_1')).toMatchObject({ lastUsedAt: morning + 5 });
    });

    test('get new secrets one at a time, and know the earlier ones with their ends', async () => {
      const { keys } = await openWithOwner();
      await keys.insert(aKey('key_1'));
      await keys.insert(aKey('key_2'));
      const key = { workspaceId: 'ws_1', keyId: 'key_1', hint: 'gwk_new…new' };
      const rotate = (before: string, digest: string, at: number, endsAt?: number) =>
        keys.rotate({ ...key, before, digest, at, endsAt });

      const first = 'digest of key_1';
      const racers = [1, 2, 3].map((racer) => rotate(first, `second ${racer}`, morning, morning + 100));
      expect((await Promise.all(racers)).filter(Boolean)).toHaveLength(1);
      const second = (await keys.byId('ws_1', 'key_1'))?.digest ?? '';
      expect(await keys.byDigest(second)).toMatchObject({ id: 'key_1', hint: key.hint, rotatedAt: morning });
      expect(await keys.byDigest(first)).toBeUndefined();
      const replaced = { digest: first, keyId: 'key_1', workspaceId: 'ws_1', hint: aKey('key_1').hint };
      expect(await keys.previousByDigest(first)).toEqual({
        ...replaced,
        replacedAt: morning,
        endsAt: morning + 100,
        lastUsedAt: null,
      });

      expect(await rotate(second, 'third', morning + 1, morning + 50)).toBe(true);
      const ends = async () =>
        (await keys.previousOf('key_1')).map(({ digest, endsAt }) => [digest, endsAt - morning]);
      expect(await ends()).toEqual([
        [second, 50],
        [first, 100],
      ]);
      expect(await rotate('third', 'fourth', morning + 2)).toBe(true);
      expect(await ends()).toEqual([
        ['third', 2],
        [second, 2],
        [first, 2],
      ]);
      let present = 'fourth';
      for (let at = 3; at < 12; at += 1) {
        await rotate(present, `at ${at}`, morning + at, morning + 1000);
        present = `at ${at}`;
      }
      expect((await ends()).map(([digest]) => digest)).toEqual(
        [10, 9, 8, 7, 6, 5, 4, 3].map((at) => `at ${at}`),
      );
      expect(await keys.previousOf('key_2')).toEqual([]);
      expect(
        await keys.rotate({ ...key, workspaceId: 'ws_2', before: present, digest: 'x', at: 1, endsAt: 2 }),
      ).toBe(false);
      await keys.revoke('ws_1', 'key_1', morning + 20);
      expect(await rotate(present, 'too late', morning + 21)).toBe(false);
    });

    test('note when previous secrets are used, and which were not before', async () => {
      const { keys } = await openWithOwner();
      await keys.insert(aKey('key_1'));
      const rotation = {
        workspaceId: 'ws_1',
        keyId: 'key_1',
        before: 'digest of key_1',
        hint: 'gwk_new…new',
      };
      await keys.rotate({ ...rotation, digest: 'second', at: morning, endsAt: morning + 100 });
      const use = (at: number) =>
        keys.touchPrevious([
          { digest: 'digest of key_1', at },
          { digest: 'of no key', at },
        ]);
      expect(await use(morning + 5)).toMatchObject([{ keyId: 'key_1', lastUsedAt: morning + 5 }]);
      expect(await use(morning + 7)).toEqual([]);
      expect(await use(morning + 6)).toEqual([]);
      expect(await keys.previousOf('key_1')).toMatchObject([{ lastUsedAt: morning + 7 }]);
    });

    test('are paused and resumed once, unless they are revoked', async () => {
      const { keys } = await openWithOwner();
      await keys.insert(aKey('key_1'));
      expect(await keys.setPaused('ws_2', 'key_1', morning)).toBe(false);
      expect(await keys.setPaused('ws_1', 'key_1', morning)).toBe(true);
      expect(await keys.setPaused('ws_1', 'key_1', morning + 1)).toBe(false);
      expect(await keys.byId('ws_1', 'key_1')).toMatchObject({ pausedAt: morning });
      expect(await keys.setPaused('ws_1', 'key_1', null)).toBe(true);
      expect(await keys.setPaused('ws_1', 'key_1', null)).toBe(false);
      await keys.revoke('ws_1', 'key_1', morning);
      expect(await keys.setPaused('ws_1', 'key_1', morning)).toBe(false);
    });
  });
}
