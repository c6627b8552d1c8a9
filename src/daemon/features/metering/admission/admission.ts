import { type Listed, TransientList } from '../../../../shared/async/transient.ts';
import { ApiError } from '../../../../shared/errors.ts';
import { formatUsd, type NanoUsd } from '../../../../shared/money/money.ts';
import type { SpendCap } from '../../../base/handler.ts';
import type { NewEvent } from '../../events/index.ts';
import type { SlotAnswer } from '../../idempotency/index.ts';
import type { BudgetRule } from '../rules/budget-rule.ts';
import type { HoldRecord, LedgerEntry, MeteringStore, Settlement, UsageRecord } from '../store.ts';
import type { AgentAllowances, AgentTerms, AgentUse, FreeUse } from './agent-allowances.ts';
import { Budgets, type BudgetsDeps, type HoldTerms, type KeyUse, type OpenCall } from './budgets.ts';
import { HoldQueue, isRefused, type Refused } from './hold-queue.ts';

/** The money reserved for a call. */
export interface Hold {
  record: HoldRecord;
  /** Resolves when the hold is on disk; no byte of an answer may reach the client before. */
  committed: Promise<void>;
  /** True until it is settled or could not be written. */
  isRunning: boolean;
}

/**
 * Decides whether a call may start, and tracks the running ones: in memory for one process, or with others that share the
 * database (`createSharedAdmission`).
 */
export interface Admission {
  /**
   * Admits the call; its record is written afterwards, or was by then. The terms may lower the hold's amount.
   * Fails with `limit_reached`, `insufficient_balance` or `unavailable`.
   */
  hold(record: HoldRecord, terms?: HoldTerms): Promise<Hold>;
  /**
   * Ends a hold; resolves to its event's sequence when the settlement is on disk. A settlement that could not be written
   * is retried after the next successful hold, so a second one of the same hold is a TypeError.
   */
  settle(hold: Hold, settlement: Settlement): Promise<number>;
  /** The number of calls that are admitted and not settled. */
  running(): number;
  /** The usage of a key and its descendants, and of its cap; running calls are not charged yet. */
  usedBy(keyId: string, cap?: SpendCap | null): Promise<KeyUse>;
  /** The balance of a prepaid workspace, including what is held. */
  balanceOf(workspaceId: string): Promise<NanoUsd>;
  /** What the calls of a budget spent in its period and hold, if that is in memory. */
  budgetUse(rule: BudgetRule): { spent: NanoUsd; held: NanoUsd } | undefined;
  /** What an agent has used today. */
  agentUse(agentId: string): Promise<AgentUse>;
  /** Adds credit that is on disk. `balanceOf` must have been called before it was written. */
  credited(workspaceId: string, amount: NanoUsd): void;
  /** Ids of the requests whose settlement is not on disk. */
  openRequests(): Set<string>;
}

export interface AdmissionDeps {
  store: Pick<MeteringStore, 'hold' | 'settle'>;
  /** Whether the ledger is writable. */
  state: () => { writable: boolean; reason: string | undefined };
  /** Enables limits and balances. */
  limits?: Pick<BudgetsDeps, 'ledger' | 'clock' | 'onCapWarning' | 'budgets'>;
  /** Enables agents. */
  agents?: AgentAllowances;
}

/** `agent` is set for an agent's call, and `free` if it is part of the free tier. */
type Call = Hold & OpenCall & Listed & { agent?: string; free?: FreeUse | undefined };

const none: OpenCall['subjects'] = [];
const noneRouted: OpenCall['routed'] = [];

