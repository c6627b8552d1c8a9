import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  AgentAllowances,
  createAdmission,
  type Hold,
  type HoldRecord,
  recoverHolds,
  type Settlement,
  settlementFor,
} from '../../../../../src/daemon/features/metering/index.ts';
import { ApiError } from '../../../../../src/shared/errors.ts';
import { utcDay } from '../../../../../src/shared/time/time.ts';
import { aHold, aUsage, dayMs, morning } from '../../../../storage/records.ts';

const midnight = morning - (morning % dayMs) + dayMs;
const freeTier = {
  models: ['sim/*'],
  requests: 20,
  budget: 5_000_000,
  sharedPool: 200_000_000,
  inputTokens: 16_000,
};
const granted = 1_000_000_000;

interface Started {
  hold: Hold;
  /** What the free tier reserves for it while it runs. */
  reserved: number;
  /** Undefined while it runs. */
  cost: number | undefined;
}

/** A host with a clock, a disk that acknowledges in any order, and a daemon that can be killed. */
class Host {
  now = midnight - 30_000;
  readonly #started = new Map<string, Started>();
  #running: Started[] = [];
  #wentBack = false;
  readonly #random: (below: number) => number;
  #holds = new Map<string, HoldRecord>();
  #settled = new Map<string, Settlement>();
  #acks: (() => void)[] = [];
  #admission = this.#start();
  #count = 0;

  constructor(random: (below: number) => number) {
    this.#random = random;
  }

  #ack<T>(make: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#acks.push(() => {
        try {
          resolve(make());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #start() {
    const agents = new AgentAllowances({
      store: {
        day: (agentId, day) => this.#ack(() => this.#dayOf(agentId, day)),
        freeCost: (day) =>
          this.#ack(() => this.#freeOn(day).reduce((sum, { usage }) => sum + (usage.cost?.total ?? 0), 0)),
      },
      settings: freeTier,
      now: () => this.now,
      agentsMax: 10,
    });
    return createAdmission({
      store: {
        hold: (record) =>
          this.#ack(() => {
            if (this.#random(50) === 0) throw new ApiError('unavailable');
            if (!this.#settled.has(record.requestId)) this.#holds.set(record.requestId, record);
          }),
        settle: (settlement) => this.#ack(() => this.#settle(settlement)),
      },
      state: () => ({ writable: true, reason: undefined }),
      limits: {
        clock: { now: () => this.now, elapsed: () => this.now, sleep: async () => {} },
        ledger: {
          keyFacts: () => Promise.reject(new Error('agents have no key')),
          balance: (workspaceId, { except }) =>
            this.#ack(() =>
              [...this.#settled.values()]
                .filter(({ usage }) => usage.workspaceId === workspaceId && !except.includes(usage.requestId))
                .reduce((left, { usage }) => left - usage.charged, isRich(workspaceId) ? granted : 0),
            ),
        },
      },
      agents,
    });
  }

  #settle(settlement: Settlement): number {
    const { requestId } = settlement.usage;
    expect(this.#settled.has(requestId)).toBe(false);
    this.#holds.delete(requestId);
    return this.#settled.set(requestId, settlement).size;
  }

  #freeOn(day: string): Settlement[] {
    const isOn = onDay(day);
    return [...this.#settled.values()].filter(({ tier, usage }) => tier === 'free' && isOn(usage.createdAt));
  }

