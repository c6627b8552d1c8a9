import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SqliteStorage } from '../../../../src/daemon/storage/sqlite/open.ts';
import { utcDay } from '../../../../src/shared/time/time.ts';
import { addUsers, aSettlement, dayMs } from '../../../storage/records.ts';
import { type AdmittedCall, freeTier, sharedMembers } from '../../../support/shared-members.ts';
import { openTemporarily } from './temporary.ts';

const { open, cleanUp } = openTemporarily();
let storage: SqliteStorage;
let runs = 0;

beforeAll(async () => {
  storage = await open();
  await addUsers(storage);
});

afterAll(cleanUp);

interface Seen {
  agent: string;
  day: string;
  /** What it may cost at most. */
  free: number;
  cost: number | undefined;
  admitted: AdmittedCall;
}

/** Free calls of three agents through two members, on days that other runs do not use. */
class Scene {
  readonly seen: Seen[] = [];
  readonly shared = sharedMembers([storage], { count: 2 });
  readonly #run: number;

  constructor() {
    runs += 1;
    this.#run = runs;
    this.shared.time.now += runs * 100 * dayMs;
  }

  async call(number: number, amount: number): Promise<void> {
    const agent = `agt_${this.#run}_${number}`;
    const requestId = `req_${this.#run}_${this.seen.length}_${Math.random()}`;
    const record = { requestId, keyId: agent, workspaceId: `ws_of_${agent}`, amount };
    const terms = {
      isPrepaid: true,
      agent: { agentId: agent, outsideFreeTier: undefined, hasMaximum: false },
      fit: (affordable: number) => (affordable >= amount / 4 ? Math.min(affordable, amount) : undefined),
    };
    const admitted = await this.shared.hold(undefined, record, terms).catch((error: { code: string }) => {
      expect(error.code).toMatch(/^agent_free_(requests_used|budget_used|tier_full)$/);
    });
    if (!admitted) return;
    const { free = 0, createdAt } = admitted.hold.record;
    this.seen.push({ agent, day: utcDay(createdAt), free, cost: undefined, admitted });
  }

  /** `isByHeir`: the member died, and another one settles the call as the hold says. */
  async settle(call: Seen, charge: number, isByHeir: boolean): Promise<void> {
    call.cost = Math.min(charge, call.free);
    if (!isByHeir) {
      await call.admitted.settle(call.cost);
      return;
    }
    const { requestId, createdAt, workspaceId, keyId } = call.admitted.hold.record;
    const cost = { provider: call.cost, margin: 0, total: call.cost };
    const usage = { keyId, workspaceId, createdAt, completedAt: this.shared.time.now, charged: 0, cost };
    const settlement = aSettlement(requestId, usage);
    await storage.metering.settle({ ...settlement, entries: [], caller: 'agent', tier: 'free' });
  }

  /** Nobody gets more for free on a day than was promised. */
  check(): void {
    const byDay = Map.groupBy(this.seen, ({ day }) => day);
    const taken = (calls: readonly Seen[]) => calls.reduce((sum, { cost, free }) => sum + (cost ?? free), 0);
    for (const calls of byDay.values()) {
      expect(taken(calls)).toBeLessThanOrEqual(freeTier.sharedPool);
      for (const ofAgent of Map.groupBy(calls, ({ agent }) => agent).values()) {
        expect(ofAgent.length).toBeLessThanOrEqual(freeTier.requests);
        expect(taken(ofAgent)).toBeLessThanOrEqual(freeTier.budget);
      }
    }
  }
}

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      calls: fc.array(fc.record({ agent: fc.nat({ max: 2 }), amount: fc.integer({ min: 1, max: 3_000 }) }), {
        minLength: 1,
        maxLength: 12,
      }),
      settles: fc.array(
        fc.record({ at: fc.nat(), charge: fc.integer({ min: 0, max: 3_000 }), isByHeir: fc.boolean() }),
        { maxLength: 6 },
      ),
    }),
  },
  fc.record({ laterMs: fc.integer({ min: 1, max: dayMs }) }),
);

test('agents never get more for free than promised: at the same time, over midnight, and when members die', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
      const scene = new Scene();
      for (const each of steps) {
        if ('laterMs' in each) {
          scene.shared.time.now += each.laterMs;
          continue;
        }
        const running = scene.seen.filter(({ cost }) => cost === undefined);
        const ends = each.settles.flatMap(({ at, charge, isByHeir }) => {
          const [call] = running.length === 0 ? [] : running.splice(at % running.length, 1);
          return call ? [scene.settle(call, charge, isByHeir)] : [];
        });
        const calls = each.calls.map(({ agent, amount }) => scene.call(agent, amount));
        await Promise.all([...ends, ...calls]);
        scene.check();
      }
    }),
    { numRuns: 30 },
  );
});
