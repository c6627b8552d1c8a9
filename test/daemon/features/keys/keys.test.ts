import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Caller, RelayReply } from '../../../../src/daemon/base/handler.ts';
import { createEventFeed } from '../../../../src/daemon/features/events/index.ts';
import {
  createActiveKeys,
  createAuthenticator,
  createKeyRotation,
  createKeySettings,
  createKeys,
  keyHandlers,
  sha256,
} from '../../../../src/daemon/features/keys/index.ts';
import { createUsageReader } from '../../../../src/daemon/features/metering/index.ts';
import { createWorkspaces } from '../../../../src/daemon/features/workspaces/index.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';
import { type ScopeName, scopeNames } from '../../../../src/shared/contract/endpoint.ts';
import { getKey, issueKey, listKeys, revokeKey } from '../../../../src/shared/contract/keys.ts';
import { idMaker } from '../../../../src/shared/ids.ts';
import { callHandler, replyOf } from '../../../support/call-handler.ts';
import { fakeWorld, passedBy } from '../../../support/fake-world.ts';
import {
  memoryEventsStore,
  memoryKeysStore,
  memoryMeteringReads,
  memoryWorkspacesStore,
} from '../../../support/memory-stores.ts';

/** Ann owns Acme, Adam is an admin and Meg a member; Otto has his own workspace. */
function makeDaemon() {
  const world = fakeWorld();
  const store = memoryKeysStore();
  const people = memoryWorkspacesStore();
  people.addUser({ id: 'usr_ann', workspaces: [['ws_acme', 'owner']] });
  people.addUser({ id: 'usr_adam', workspaces: [['ws_acme', 'admin']] });
  people.addUser({ id: 'usr_meg', workspaces: [['ws_acme', 'member']] });
  people.addUser({ id: 'usr_otto', workspaces: [['ws_other', 'owner']] });
  const metering = memoryMeteringReads();
  const events = memoryEventsStore();
  const activeKeys = createActiveKeys({ store, changes: store.changes, passed: passedBy(world.now) });
  const authentic = createAuthenticator({
    activeKeys,
    keysStore: store,
    workspacesStore: people,
    changes: store.changes,
    digest: sha256,
    now: world.now,
    passed: passedBy(world.now),
  });
  const deps = {
    store,
    logins: people,
    workspaces: createWorkspaces({ store: people, changes: store.changes }),
    usage: createUsageReader({ store: metering, now: world.now }),
    events: createEventFeed({ store: events, world }),
    authenticator: authentic,
    digest: sha256,
    makeId: idMaker(world.now, world.randomBytes),
    randomBytes: world.randomBytes,
    now: world.now,
  };
  const feature = createKeys(deps);
  const settings = createKeySettings({
    store,
    workspaces: createWorkspaces({ store: people, changes: store.changes }),
    admission: {
      usedBy: async () => ({
        spend: { total: 0, day: 0, week: 0, month: 0 },
        ofCap: undefined,
        requestsLastMinute: 0,
      }),
    },
    lastUse: authentic.lastUse,
    lastPreviousUse: authentic.lastPreviousUse,
    now: world.now,
  });
  const handlers = keyHandlers({
    keys: feature,
    rotation: createKeyRotation(deps),
    settings,
    agentView: () => Promise.reject(new Error('no agent calls here')),
    now: world.now,
  });

  const login = (name: string): Caller => ({
    kind: 'login',
    loginId: `key_login_${name}`,
    userId: `usr_${name}`,
    workspaceId: name === 'otto' ? 'ws_other' : 'ws_acme',
    revoked: new AbortController().signal,
  });
  const withSecret = async (secret: string) => await authentic.authenticate(`Bearer ${secret}`);
  const issue = async (
    caller: Caller,
    body: { name?: string; scopes?: ScopeName[] } = {},
    workspace = 'me',
  ) => {
    await world.advance(1);
    return await callHandler(handlers, issueKey, { caller, params: { workspace }, body });
  };
  const revoke = (caller: Caller, key: string, workspace = 'acme') =>
    callHandler(handlers, revokeKey, { caller, params: { workspace, key } });
  return { world, store, people, metering, events, handlers, login, withSecret, issue, revoke };
}