  #dayOf(agentId: string, day: string) {
    const free = this.#freeOn(day).filter(({ usage }) => usage.keyId === agentId);
    const isOn = onDay(day);
    const calls = [...this.#settled.values()].filter(
      ({ usage }) => usage.keyId === agentId && isOn(usage.createdAt),
    );
    const freeCost = free.reduce((sum, { usage }) => sum + (usage.cost?.total ?? 0), 0);
    return { freeRequests: free.length, freeCost, decisions: 0, others: calls.length };
  }

  async call(agent: number, amount: number): Promise<void> {
    this.#count += 1;
    const id = `req_${this.#count}`;
    const agentId = `agt_${agent}`;
    const record = aHold(id, {
      keyId: agentId,
      workspaceId: `ws_${agent}`,
      endpoint: '/v1/responses',
      amount,
      promptCost: promptOf(amount),
      createdAt: this.now,
    });
    let reserved = amount;
    try {
      const hold = await this.#admission.hold(record, {
        policy: undefined,
        isPrepaid: true,
        agent: { agentId, outsideFreeTier: undefined, hasMaximum: false },
        fit: (affordable) => {
          if (affordable < amount / 4) return undefined;
          reserved = affordable;
          return affordable;
        },
      });
      const call = { hold, reserved, cost: undefined };
      this.#started.set(id, call);
      this.#running.push(call);
      this.#verify(agentId, utcDay(hold.record.createdAt));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const day = utcDay(Math.max(this.now, record.createdAt));
      if (error.code === 'agent_free_requests_used' && !this.#wentBack) {
        expect(this.#free(day, agentId)).toHaveLength(freeTier.requests);
      } else {
        expect(String(error.code)).toMatch(/^agent_free_(requests_used|budget_used|tier_full)$/);
      }
    }
  }

  #free(day: string, agentId?: string): Started[] {
    const isOn = onDay(day);
    return [...this.#started.values()].filter(
      ({ hold: { record } }) =>
        !record.isPrepaid && isOn(record.createdAt) && (agentId === undefined || record.keyId === agentId),
    );
  }

  /** The promises of the free tier; running calls count with what they reserve. */
  #verify(agentId: string, day: string): void {
    const costOf = (calls: Started[]) =>
      calls.reduce((sum, { cost, reserved }) => sum + (cost ?? reserved), 0);
    const own = this.#free(day, agentId);
    expect(own.length).toBeLessThanOrEqual(freeTier.requests);
    expect(costOf(own)).toBeLessThanOrEqual(freeTier.budget);
    expect(costOf(this.#free(day))).toBeLessThanOrEqual(freeTier.sharedPool);
  }

  settleOne(): void {
    const [call] = this.#running.splice(this.#random(this.#running.length), 1);
    if (!call) return;
    const { record } = call.hold;
    const id = record.requestId;
    const total = record.promptCost + this.#random(call.reserved - record.promptCost + 1);
    call.cost = total;
    const usage = aUsage(id, {
      keyId: record.keyId,
      workspaceId: record.workspaceId,
      endpoint: record.endpoint,
      cost: { provider: total, margin: 0, total },
      charged: Math.min(total, record.amount),
      createdAt: record.createdAt,
      completedAt: this.now,
    });
    this.#admission.settle(call.hold, settlementFor(usage)).catch(() => {});
  }

  acknowledgeOne(): void {
    this.#acks.splice(this.#random(this.#acks.length), 1)[0]?.();
  }

  setBack(ms: number): void {
    this.#wentBack = true;
    this.now -= ms;
  }

  /** What is not on disk is lost; a client saw nothing of a call before its hold was written. */
  async kill(): Promise<void> {
    this.#acks = [];
    this.#running = [];
    for (const [id, call] of this.#started) {
      if (this.#settled.has(id)) continue;
      if (this.#holds.has(id)) call.cost = call.hold.record.promptCost;
      else this.#started.delete(id);
    }
    await recoverHolds({
      store: {
        leftHolds: async () =>
          [...this.#holds.values()].map((hold) => ({
            ...hold,
            progressTokens: null,
            progressCost: null,
            provider: null,
          })),
        settle: async (settlement) => this.#settle(settlement),
      },
      now: () => this.now,
      marginPpm: 0,
      daemon: 1,
    });
    this.#admission = this.#start();
  }

  get isIdle(): boolean {
    return this.#acks.length === 0;
  }
}

function onDay(day: string) {
  const start = Date.parse(day);
  return (time: number) => time >= start && time < start + dayMs;
}

/** Less than what `fit` accepts. */
function promptOf(amount: number): number {
  return Math.floor(amount / 5);
}

/** A tenth of the agents has credit. */
function isRich(workspaceId: string): boolean {
  return workspaceId.endsWith('7');
}

