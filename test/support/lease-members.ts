import { BudgetRules } from '../../src/daemon/features/metering/budget-rules.ts';
import type { BudgetNews } from '../../src/daemon/features/metering/budgets.ts';
import {
  createAdmission,
  type LedgerStore,
  type Settlement,
} from '../../src/daemon/features/metering/index.ts';
import { LeaseDesk } from '../../src/daemon/features/metering/lease-desk.ts';
import { LeasedLimits } from '../../src/daemon/features/metering/leased-limits.ts';
import type { CapWarning } from '../../src/daemon/features/metering/limit-errors.ts';
import type { HoldRecord } from '../../src/daemon/features/metering/store.ts';
import type { KeyPolicy } from '../../src/daemon/handler.ts';
import { startOfPeriod } from '../../src/shared/spend-periods.ts';
import { utcDay } from '../../src/shared/time.ts';

interface Stored {
  record: HoldRecord;
  charged: number;
  at: number;
}

/** Admissions that share limits, as threads of a daemon do: messages pass between turns of the event loop. */
export function leaseMembers(options: { count: number; now: () => number; policies: readonly KeyPolicy[] }) {
  const { count, now, policies } = options;
  const clock = { now, elapsed: now };
  const rules = new BudgetRules();
  const stored: Stored[] = [];
  const news: BudgetNews[] = [];
  const warnings: CapWarning[] = [];
  let credit = 0;
  const chainOf = (keyId: string | null) => {
    const chain: string[] = [];
    let key = policies.find((policy) => policy.keyId === keyId);
    for (; key; key = key.parent) chain.push(key.keyId);
    return chain;
  };
  const sum = (calls: readonly Stored[]) => calls.reduce((total, { charged }) => total + charged, 0);
  const ledger: Pick<LedgerStore, 'keyFacts' | 'balance' | 'subjectSpend'> = {
    async keyFacts(keyId, { at, since, except }) {
      const calls = stored.filter(
        ({ record }) => chainOf(record.keyId).includes(keyId) && !except.includes(record.requestId),
      );
      const of = (prefix: string) => sum(calls.filter((call) => utcDay(call.at).startsWith(prefix)));
      return {
        spend: { total: of(''), month: of(utcDay(at).slice(0, 7)), day: of(utcDay(at)) },
        recent: calls.map(({ record }) => record.createdAt).filter((time) => time >= since),
      };
    },
    balance: async (_workspace, { except }) =>
      credit - sum(stored.filter(({ record }) => !except.includes(record.requestId))),
    async subjectSpend({ kind, value }, { at, except }) {
      const calls = stored.filter(({ record: { requestId, keyId, labels } }) => {
        if (except.includes(requestId)) return false;
        if (kind === 'key') return chainOf(keyId).includes(value);
        if (kind === 'user') return labels.user === value;
        return (
          kind === 'workspace' ||
          Object.entries(labels.tags).some(([tag, each]) => `${tag}=${each}` === value)
        );
      });
      const since = (period: 'day' | 'week' | 'month' | 'none') =>
        sum(calls.filter((call) => call.at >= startOfPeriod(period, at)));
      return { day: since('day'), week: since('week'), month: since('month'), none: since('none') };
    },
  };
  const desk = new LeaseDesk<number>({
    ledger,
    clock,
    rules,
    onNews: (each) => news.push(each),
    onCapWarning: (warning) => warnings.push(warning),
    async keyOf(keyId) {
      const policy = policies.find((each) => each.keyId === keyId);
      return policy && { workspaceId: 'ws_1', policy };
    },
  });
  const members = Array.from({ length: count }, (_, index) => {
    const limits = new LeasedLimits({
      send: (message) => setImmediate(() => desk.authority.receive(index, structuredClone(message))),
      clock,
      rules,
      onNews: (each) => news.push(each),
    });
    desk.authority.join(index, (message) => setImmediate(() => limits.receive(structuredClone(message))));
    const store = {
      hold: () => new Promise<void>((resolve) => setImmediate(resolve)),
      settle: async ({ usage }: Settlement) => {
        await new Promise((resolve) => setImmediate(resolve));
        const { requestId, charged, completedAt } = usage;
        const record = records.get(requestId);
        if (!record) throw new TypeError(`${requestId} has no hold`);
        return stored.push({ record, charged, at: completedAt });
      },
    };
    return createAdmission({ store, state: () => ({ writable: true, reason: undefined }), leases: limits });
  });
  const records = new Map<string, HoldRecord>();
  return {
    desk,
    rules,
    news,
    warnings,
    records,
    member: (index: number) => {
      const member = members[index % count];
      if (!member) throw new RangeError('there is no member');
      return member;
    },
    addCredit(amount: number) {
      credit += amount;
      desk.credited('ws_1');
    },
  };
}
