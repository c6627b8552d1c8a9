import { describe, expect, test } from 'vitest';
import type { Change, Topic } from '../../src/daemon/changes.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { addUsers, aKey, aLogin, morning, type OpenStorage } from './records.ts';

/** For each topic, writes that announce it, and what they announce. */
const writes: Record<Topic, (storage: Storage) => Promise<Change[]>> = {
  async revocation({ keys, people, tokens, workspaces }) {
    await keys.insert(aKey('key_1'));
    await keys.insert(aKey('key_2', { parentId: 'key_1' }));
    await workspaces.insertLogin(aLogin('key_old'));
    const token = { id: 'tok_1', userId: 'usr_1', digest: 'd', name: 'CI', abilities: [], expiresAt: null };
    await tokens.insert({ ...token, createdAt: morning, lastUsedAt: null, revokedAt: null });
    await keys.revoke('ws_1', 'key_1', morning);
    await tokens.revoke('usr_1', undefined, morning);
    await workspaces.replaceLogin(aLogin('key_new'));
    await people.revokeLogin('usr_1', 'key_new', morning);
    // Was revoked before.
    await people.revokeLogin('usr_1', 'key_new', morning);
    const ids = ['key_1', 'key_2', 'tok_1', 'key_old', 'key_new'];
    return ids.map((id) => ({ topic: 'revocation', id }));
  },
  async key({ keys }) {
    await keys.insert(aKey('key_1'));
    await keys.setLimits('ws_1', 'key_1', null);
    await keys.setDefaults('ws_1', 'key_1', null);
    const change: Change = { topic: 'key', workspaceId: 'ws_1', keyId: 'key_1' };
    return [change, change];
  },
  async role({ people }) {
    const member = { workspaceId: 'ws_2', userId: 'usr_2' };
    await people.setRole({ ...member, role: 'owner', at: morning, expected: [] });
    return [{ topic: 'role', ...member }];
  },
  async departure(storage) {
    await addMember(storage);
    const member = { workspaceId: 'ws_2', userId: 'usr_1' };
    const fallback = { id: 'ws_9', name: 'Ada', createdAt: morning, slugs: ['ada-9'] };
    await storage.people.removeMember({ ...member, at: morning, expected: [], fallback });
    return [{ topic: 'departure', ...member }];
  },
  async workspace({ people }) {
    const changes = { name: 'One', slug: 'one', membersMayIssueKeys: false, capture: 'off' } as const;
    await people.changeWorkspace('ws_1', changes);
    return [{ topic: 'workspace', workspaceId: 'ws_1' }];
  },
  async budget({ budgets }) {
    const key = { workspaceId: 'ws_1', id: 'team' };
    const rule = { scope: { kind: 'workspace', value: '' }, period: 'day', amount: 1, isHard: true } as const;
    await budgets.put(
      { ...key, ...rule, thresholds: [], createdAt: morning, updatedAt: morning },
      { max: 9 },
    );
    await budgets.remove('ws_1', 'team');
    return [
      { topic: 'budget', ...key },
      { topic: 'budget', ...key },
    ];
  },
  async peer({ peers }) {
    const settings = { keyFingerprint: null, allowedModels: null, maxInFlight: 1, enabled: true };
    const url = { url: 'https://attic.example', insecureHttp: false, mayBePrivate: false };
    const key = { workspaceId: 'ws_1', name: 'attic' };
    const record = { ...key, ...settings, ...url, addedAt: morning, updatedAt: morning };
    await peers.put(record, { key: 'keep', max: 9 });
    await peers.remove('ws_1', 'attic');
    return [
      { topic: 'peer', ...key },
      { topic: 'peer', ...key },
    ];
  },
  async provider_key({ providerKeys, vault }) {
    await vault.addMaster(aMaster('master_1'));
    const key = { workspaceId: 'ws_1', provider: 'openai' } as const;
    const record = { ...key, fingerprint: '0123456789ab', addedAt: morning, updatedAt: morning };
    await providerKeys.put(record, {
      name: 'provider-key|ws_1|openai',
      version: 1,
      kid: 'master_1',
      wrappedKey: 'w',
      sealed: 's',
    });
    await providerKeys.delete('ws_1', 'openai');
    return [
      { topic: 'provider_key', ...key },
      { topic: 'provider_key', ...key },
    ];
  },
  async vault({ vault }) {
    await vault.addMaster(aMaster('master_1'));
    await vault.rotate({ from: 'master_1', to: aMaster('master_2'), rewrapped: [] });
    return [{ topic: 'vault' }, { topic: 'vault' }];
  },
  async paywalls({ paywalls }) {
    const inserted = await paywalls.insert(aPaywall, ['first']);
    if (typeof inserted === 'string') throw new Error(inserted);
    await paywalls.replace(inserted, { ...inserted, status: 'paused' });
    return [{ topic: 'paywalls' }, { topic: 'paywalls' }];
  },
};

async function addMember({ people }: Storage): Promise<void> {
  const invitation = { id: 'inv_1', workspaceId: 'ws_2', digest: 'code', role: 'member', note: '' } as const;
  const dates = { createdAt: morning, expiresAt: morning + 1 };
  const unused = { acceptedBy: null, acceptedAt: null, revokedAt: null };
  await people.insertInvitation({ ...invitation, ...dates, ...unused, createdBy: 'usr_2' }, []);
  await people.acceptInvitation({ digest: 'code', userId: 'usr_1', at: morning });
}

const aMaster = (kid: string) =>
  ({ kid, store: 'file', proof: `proof of ${kid}`, wrapped: null, createdAt: morning }) as const;

const aPaywall = {
  id: 'pw_1',
  ownerId: 'usr_1',
  owner: 1,
  status: 'active' as const,
  host: null,
  pathPrefix: '/a',
  methods: [],
  upstream: { url: 'http://127.0.0.1:9000', rewritePrefix: null, timeoutMs: 1000 },
  headers: null,
  mayBePrivate: true,
  priceSats: 10,
  authScheme: 'l402' as const,
  token: { timeoutSeconds: 60, maxUses: 2, capabilities: [], constraints: {} },
  freePaths: [],
  freeRequestsPerDay: 0,
  rateLimit: null,
  allowedOrigins: [],
  createdAt: morning,
  updatedAt: morning,
  deletedAt: null,
};

export function changesContract(open: OpenStorage): void {
  describe('changes', () => {
    const topics = Object.entries(writes) as [Topic, (typeof writes)[Topic]][];
    test.each(topics)('of the topic %s are applied before their write resolves', async (topic, write) => {
      const storage = await open();
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
      const storage = await open();
      await addUsers(storage);
      const seen: Change[] = [];
      for (const topic of Object.keys(writes) as Topic[])
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
      const storage = await open();
      await addUsers(storage);
      const { changes, keys } = storage;
      changes.subscribe('revocation', () => Promise.reject(new Error('cannot be read again')));
      await keys.insert(aKey('key_1'));
      await expect(keys.revoke('ws_1', 'key_1', morning)).rejects.toThrow('cannot be read again');
    });
  });
}
