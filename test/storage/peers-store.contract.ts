import { describe, expect, test } from 'vitest';
import type {
  PeerAttemptRecord,
  PeerCounts,
  PeerHealth,
  PeerHealthChange,
  PeerRecordedHealth,
  PeerSettings,
} from '../../src/daemon/features/peers/store.ts';
import type { SealedSecret } from '../../src/daemon/features/vault/store.ts';
import { unusedPeer } from '../../src/daemon/storage/sqlite/peers/store.ts';
import { addUsers, morning, type OpenStorage } from './records.ts';

export function peersStoreContract(open: OpenStorage): void {
  const settings = (changes: Partial<PeerSettings> = {}): PeerSettings => ({
    workspaceId: 'ws_1',
    name: 'attic',
    url: 'https://attic.example',
    keyFingerprint: null,
    allowedModels: ['engine'],
    maxInFlight: 4,
    enabled: true,
    insecureHttp: false,
    mayBePrivate: false,
    addedAt: morning,
    updatedAt: morning,
    ...changes,
  });
  const health: PeerHealth = {
    latencyMs: 41.5,
    lastSeenAt: morning,
    benches: 1,
    benchedUntil: morning + 60_000,
    reason: 'timeout',
  };
  const added: PeerCounts = { answered: 3, failed: 2, compared: 20, agreed: 19 };
  const change: PeerHealthChange = { health, added };
  const used: PeerRecordedHealth = { ...health, ...added };
  const sealed = (version = 1): SealedSecret => ({
    name: 'peer-key|ws_1|attic',
    version,
    kid: 'master_1',
    wrappedKey: 'wrapped',
    sealed: `value ${version}`,
  });
  const attempt = (changes: Partial<PeerAttemptRecord> = {}): PeerAttemptRecord => ({
    workspaceId: 'ws_1',
    peer: 'attic',
    requestId: 'req_1',
    outcome: 'answered',
    code: 200,
    hedged: false,
    ms: 12,
    at: morning,
    ...changes,
  });
  const keeps = { key: 'keep', max: 2 } as const;
  const openWithUsers = async () => {
    const storage = await open();
    await addUsers(storage);
    await storage.vault.addMaster({
      kid: 'master_1',
      store: 'file',
      proof: 'proof',
      wrapped: null,
      createdAt: morning,
    });
    return storage;
  };

  describe('the peers store', () => {
    test('changes settings, and keeps the health of a peer whose address stays', async () => {
      const { peers } = await openWithUsers();
      expect(await peers.put(settings(), keeps)).toEqual({ ...settings(), ...unusedPeer });
      await peers.saveHealth(settings(), change);
      const changes = { maxInFlight: 2, allowedModels: null, updatedAt: morning + 1 };
      const changed = { ...settings(changes), ...used };
      expect(await peers.put(settings({ ...changes, addedAt: morning + 1 }), keeps)).toEqual(changed);
      expect(await peers.all()).toEqual([changed]);
      const moved = await peers.put(settings({ url: 'https://cellar.example' }), keeps);
      expect(moved).toMatchObject(unusedPeer);
    });

    test('limits the peers of a workspace', async () => {
      const { peers } = await openWithUsers();
      await peers.put(settings(), keeps);
      await peers.put(settings({ name: 'cellar' }), keeps);
      expect(await peers.put(settings({ name: 'garage' }), keeps)).toBe('full');
      expect(await peers.put(settings({ name: 'cellar', enabled: false }), keeps)).toMatchObject({
        enabled: false,
      });
      expect((await peers.all()).map(({ name }) => name)).toEqual(['attic', 'cellar']);
    });

    test('stores a key with its peer, and deletes it with it', async () => {
      const { peers, vault } = await openWithUsers();
      const withKey = settings({ keyFingerprint: '0123456789ab' });
      expect(await peers.put(withKey, { key: sealed(), max: 2 })).toMatchObject(withKey);
      expect(await peers.put(withKey, { key: sealed(), max: 2 })).toBe('outdated');
      // Another change replaced the key that was to stay.
      expect(await peers.put(settings({ keyFingerprint: 'ba9876543210' }), keeps)).toBe('outdated');
      expect(await peers.put(withKey, keeps)).toMatchObject(withKey);
      expect(await vault.secretsCount()).toBe(1);
      expect(await peers.put(settings(), { key: 'remove', max: 2 })).toMatchObject({ keyFingerprint: null });
      expect(await vault.secretsCount()).toBe(0);
      await peers.put(withKey, { key: sealed(), max: 2 });
      expect(await peers.remove('ws_1', 'attic')).toBe(true);
      expect(await peers.remove('ws_1', 'attic')).toBe(false);
      expect([await peers.all(), await vault.secretsCount()]).toEqual([[], 0]);
    });

    test('records calls with what they changed, and keeps the newest', async () => {
      const { peers } = await openWithUsers();
      await peers.put(settings(), keeps);
      for (const requestId of ['req_1', 'req_2', 'req_3'])
        await peers.attempted(attempt({ requestId }), change, 2);
      await peers.attempted(attempt({ peer: 'gone', requestId: 'req_4' }), change, 3);
      const page = { peer: undefined, limit: 10 };
      const listed = await peers.attempts('ws_1', page);
      expect(listed.map(({ requestId }) => requestId)).toEqual(['req_4', 'req_3', 'req_2']);
      expect(await peers.attempts('ws_1', { peer: 'attic', limit: 1 })).toEqual([
        attempt({ requestId: 'req_3' }),
      ]);
      expect(await peers.attempts('ws_2', page)).toEqual([]);
      const counts = { answered: 9, failed: 6, compared: 60, agreed: 57 };
      expect(await peers.all()).toEqual([{ ...settings(), ...health, ...counts }]);
    });
  });
}