let daemon: ReturnType<typeof makeDaemon>;
let ann: Caller;
beforeEach(() => {
  daemon = makeDaemon();
  ann = daemon.login('ann');
});

describe('issuing a key', () => {
  test('uses the default scopes unless others are requested', async () => {
    const { key, secret } = await daemon.issue(ann, { name: 'ci' });
    expect(key).toMatchObject({
      name: 'ci',
      workspace: 'ws_acme',
      owner: 'usr_ann',
      status: 'active',
      scopes: ['responses', 'models:read', 'usage:read'],
      revoked_at: null,
    });
    expect(key.hint).toBe(`${secret.slice(0, 8)}…${secret.slice(-4)}`);
  });

  test('creates a key that works, and stores only a digest of its secret', async () => {
    const { key, secret } = await daemon.issue(ann);
    expect(await daemon.withSecret(secret)).toMatchObject({ kind: 'key', keyId: key.id });
    expect(JSON.stringify([...daemon.store.records.values()])).not.toContain(secret.slice(8, -4));
  });

  test('forbids caching the response', async () => {
    const reply = await replyOf(daemon.handlers, issueKey, { caller: ann, params: { workspace: 'me' } });
    expect(reply).toBeInstanceOf(RelayReply);
    expect((reply as RelayReply).headers).toMatchObject({ 'cache-control': 'no-store, no-transform' });
  });

  test('needs no body', async () => {
    const { key } = await callHandler(daemon.handlers, issueKey, {
      caller: ann,
      params: { workspace: 'me' },
    });
    expect(key.scopes).toEqual(['responses', 'models:read', 'usage:read']);
  });

  test.each([['me'], ['acme'], ['ws_acme']])('accepts the workspace %s', async (workspace) => {
    expect((await daemon.issue(ann, {}, workspace)).key.workspace).toBe('ws_acme');
  });

  test.each([
    ['a member', 'meg', 'acme'],
    ['a stranger', 'otto', 'acme'],
    ['an unknown workspace', 'ann', 'nowhere'],
  ])('is forbidden to %s', async (_who, name, workspace) => {
    await expect(daemon.issue(daemon.login(name), {}, workspace)).rejects.toMatchObject({
      code: 'permission',
    });
  });

  test('emits an event without the secret', async () => {
    const { key, secret } = await daemon.issue(ann, { name: 'ci' });
    expect(daemon.events.kept).toMatchObject([
      { type: 'key.issued', workspaceId: 'ws_acme', data: { key: key.id, name: 'ci' } },
    ]);
    expect(JSON.stringify(daemon.events.kept)).not.toContain(secret);
  });
});

describe('a key that issues a key', () => {
  const issuerWith = async (scopes: ScopeName[]) => {
    const { key, secret } = await daemon.issue(ann, { scopes });
    return { key, caller: await daemon.withSecret(secret) };
  };

  test('passes on the default scopes that it has', async () => {
    const issuer = await issuerWith(['keys', 'usage:read', 'threads']);
    const { key } = await daemon.issue(issuer.caller);
    expect(key.scopes).toEqual(['usage:read']);
    expect(key.owner).toBe('usr_ann');
    expect(daemon.store.records.get(key.id)?.parentId).toBe(issuer.key.id);
  });

  test('never passes on more than it has', async () => {
    const anyScopes = fc.uniqueArray(fc.constantFrom(...scopeNames), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(anyScopes, anyScopes, async (own, wanted) => {
        const issuer = await issuerWith([...own, 'keys']);
        const allowed = wanted.every((scope) => scope === 'keys' || own.includes(scope));
        const issued = daemon.issue(issuer.caller, { scopes: wanted });
        if (allowed) expect(new Set((await issued).key.scopes)).toEqual(new Set(wanted));
        else await expect(issued).rejects.toMatchObject({ code: 'out_of_scope', param: 'scopes' });
      }),
      { numRuns: 40 },
    );
  });

  test('can only do so in its own workspace', async () => {
    const { caller } = await issuerWith(['keys']);
    await expect(daemon.issue(caller, {}, 'other')).rejects.toMatchObject({ code: 'permission' });
  });
});