/** Admission of a process that has the database to itself: it counts in memory. */
export function createAdmission({ store, state, limits, agents }: AdmissionDeps): Admission {
  const open = new TransientList<Call>();
  const budgets = limits && new Budgets({ ...limits, open });
  let running = 0;

  const end = (call: Call) => {
    if (!call.isRunning) return;
    running -= 1;
    call.isRunning = false;
    budgets?.released(call);
  };
  const settling = settlementRetries<Call>(
    (settlement) => store.settle(settlement),
    (call) => {
      open.delete(call);
      if (call.agent !== undefined) agents?.settled(call.agent);
    },
  );
  const waiting = limits && new HoldQueue(limits.clock);
  const start: Start = (record, policy, more) => {
    const committed = store.hold(record);
    const counting = budgets?.isBudgeted(record.workspaceId) ? budgets : undefined;
    const call: Call = {
      record,
      committed,
      isRunning: true,
      policy,
      charged: undefined,
      subjects: counting?.subjectsOf(record, policy) ?? none,
      routed: counting?.routedOf(record) ?? noneRouted,
      place: -1,
      ...more,
    };
    running += 1;
    open.add(call);
    budgets?.held(call);
    // Handles the rejection here too, since a caller may not be waiting yet.
    committed.then(settling.retry, () => {
      end(call);
      if (!call.charged) open.delete(call);
      waiting?.released();
    });
    return call;
  };
  const startForAgent = startsForAgents(agents, start);
  const withBudgets = (): Budgets => {
    if (!budgets) throw new TypeError('this admission has no limits');
    return budgets;
  };

  return {
    async hold(record, terms) {
      requireWritable(state);
      const isLimited =
        terms?.isPrepaid || terms?.policy?.isRestricted || budgets?.isBudgeted(record.workspaceId);
      if (!budgets || !waiting || !terms || !isLimited) return start(record, terms?.policy);
      const { agent, isPrepaid, policy } = terms;
      if (agent) return await waiting.start(() => startForAgent(record, { ...terms, agent }, budgets));
      return await waiting.start(async () => {
        for (let wait = budgets.loading(terms, record); wait; wait = budgets.loading(terms, record))
          await wait;
        const held = budgets.admit(record, terms);
        const prepaid = isPrepaid && ({ isPrepaid: true } as const);
        if (typeof held === 'number') return start({ ...record, amount: held, ...prepaid }, policy);
        return isRefused(held) ? held : start({ ...record, ...held, ...prepaid }, policy);
      });
    },
    settle(hold, settlement) {
      const call = hold as Call;
      if (call.charged) return Promise.reject(new TypeError('a hold is settled once'));
      const { charged, completedAt, cost, model, provider } = settlement.usage;
      end(call);
      // Also after a hold that could not be written: the settlement counts the call and its cost.
      if (call.agent !== undefined) agents?.end(call.agent, call.free, cost?.total ?? 0);
      open.add(call);
      call.charged = { amount: charged, at: completedAt, model, provider };
      budgets?.charged(call, call.charged);
      waiting?.released();
      // A call that an agent's credit paid for takes nothing from the free tier, even if it cost nothing.
      const tier = call.agent === undefined ? settlement.tier : call.free ? 'free' : 'paid';
      const { isPrepaid } = hold.record;
      const isAsGiven = tier === settlement.tier && !isPrepaid;
      return settling.settle(
        call,
        isAsGiven ? settlement : { ...settlement, tier, ...(isPrepaid && { isPrepaid }) },
      );
    },
    running: () => running,
    usedBy: (keyId, cap) => withBudgets().usedBy(keyId, cap),
    budgetUse: (rule) => budgets?.useOf(rule),
    async agentUse(agentId) {
      if (!agents) throw new TypeError('this admission has no agents');
      return await agents.use(agentId);
    },
    balanceOf: (workspaceId) => withBudgets().balanceOf(workspaceId),
    credited: (workspaceId, amount) => budgets?.credited(workspaceId, amount),
    openRequests: () => new Set([...open].map(({ record }) => record.requestId)),
  };
}

type Start = (
  record: HoldRecord,
  policy: OpenCall['policy'],
  more?: Partial<Pick<Call, 'agent' | 'free'>>,
) => Hold;

/** A free call holds nothing of the agent's balance, and is charged nothing. */
function startsForAgents(agents: AgentAllowances | undefined, start: Start) {
  return async (
    record: HoldRecord,
    terms: HoldTerms & { agent: AgentTerms },
    budgets: Budgets,
  ): Promise<Hold | Refused> => {
    if (!agents) throw new TypeError('this admission has no agents');
    const { agentId } = terms.agent;
    // A balance stays loaded; the totals of agents may be forgotten, or of yesterday, at the next turn.
    for (let wait = budgets.loading(terms, record); wait; wait = budgets.loading(terms, record)) await wait;
    while (!agents.isReady(agentId)) await agents.load(agentId);
    const balance = budgets.availableTo(record.workspaceId);
    const { startedAt, free } = agents.take(record, terms.agent, { balance, fit: terms.fit });
    const dated = { ...record, createdAt: startedAt };
    if (free) return start({ ...dated, amount: 0, free: free.amount }, undefined, { agent: agentId, free });
    let amount: ReturnType<Budgets['admit']>;
    try {
      amount = budgets.admit(record, terms);
    } catch (error) {
      agents.giveBack(record, agentId);
      throw error;
    }
    if (typeof amount === 'number' || !isRefused(amount)) {
      const held = typeof amount === 'number' ? { amount } : amount;
      return start({ ...dated, ...held, isPrepaid: true }, undefined, { agent: agentId });
    }
    agents.giveBack(record, agentId);
    const isPoor = amount.error.code === 'insufficient_balance';
    return isPoor ? { ...amount, error: agents.balanceTooLow(agentId, balance) } : amount;
  };
}

