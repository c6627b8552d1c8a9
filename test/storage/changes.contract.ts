import { describe, expect, test } from 'vitest';
import type { Change, Topic } from '../../src/daemon/base/changes.ts';
import { changingWrites } from './changing-writes.ts';
import { addUsers, aKey, aLogin, morning, type OpenStorage } from './records.ts';

export function changesContract(open: OpenStorage): void {
  describe('changes', () => {
    const topics = Object.entries(changingWrites) as [
      Topic,
      (typeof changingWrites)[keyof typeof changingWrites],
    ][];
    test.each(topics)('of the topic %s are applied before their write resolves', async (topic, write) => {
      const storage = await open({ isOwn: true });
      await addUsers(storage);
      const seen: Change[] = [];
      storage.changes.subscribe(topic, async (change) => {
        await new Promise(setImmediate);
        seen.push(change);
      });
      expect(await write(storage)).toEqual(seen);
      expect(seen.length).toBeGreaterThan(0);
    });

    test('of a deleted user end their credentials and memberships, and what they offered', async () => {
      const storage = await open({ isOwn: true });
      await addUsers(storage);
      const seen: Change[] = [];
      for (const topic of Object.keys(changingWrites) as Topic[])
        storage.changes.subscribe(topic, (change) => seen.push(change));
      await storage.workspaces.insertLogin(aLogin('key_login', { userId: 'usr_2' }));
      await storage.profile.remove('usr_2', morning);
      expect(seen).toEqual([
        { topic: 'revocation', id: 'key_login' },
        { topic: 'departure', workspaceId: 'ws_2', userId: 'usr_2' },
        { topic: 'paywalls' },
      ]);
    });

    test('that a subscriber cannot apply fail the write that made them', async () => {
      const storage = await open({ isOwn: true });
      await addUsers(storage);
      const { changes, keys } = storage;
      changes.subscribe('revocation', () => Promise.reject(new Error('cannot be read again')));
      await keys.insert(aKey('key_1'));
      await expect(keys.revoke('ws_1', 'key_1', morning)).rejects.toThrow('cannot be read again');
    });
  });
}
