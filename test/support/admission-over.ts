import { setImmediate } from 'node:timers/promises';
import { BudgetRules, createAdmission } from '../../src/daemon/features/metering/index.ts';
import { morning } from '../storage/records.ts';

type Deps = Parameters<typeof createAdmission>[0];

/** An admission without budgets and agents over a store that accepts everything, or does what a test says. */
export function admissionOver(store: Partial<Deps['store']> = {}, { isWritable = true } = {}) {
  return createAdmission({
    store: {
      hold: async () => {},
      settle: async () => 1,
      settleWatched: async (_settlement, watched) => ({ sequence: 1, spent: watched.map(() => 0) }),
      admit: async () => ({ kind: 'held' }),
      ...store,
    },
    ledger: { keyUse: () => Promise.reject(new Error('not asked')), balance: async () => 0 },
    state: () => ({ writable: isWritable, reason: 'the disk is full' }),
    clock: { now: () => morning, sleep: () => setImmediate() },
    rules: new BudgetRules(),
  });
}