describe('listing keys', () => {
  const list = (caller: Caller, query: { limit?: number; after?: string } = {}, workspace = 'acme') =>
    callHandler(daemon.handlers, listKeys, { caller, params: { workspace }, query });

  test('shows pages, newest first, to any member', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await daemon.issue(ann, { name });
    const names: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof list>> = await list(
        daemon.login('meg'),
        after === null ? { limit: 2 } : { limit: 2, after },
      );
      names.push(...page.data.map((key) => key.name));
      expect(page.has_more).toBe(page.next !== null);
      after = page.next;
    } while (after !== null);
    expect(names).toEqual(['e', 'd', 'c', 'b', 'a']);
  });

  test('shows no secrets, and includes revoked keys', async () => {
    const { key, secret } = await daemon.issue(ann);
    await daemon.revoke(ann, key.id);
    const { data } = await list(ann);
    expect(data).toMatchObject([{ id: key.id, status: 'revoked' }]);
    expect(JSON.stringify(data)).not.toContain(secret.slice(8, -4));
    expect(JSON.stringify(data)).not.toContain(sha256(secret));
  });

  test('shows a use that is not stored yet', async () => {
    const { secret } = await daemon.issue(ann);
    await daemon.withSecret(secret);
    expect((await list(ann)).data[0]?.last_used_at).toBe(new Date(daemon.world.now()).toISOString());
  });

  test('is forbidden to others, without revealing which workspaces exist', async () => {
    const failureOf = (workspace: string) =>
      list(daemon.login('otto'), {}, workspace).catch(({ code, message }) => ({ code, message }));
    expect(await failureOf('acme')).toMatchObject({ code: 'permission' });
    expect(await failureOf('acme')).toEqual(await failureOf('nowhere'));
  });
});

test('the depth of keys that issue keys is limited', async () => {
  let { secret } = await daemon.issue(ann, { scopes: ['keys'] });
  for (let generation = 2; generation <= 16; generation += 1)
    ({ secret } = await daemon.issue(await daemon.withSecret(secret), { scopes: ['keys'] }));
  await expect(daemon.issue(await daemon.withSecret(secret), { scopes: ['keys'] })).rejects.toMatchObject({
    code: 'permission',
  });
});

