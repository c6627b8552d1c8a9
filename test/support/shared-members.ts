import { setImmediate } from 'node:timers/promises';
import type { KeyLimits, KeyPolicy } from '../../src/daemon/base/handler.ts';
import type { World } from '../../src/daemon/base/world.ts';
import type { HoldTerms } from '../../src/daemon/features/metering/admission/hold-terms.ts';
import {
  AgentAllowances,
  type BudgetNews,
  BudgetRules,
  type CapWarning,
  createAdmission,
  type FreeTierSettings,
  type Hold,
  type HoldRecord,
} from '../../src/daemon/features/metering/index.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { aHold, aSettlement, morning } from '../storage/records.ts';

export const noLimits: KeyLimits = {
  spendCap: null,
  maxPrice: null,
  models: null,
  requestsPerMinute: null,
  expiresAt: null,
};

/** A policy whose limits a test may change. */
export type LimitedPolicy = { -readonly [K in keyof KeyPolicy]: KeyPolicy[K] };

export function policyWith(
  keyId: string,
  limits: Partial<KeyLimits> = {},
  parent?: KeyPolicy,
): LimitedPolicy {
  const all = { ...noLimits, ...limits };
  return { keyId, parent, models: null, actions: null, limits: all, defaults: null, isRestricted: true };
}

export const freeTier: FreeTierSettings = {
  models: ['sim/*'],
  requests: 20,
  budget: 5_000,
  sharedPool: 12_000,
  inputTokens: 16_000,
};

/** A call that was admitted. */
export interface AdmittedCall {
  hold: Hold;
  /** Resolves when its settlement is on disk. */
  settle(charged: number, route?: { model: string; provider: string }): Promise<number>;
}

type Stores = Pick<Storage, 'metering' | 'ledger' | 'agents' | 'state'>;

/** Members that admit the calls of one database, in turn; each has the stores of a storage. */
export function sharedMembers(
  storages: readonly Stores[],
  { count = storages.length, sleep = () => setImmediate() }: { count?: number; sleep?: World['sleep'] } = {},
) {
  const time = { now: morning };
  const clock = { now: () => time.now, sleep };
  const rules = new BudgetRules();
  const news: BudgetNews[] = [];
  const warnings: CapWarning[] = [];
  const members = Array.from({ length: count }, (_, index) => {
    const { metering, ledger, agents, state } = storages[index % storages.length] as Stores;
    const onNews = (each: BudgetNews) => news.push(each);
    const onCapWarning = (warning: CapWarning) => warnings.push(warning);
    return createAdmission({
      store: metering,
      ledger,
      state,
      clock,
      rules,
      onNews,
      onCapWarning,
      agents: new AgentAllowances({ store: metering, agents, settings: freeTier, now: clock.now }),
    });
  });
  let calls = 0;

  const hold = async (
    policy: KeyPolicy | undefined,
    changes: Partial<HoldRecord> = {},
    terms: Partial<HoldTerms> = {},
  ): Promise<AdmittedCall> => {
    calls += 1;
    const keyId = policy?.keyId ?? null;
    const record = aHold(`req_${calls}`, { keyId, createdAt: time.now, amount: 1000, ...changes });
    const { requestId } = record;
    const admission = members[calls % members.length];
    if (!admission) throw new TypeError('there are members');
    const held = await admission.hold(record, { policy, isPrepaid: false, fit: () => undefined, ...terms });
    await held.committed;
    return {
      hold: held,
      settle(charged, route) {
        const cost = { provider: charged, margin: 0, total: charged };
        const { workspaceId, endpoint, labels, createdAt } = held.record;
        const usage = { keyId: record.keyId, workspaceId, endpoint, labels, createdAt, ...route };
        const settlement = aSettlement(requestId, {
          ...usage,
          ...(record.budget !== undefined && { budget: record.budget }),
          cost,
          charged: held.record.free === undefined ? charged : 0,
          completedAt: time.now,
        });
        const isAgent = terms.agent !== undefined;
        return admission.settle(held, {
          ...settlement,
          ...(isAgent && { caller: 'agent' }),
          ...(held.record.free !== undefined && { entries: [] }),
        });
      },
    };
  };
  /** Makes calls at the same time: those that were admitted, and the errors of the others. */
  const many = async (count: number, make: (index: number) => Promise<AdmittedCall>) => {
    const results = await Promise.allSettled(Array.from({ length: count }, (_, index) => make(index)));
    const admitted = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    return { admitted, errors };
  };
  return { time, rules, news, warnings, members, hold, many };
}