function randomOf(seed: number) {
  let state = seed >>> 0;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** An admission of agents whose store answers at once. */
function admissionOf(usedForFree: number, day = async () => nothingUsed) {
  const agents = new AgentAllowances({
    store: { day, freeCost: async () => 0 },
    settings: { ...freeTier, budget: freeTier.budget - usedForFree },
    now: () => morning,
  });
  const settled: Settlement[] = [];
  const admission = createAdmission({
    store: { hold: async () => {}, settle: async (settlement) => settled.push(settlement) },
    state: () => ({ writable: true, reason: undefined }),
    limits: {
      clock: { now: () => morning, elapsed: () => 0, sleep: async () => {} },
      ledger: {
        keyFacts: () => Promise.reject(new Error('agents have no key')),
        balance: async (workspaceId) => (isRich(workspaceId) ? granted : 0),
      },
    },
    agents,
  });
  const hold = (agent: number, amount: number) =>
    admission.hold(aHold('req_1', { keyId: `agt_${agent}`, workspaceId: `ws_${agent}`, amount }), {
      policy: undefined,
      isPrepaid: true,
      agent: { agentId: `agt_${agent}`, outsideFreeTier: undefined, hasMaximum: false },
      fit: (affordable) => affordable,
    });
  return { admission, agents, settled, hold };
}
const nothingUsed = { freeRequests: 0, freeCost: 0, decisions: 0, others: 0 };

test('credit pays for a whole output rather than that the free tier shortens it', async () => {
  const { hold } = admissionOf(4_000_000);
  expect((await hold(7, 2_000_000)).record).toMatchObject({ amount: 2_000_000, isPrepaid: true });
  expect((await hold(1, 2_000_000)).record).not.toHaveProperty('isPrepaid');
});

test('the shared pool is full from a call that was refused for it until one is admitted or money returns', async () => {
  const agents = new AgentAllowances({
    store: { day: async () => nothingUsed, freeCost: async () => 0 },
    settings: { ...freeTier, sharedPool: 6_000_000 },
    now: () => morning,
  });
  const take = (agentId: string, amount: number) =>
    agents.take(
      aHold('req_1', { keyId: agentId, amount }),
      { agentId, outsideFreeTier: undefined, hasMaximum: true },
      { balance: 0, fit: () => undefined },
    );
  const states = async () => [(await agents.use('agt_1')).isPoolFull, (await agents.use('agt_2')).isPoolFull];
  expect(await states()).toEqual([false, false]);
  const { free } = take('agt_1', 4_000_000);
  expect(await states()).toEqual([false, false]);
  expect(() => take('agt_2', 3_000_000)).toThrow(expect.objectContaining({ code: 'agent_free_tier_full' }));
  expect(await states()).toEqual([true, true]);
  take('agt_2', 0);
  expect(await states()).toEqual([true, true]);
  take('agt_2', 1_000_000);
  expect(await states()).toEqual([false, false]);
  expect(() => take('agt_2', 3_000_000)).toThrow();
  agents.end('agt_1', free, 1_000_000);
  expect(await states()).toEqual([false, false]);
  take('agt_2', 3_000_000);
});

test('a call that credit pays for takes nothing from the free tier, even if it costs nothing', async () => {
  const { admission, settled, hold } = admissionOf(4_000_000);
  const nothing = { cost: { provider: 0, margin: 0, total: 0 }, charged: 0 };
  const paid = await hold(7, 2_000_000);
  await admission.settle(paid, settlementFor(aUsage('req_1', { keyId: 'agt_7', ...nothing })));
  const free = await hold(7, 500_000);
  await admission.settle(free, settlementFor(aUsage('req_1', { keyId: 'agt_7', ...nothing })));
  expect(settled.map(({ caller, tier }) => [caller, tier])).toEqual([
    ['agent', 'paid'],
    ['agent', 'free'],
  ]);
});

test('totals that cannot be read fail one call, not those after it', async () => {
  let isBroken = true;
  const { hold } = admissionOf(0, async () => {
    if (isBroken) throw new Error('an I/O error');
    return nothingUsed;
  });
  await expect(hold(1, 1000)).rejects.toMatchObject({ code: 'unavailable' });
  isBroken = false;
  expect((await hold(1, 1000)).record.amount).toBe(0);
});

test('agents never get more for free than promised: over midnight, kills and lost writes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const random = randomOf(seed);
      const host = new Host(random);
      const left = Array.from({ length: 100 }, () => 40);
      const failures: unknown[] = [];
      let calls = 4000;
      while (calls > 0 || !host.isIdle) {
        const step = random(10);
        if (step < 4 && calls > 0) {
          // Neighbours come in turn, so that agents are forgotten and loaded again.
          const near = Math.floor((4000 - calls) / 80);
          let agent = (near + random(12)) % 100;
          while ((left[agent] ?? 0) === 0) agent = (agent + 1) % 100;
          left[agent] = (left[agent] ?? 0) - 1;
          calls -= 1;
          host.call(agent, agent % 3 === 0 ? 0 : random(1_000_000)).catch((error) => failures.push(error));
        } else if (step < 6) host.settleOne();
        else host.acknowledgeOne();
        host.now += random(15);
        if (random(2000) === 0) host.setBack(random(20_000));
        if (random(1500) === 0) await host.kill();
        await new Promise(setImmediate);
        if (failures.length > 0) throw failures[0];
      }
    }),
    { numRuns: 2 },
  );
});
