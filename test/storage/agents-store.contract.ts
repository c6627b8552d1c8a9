import { describe, expect, test } from 'vitest';
import type { SignUp } from '../../src/daemon/features/agents/store.ts';
import type { UsageRecord } from '../../src/daemon/features/metering/store.ts';
import { aUsage, dayMs, morning, type OpenStorage } from './records.ts';

export function agentsStoreContract(open: OpenStorage): void {
  const signUpOf = (name: string, changes: Partial<SignUp> = {}): SignUp => ({
    agent: {
      id: `agt_${name}`,
      workspaceId: `ws_${name}`,
      name,
      digest: `digest of ${name}`,
      hint: 'gwa_aaaa…zzzz',
      createdAt: morning,
    },
    slug: `agent-${name}`,
    challenge: { text: `challenge of ${name}`, expiresAt: morning + 60_000 },
    day: '2026-11-21',
    origins: [
      { origin: '10.1.2.3', max: 2 },
      { origin: '10.1.2.0/24', max: 3 },
    ],
    ...changes,
  });

  describe('agents', () => {
    test('are found by digest and id after signing up', async () => {
      const { agents, workspaces } = await open();
      const first = signUpOf('ann');
      expect(await agents.signUp(first)).toBe('created');
      expect(await agents.byDigest('digest of ann')).toEqual(first.agent);
      expect(await agents.find('agt_ann')).toEqual(first.agent);
      expect(await agents.byDigest('another')).toBeUndefined();
      expect(await workspaces.workspace('agent-ann')).toMatchObject({ id: 'ws_ann' });
    });

    test('use each challenge once, also at the same time', async () => {
      const { agents } = await open();
      const { challenge } = signUpOf('ann');
      const outcomes = await Promise.all(
        ['ann', 'ben', 'cat'].map((name) => agents.signUp(signUpOf(name, { challenge }))),
      );
      expect(outcomes.toSorted()).toEqual(['created', 'used', 'used']);
      expect(await agents.find('agt_cat')).toBeUndefined();
    });

    test('are limited per origin and day, and a refused one changes nothing', async () => {
      const { agents } = await open();
      const elsewhere = [
        { origin: '10.1.2.9', max: 2 },
        { origin: '10.1.2.0/24', max: 3 },
      ];
      expect(await agents.signUp(signUpOf('a'))).toBe('created');
      expect(await agents.signUp(signUpOf('b'))).toBe('created');
      expect(await agents.signUp(signUpOf('c'))).toBe('limit');
      expect(await agents.signUp(signUpOf('d', { origins: elsewhere }))).toBe('created');
      expect(await agents.signUp(signUpOf('e', { origins: elsewhere }))).toBe('limit');
      expect(await agents.signUp(signUpOf('c', { day: '2026-11-22' }))).toBe('created');
    });

    test('have used on the day a call started what it cost, for free or not', async () => {
      const { agents, metering } = await open();
      await agents.signUp(signUpOf('ann'));
      const settle = (id: string, tier: 'free' | 'paid', changes: Partial<UsageRecord> = {}) =>
        metering.settle({
          usage: aUsage(id, { keyId: 'agt_ann', charged: 0, ...changes }),
          entries: [],
          caller: 'agent',
          tier,
        });
      await settle('req_1', 'free', { completedAt: morning + dayMs });
      await settle('req_2', 'paid');
      await settle('req_3', 'free', { endpoint: '/v1/decisions' });
      await settle('req_4', 'free', { createdAt: morning + dayMs });
      const { totals } = await agents.used('agt_ann', '2026-11-21');
      expect(totals).toEqual({ freeRequests: 1, freeCost: 786, decisions: 1, others: 2, held: 0 });
      expect((await agents.used('agt_ann', '2026-11-22')).pool).toEqual({ spent: 786, held: 0 });
    });

    test('have used nothing on a day without calls', async () => {
      const { agents } = await open();
      await agents.signUp(signUpOf('ann'));
      const nothing = { freeRequests: 0, freeCost: 0, decisions: 0, others: 0, held: 0 };
      const pool = { spent: 0, held: 0 };
      expect(await agents.used('agt_ann', '2026-11-21')).toEqual({ totals: nothing, pool });
    });
  });
}