describe('revoking a key', () => {
  test('works once, immediately', async () => {
    const { key, secret } = await daemon.issue(ann);
    const caller = await daemon.withSecret(secret);
    expect(await daemon.revoke(ann, key.id)).toEqual({
      id: key.id,
      object: 'key',
      deleted: true,
      also_revoked: [],
    });
    expect(caller).toMatchObject({ revoked: { aborted: true } });
    await expect(daemon.withSecret(secret)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(daemon.revoke(ann, key.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(daemon.events.kept.map(({ type }) => type)).toEqual(['key.issued', 'key.revoked']);
  });

  test('revokes the keys that it issued, with an event for each', async () => {
    const scopes: ScopeName[] = ['responses', 'keys'];
    const parent = await daemon.issue(ann, { scopes });
    const child = await daemon.issue(await daemon.withSecret(parent.secret), { scopes });
    const grandchild = await daemon.issue(await daemon.withSecret(child.secret), {});
    const running = await daemon.withSecret(grandchild.secret);

    const { also_revoked: others } = await daemon.revoke(ann, parent.key.id);
    expect([...others].sort()).toEqual([child.key.id, grandchild.key.id].sort());
    expect(running).toMatchObject({ revoked: { aborted: true } });
    for (const { secret } of [parent, child, grandchild]) {
      await expect(daemon.withSecret(secret)).rejects.toMatchObject({ code: 'unauthenticated' });
    }
    const reported = daemon.events.kept.filter(({ type }) => type === 'key.revoked');
    expect(reported.map(({ data }) => data.key).sort()).toEqual([parent.key.id, ...others].sort());
  });

  test('leaves it no time to issue another', async () => {
    const parent = await daemon.issue(ann, { scopes: ['keys'] });
    const caller = await daemon.withSecret(parent.secret);
    await daemon.revoke(ann, parent.key.id);
    await expect(daemon.issue(caller, { scopes: ['keys'] })).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    expect(daemon.store.records.size).toBe(1);
  });

  test('is allowed for its owner and the workspace’s owners and admins', async () => {
    const issueForMeg = async () => {
      const { key } = await daemon.issue(ann);
      const record = daemon.store.records.get(key.id);
      if (record) record.ownerId = 'usr_meg';
      return key.id;
    };
    for (const name of ['meg', 'adam', 'ann']) {
      await expect(daemon.revoke(daemon.login(name), await issueForMeg())).resolves.toMatchObject({
        deleted: true,
      });
    }
  });

  test.each([
    ['a member whose key it is not', 'meg', 'acme'],
    ['a stranger', 'otto', 'acme'],
    ['a stranger through a workspace of their own', 'otto', 'other'],
    ['the owner through a workspace that is not', 'ann', 'nowhere'],
  ])('is not found for %s', async (_who, name, workspace) => {
    const { key } = await daemon.issue(ann);
    const failureOf = (id: string) =>
      daemon
        .revoke(daemon.login(name), id, workspace)
        .catch(({ code, message, param }) => ({ code, message: message.replace(id, 'ID'), param }));
    expect(await failureOf(key.id)).toMatchObject({ code: 'not_found' });
    expect(await failureOf(key.id)).toEqual(await failureOf('key_unknown'));
    expect(daemon.store.records.get(key.id)?.revokedAt).toBeNull();
  });
});

describe('the calling key', () => {
  const usage = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  const charge = (keyId: string | null, charged: number, completedAt: number) =>
    daemon.metering.calls.push({
      requestId: `req_${daemon.metering.calls.length}`,
      responseId: null,
      workspaceId: 'ws_acme',
      keyId,
      endpoint: '/v1/responses',
      model: 'sim/assistant',
      provider: 'simulator',
      streamed: false,
      ownKey: false,
      status: 'completed',
      errorCode: null,
      tokens: usage,
      tokensReported: true,
      cost: null,
      charged,
      prices: null,
      labels: noLabels,
      cache: null,
      httpStatus: 200,
      attempts: [],
      ttftMs: null,
      totalMs: 1,
      createdAt: completedAt,
      completedAt,
    });

  test('sees itself with its spending', async () => {
    const { key, secret } = await daemon.issue(ann, { name: 'ci' });
    const now = daemon.world.now();
    charge(key.id, 1_500_000_000, now);
    charge(key.id, 250_000_000, now - 2 * 24 * 3600 * 1000);
    charge(key.id, 42_000, now - 60 * 24 * 3600 * 1000);
    charge('key_somebody_else', 9_000_000_000, now);
    const view = await callHandler(daemon.handlers, getKey, { caller: await daemon.withSecret(secret) });
    expect(view).toMatchObject({
      id: key.id,
      name: 'ci',
      workspace: 'ws_acme',
      balance_usd: null,
      spend_usd: { total: '1.750042', day: '1.5', month: '1.75' },
      limits: { spend_cap: null, expires_at: null },
      free_tier: null,
      last_used_at: new Date(now).toISOString(),
    });
  });

  test('can be a login, with its workspace’s spending', async () => {
    await daemon.people.insertLogin({
      id: 'key_login_ann',
      userId: 'usr_ann',
      digest: 'd',
      name: 'local',
      createdAt: 0,
      revokedAt: null,
    });
    charge('key_one', 1_000_000_000, daemon.world.now());
    charge(null, 500_000_000, daemon.world.now());
    const view = await callHandler(daemon.handlers, getKey, { caller: ann });
    expect(view).toMatchObject({ id: 'key_login_ann', name: 'local', spend_usd: { total: '1.5' } });
    expect(view.scopes).toEqual([...scopeNames]);
  });

  test('must not be anonymous', async () => {
    const asked = callHandler(daemon.handlers, getKey, { caller: { kind: 'anonymous' } });
    await expect(asked).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});