/** Fails with `unavailable` if the ledger is not writable. */
export function requireWritable(state: AdmissionDeps['state']): void {
  const { writable, reason } = state();
  if (!writable) throw new ApiError('unavailable', { message: `The ledger cannot be written: ${reason}` });
}

/** Everything that is written when a call ends. `answer` is stored for its Idempotency-Key. */
export function settlementFor(usage: UsageRecord, answer?: SlotAnswer): Settlement {
  return {
    usage,
    entries: ledgerEntriesFor(usage),
    caller: isAgent(usage.keyId) ? 'agent' : 'key',
    tier: usage.charged > 0 || usage.ownKey ? 'paid' : 'free',
    ...(answer && { answer }),
  };
}

/** Agents call with their own id in place of a key's. */
function isAgent(keyId: string | null): boolean {
  return keyId?.startsWith('agt_') ?? false;
}

/** The double entries of a charge: the provider's share, then the margin. Empty for a call without charge. */
function ledgerEntriesFor({ charged, cost, workspaceId, provider }: UsageRecord): LedgerEntry[] {
  if (charged === 0 || !cost) return [];
  const debit = `workspace:${workspaceId}`;
  const providerAmount = Math.min(cost.provider, charged);
  const entries: LedgerEntry[] = [
    {
      kind: 'provider_cost',
      debit,
      credit: `provider:${provider ?? 'unknown'}`,
      amount: providerAmount,
    },
    { kind: 'margin', debit, credit: 'margin', amount: charged - providerAmount },
  ];
  return entries.filter(({ amount }) => amount > 0);
}

/** The event `request.completed` or `request.failed` of a finished call. */
export function settledEvent(usage: UsageRecord): NewEvent {
  const hasFailed = usage.status === 'failed' || usage.status === 'interrupted';
  return {
    type: hasFailed ? 'request.failed' : 'request.completed',
    workspaceId: usage.workspaceId,
    at: usage.completedAt,
    data: {
      request_id: usage.requestId,
      response_id: usage.responseId,
      endpoint: usage.endpoint,
      model: usage.model,
      provider: usage.provider,
      key: usage.keyId,
      streamed: usage.streamed,
      status: usage.status,
      error_code: usage.errorCode,
      ...(hasFailed && { message: usage.attempts.findLast(({ message }) => message)?.message ?? null }),
      input_tokens: usage.tokens.input,
      output_tokens: usage.tokens.output,
      cost_usd: usage.cost && formatUsd(usage.cost.total),
      charged_usd: formatUsd(usage.charged),
      attempts: usage.attempts.length,
      ttft_ms: usage.ttftMs,
      total_ms: usage.totalMs,
    },
  };
}

/** Unwritten settlements kept in memory at most; the daemon settles the others at its next start. */
const lateMax = 10_000;

/**
 * Writes settlements with `write`, and calls `close` with each call whose settlement is on disk or given up. Those that fail
 * while the ledger is unavailable wait for `retry`, which follows the next successful hold.
 */
export function settlementRetries<Call>(
  write: (settlement: Settlement, call: Call) => Promise<number>,
  close: (call: Call) => void,
) {
  let late: [call: Call, settlement: Settlement][] = [];
  const settle = (call: Call, settlement: Settlement): Promise<number> =>
    write(settlement, call).then(
      (sequence) => {
        close(call);
        return sequence;
      },
      (error: unknown) => {
        const isLate = error instanceof ApiError && error.code === 'unavailable' && late.length < lateMax;
        // The client gets an error, so the answer to store is dropped.
        if (isLate) late.push([call, { ...settlement, answer: undefined }]);
        else close(call);
        throw error;
      },
    );
  const retry = () => {
    if (late.length === 0) return;
    const waiting = late;
    late = [];
    for (const [call, settlement] of waiting) settle(call, settlement).catch(() => {});
  };
  return { settle, retry };
}
