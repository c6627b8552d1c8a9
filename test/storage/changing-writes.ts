import type { Change, Topic } from '../../src/daemon/base/changes.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { aKey, aLogin, morning } from './records.ts';

/** For each topic, writes that announce it, and what they announce. */
export const changingWrites: Record<
  Exclude<Topic, 'stop' | 'written' | 'content'>,
  (storage: Storage) => Promise<Change[]>
> = {
  async revocation({ keys, people, tokens, workspaces }) {
    const code = { digest: 'c', userId: 'usr_1', createdAt: morning, expiresAt: morning + 9, keep: false };
    await keys.insert(aKey('key_1'));
    await keys.insert(aKey('key_2', { parentId: 'key_1' }));
    await workspaces.insertLogin(aLogin('key_old'));
    const token = { id: 'tok_1', userId: 'usr_1', digest: 'd', name: 'CI', abilities: [], expiresAt: null };
    const fresh = { ...token, createdAt: morning, lastUsedAt: null, revokedAt: null };
    await tokens.insert({ ...fresh, makerId: null });
    await tokens.insert({ ...fresh, id: 'tok_2', digest: 'e', makerId: 'tok_1' });
    await keys.revoke('ws_1', 'key_1', morning);
    await tokens.revoke('usr_1', 'tok_1', morning);
    await workspaces.replaceLogin(aLogin('key_new'));
    await people.revokeLogin('usr_1', 'key_new', morning);
    // Was revoked before.
    await people.revokeLogin('usr_1', 'key_new', morning);
    await people.insertCode({ ...code, makerId: null });
    const replay = () =>
      people.redeemLink(
        'c',
        { id: 'key_link', digest: 'f', name: 'x', createdAt: morning, revokedAt: null, kind: 'browser' },
        { idleMs: { kept: 2, other: 1 }, at: morning },
      );
    await replay();
    await replay();
    const ids = ['key_1', 'key_2', 'tok_1', 'tok_2', 'key_old', 'key_new', 'key_link'];
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
  async host_key({ vault }) {
    await vault.addMaster(aMaster('master_1'));
    const sealed = { kid: 'master_1', wrappedKey: 'w', sealed: 's' };
    await vault.putSecret({ ...sealed, name: 'host-key|acme|https://acme.example', version: 1 });
    await vault.putSecret({ ...sealed, name: 'other', version: 1 });
    await vault.deleteSecret('other');
    await vault.deleteSecret('host-key|acme|https://acme.example');
    return [{ topic: 'host_key' }, { topic: 'host_key' }];
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
    const key = { workspaceId: 'ws_1', provider: 'openai', name: 'second' } as const;
    const record = { ...key, fingerprint: '0123456789ab', addedAt: morning, updatedAt: morning };
    await providerKeys.put(record, {
      name: 'provider-key|ws_1|openai|second',
      version: 1,
      kid: 'master_1',
      wrappedKey: 'w',
      sealed: 's',
    });
    await providerKeys.delete('ws_1', 'openai', 'second');
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
  async calibrations({ decisions }) {
    await decisions.saveCalibration({ model: 'sim/assistant', type: 'score', ...fitted });
    await decisions.removeCalibration({ model: 'sim/assistant', type: 'score' });
    return [{ topic: 'calibrations' }, { topic: 'calibrations' }];
  },
  async schedules({ autopilots }) {
    const handle = await autopilots.insert(anAutopilot, ['watcher']);
    const before = { ...anAutopilot, handle: String(handle) };
    await autopilots.replace(before, { ...before, displayName: 'Watcher' });
    return [{ topic: 'schedules' }, { topic: 'schedules' }];
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

const fitted = { temperature: 1, examples: 9, nllBefore: 1, nllAfter: 0.5, fittedAt: morning };

const anAutopilot = {
  id: 'ap_1',
  owner: 1,
  displayName: 'Pilot',
  avatar: '',
  tagline: '',
  status: 'active' as const,
  visibility: 'private' as const,
  configVersion: 1,
  createdAt: morning,
  updatedAt: morning,
  profile: {},
  policy: {},
  schedule: null,
  scheduledBy: null,
  nextRunAt: null,
};

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
