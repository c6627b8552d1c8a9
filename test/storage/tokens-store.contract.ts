import { describe, expect, test } from 'vitest';
import type { TokenRecord } from '../../src/daemon/features/tokens/store.ts';
import { addUsers, morning, type OpenStorage } from './records.ts';

export function tokensStoreContract(open: OpenStorage): void {
  const aToken = (id: string, changes: Partial<TokenRecord> = {}): TokenRecord => ({
    id,
    userId: 'usr_1',
    digest: `digest of ${id}`,
    name: 'CI',
    abilities: ['whispers:read'],
    createdAt: morning,
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    makerId: null,
    ...changes,
  });
  const openWithTokens = async () => {
    const storage = await open();
    await addUsers(storage);
    const { tokens } = storage;
    await tokens.insert(aToken('tok_1'));
    await tokens.insert(aToken('tok_2', { expiresAt: morning + 5 }));
    await tokens.insert(aToken('tok_3', { userId: 'usr_2' }));
    return tokens;
  };

  describe('access tokens', () => {
    test('are found by digest', async () => {
      const tokens = await openWithTokens();
      expect(await tokens.byDigest('digest of tok_2')).toEqual(aToken('tok_2', { expiresAt: morning + 5 }));
      expect(await tokens.byDigest('another')).toBeUndefined();
    });

    test('have unique digests', async () => {
      const tokens = await openWithTokens();
      const twin = aToken('tok_4', { digest: 'digest of tok_1' });
      await expect(tokens.insert(twin)).rejects.toMatchObject({ code: 'conflict' });
    });

    test('are listed per user, newest first, without revoked ones', async () => {
      const tokens = await openWithTokens();
      const ids = async (userId: string) => (await tokens.list(userId)).map(({ id }) => id);
      expect(await ids('usr_1')).toEqual(['tok_2', 'tok_1']);
      await tokens.revoke('usr_1', 'tok_2', morning + 1);
      expect(await ids('usr_1')).toEqual(['tok_1']);
    });

    test('are revoked once, one by one or all of a user', async () => {
      const tokens = await openWithTokens();
      expect(await tokens.revoke('usr_1', 'tok_3', morning + 1)).toEqual([]);
      expect(await tokens.revoke('usr_1', 'tok_1', morning + 1)).toEqual(['tok_1']);
      expect(await tokens.revoke('usr_1', undefined, morning + 2)).toEqual(['tok_2']);
      expect(await tokens.byDigest('digest of tok_1')).toMatchObject({ revokedAt: morning + 1 });
      expect(await tokens.byDigest('digest of tok_3')).toMatchObject({ revokedAt: null });
    });

    test('end with the token that made them, and cannot be made by one that was revoked', async () => {
      const tokens = await openWithTokens();
      await tokens.insert(aToken('tok_4', { makerId: 'tok_1' }));
      await tokens.insert(aToken('tok_5', { makerId: 'tok_4' }));
      const all = await tokens.revoke('usr_1', 'tok_1', morning + 1);
      expect(all.sort()).toEqual(['tok_1', 'tok_4', 'tok_5']);
      expect(await tokens.insert(aToken('tok_6', { makerId: 'tok_4' }))).toBe(false);
      expect(await tokens.byDigest('digest of tok_6')).toBeUndefined();
    });

    test('keep the latest time of use', async () => {
      const tokens = await openWithTokens();
      await tokens.touch([{ id: 'tok_1', at: morning + 9 }]);
      await tokens.touch([
        { id: 'tok_1', at: morning + 3 },
        { id: 'tok_2', at: morning + 4 },
      ]);
      expect((await tokens.list('usr_1')).map(({ lastUsedAt }) => lastUsedAt)).toEqual([
        morning + 4,
        morning + 9,
      ]);
    });
  });
}
