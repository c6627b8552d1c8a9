import { type Listed, TransientList } from '../../../../shared/async/transient.ts';
import { ApiError } from '../../../../shared/errors.ts';
import type { NanoUsd } from '../../../../shared/money/money.ts';
import type { KeyPolicy, SpendCap } from '../../../base/handler.ts';
import type { World } from '../../../base/world.ts';
import type { LedgerStore } from '../ledger-store.ts';
import type { AdmitAnswer, AppliedLimits, AppliedRoute } from '../rules/admit-request.ts';
import { leftOnRoutes } from '../rules/held-routes.ts';
import type { LimitedKey } from '../rules/limit-rules.ts';
import { rateWindowMs } from '../rules/rate-window.ts';
import { periodOf } from '../rules/running-totals.ts';
import type { HeldRoute, HoldRecord, MeteringStore, Settlement, Spend } from '../store.ts';
import type { AdmissionStore, WatchedTotal } from './admission-store.ts';
import type { AgentAllowances, AgentUse } from './agent-allowances.ts';
import type { BudgetNews, BudgetRules, BudgetSubject } from './budget-rules.ts';
import { type Fit, fitWithin, turnsMax } from './fit.ts';
import { HoldQueue, isRefused, type Refused } from './hold-queue.ts';
import type { HoldTerms } from './hold-terms.ts';
import { type CapWarning, rateReached } from './limit-errors.ts';
import { refusalOf } from './refusal-of.ts';
import { settlementRetries } from './settlement.ts';
import { capMarkReached, marksReached } from './thresholds.ts';

/** The money reserved for a call. */
export interface Hold {
  record: HoldRecord;
  /** Resolves when the hold is on disk; no byte of an answer may reach the client before. */
  committed: Promise<void>;
  /** True until it is settled or could not be written. */
  isRunning: boolean;
}

/** Decides whether a call may start, and tracks the running ones. */
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
  /** What an agent has used today. */
  agentUse(agentId: string): Promise<AgentUse>;
  /** Ids of the requests whose settlement is not on disk. */
  openRequests(): Set<string>;
}

/** The usage of a key and its descendants. */
export interface KeyUse {
  /** In UTC. */
  spend: Spend;
  /** In the period of the cap. */
  ofCap: NanoUsd | undefined;
  requestsLastMinute: number;
}

export interface AdmissionDeps {
  /** Whether the ledger is writable. */
  state: () => { writable: boolean; reason: string | undefined };
  store: Pick<MeteringStore, 'hold' | 'settle'> & AdmissionStore;
  ledger: Pick<LedgerStore, 'keyUse' | 'balance'>;
  clock: Pick<World, 'now' | 'sleep'>;
  rules: BudgetRules;
  /** Called once in each period, with the charge that reaches 80 % of a cap. */
  onCapWarning?: (warning: CapWarning) => void;
  /** Called with the charge that reaches a threshold of a budget, and with each call that one refuses. */
  onNews?: (news: BudgetNews) => void;
  agents?: AgentAllowances;
}

interface Call extends Hold, Listed {
  policy: KeyPolicy | undefined;
  isAgent: boolean;
  isSettled: boolean;
  /** Whether its hold was written, as far as is known. */
  isWritten: boolean;
}

/** How often a call that waits looks at what other members have ended. */
const askEveryMs = 40;

type News = { total: WatchedTotal; notice: (spent: NanoUsd) => void };

/**
 * Admission by a daemon, or by one of several daemons or threads that share a database. A call with limits asks in the
 * transaction that writes its hold, where they are compared with what all members have stored; one without asks nothing.
 */
export function createAdmission(deps: AdmissionDeps): Admission {
  const { store, state, ledger, clock, rules, agents } = deps;
  const open = new TransientList<Call>();
  let running = 0;

  const end = (call: Call) => {
    if (!call.isRunning) return;
    running -= 1;
    call.isRunning = false;
  };
  const settling = settlementRetries<Call>(
    async (settlement, { record, policy }) => {
      const news = settlement.usage.charged > 0 ? newsOf(deps, { record, policy, settlement }) : [];
      if (news.length === 0) return await store.settle(settlement);
      const totals = news.map(({ total }) => total);
      const { sequence, spent } = await store.settleWatched(settlement, totals);
      for (const [index, { notice }] of news.entries()) notice(spent[index] ?? 0);
      return sequence;
    },
    (call) => open.delete(call),
  );
  const start = (
    record: HoldRecord,
    { policy, committed, isAgent = false }: Pick<Call, 'committed' | 'policy'> & { isAgent?: boolean },
  ): Hold => {
    const call: Call = {
      record,
      committed,
      isRunning: true,
      policy,
      isAgent,
      isSettled: false,
      isWritten: true,
      place: -1,
    };
    running += 1;
    open.add(call);
    // Handles the rejection here too, since a caller may not be waiting yet.
    committed.then(settling.retry, () => {
      end(call);
      call.isWritten = false;
      if (!call.isSettled) open.delete(call);
    });
    return call;
  };

  const waiting = new HoldQueue({ sleep: clock.sleep, askEveryMs });
  return {
    async hold(record, terms) {
      requireWritable(state);
      const limits = terms && limitsOf(rules, record, terms);
      if (!limits) return start(record, { policy: terms?.policy, committed: store.hold(record) });
      const { policy, agent } = terms;
      if (agent) {
        if (!agents) throw new TypeError('this admission has no agents');
        return await waiting.start(async () => {
          const held = await agents.ask(record, { ...terms, agent }, limits, (answer, now) =>
            refusal(deps, answer, { limits, now, amount: record.amount, fit: terms.fit }),
          );
          return isRefused(held)
            ? held
            : start(held, { policy: undefined, committed: Promise.resolve(), isAgent: true });
        });
      }
      return await waiting.start(async () => {
        const held = await askForHold(deps, record, { terms, limits });
        return isRefused(held) ? held : start(held, { policy, committed: Promise.resolve() });
      });
    },
    settle(hold, settlement) {
      const call = hold as Call;
      if (call.isSettled) return Promise.reject(new TypeError('a hold is settled once'));
      end(call);
      open.add(call);
      call.isSettled = true;
      const { amount, free, routes } = call.record;
      if (call.isAgent) agents?.ended(call.record, settlement.usage.cost?.total ?? 0);
      const tier = call.isAgent ? (free === undefined ? 'paid' : 'free') : settlement.tier;
      const held = { amount, ...(free !== undefined && { free }), ...(routes && { routes }) };
      const settled = settling.settle(call, { ...settlement, tier, ...(call.isWritten && { held }) });
      settled.then(waiting.released, () => {});
      return settled;
    },
    running: () => running,
    async usedBy(keyId, cap) {
      const at = clock.now();
      const since = at - rateWindowMs;
      const { spend, requests } = await ledger.keyUse(keyId, { at, since });
      const calendar = cap?.calendar;
      const inCap = calendar ? (await ledger.keyUse(keyId, { at, since, calendar })).spend : spend;
      return { spend, ofCap: cap ? inCap[cap.period] : undefined, requestsLastMinute: requests };
    },
    async agentUse(agentId) {
      if (!agents) throw new TypeError('this admission has no agents');
      return await agents.use(agentId);
    },
    balanceOf: (workspaceId) => ledger.balance(workspaceId),
    openRequests: () => new Set([...open].map(({ record }) => record.requestId)),
  };
}

/** Asks for a hold with the limits, and for less as long as what is left is worth it. */
async function askForHold(
  deps: AdmissionDeps,
  record: HoldRecord,
  { terms, limits }: { terms: Pick<HoldTerms, 'fit' | 'fittedRoutes'>; limits: AppliedLimits },
): Promise<HoldRecord | Refused> {
  const { fit, fittedRoutes } = terms;
  let asked = record;
  let applied = limits;
  for (let turn = 1; ; turn += 1) {
    const at = deps.clock.now();
    const answer = await deps.store.admit(asked, { ...applied, at });
    if (answer.kind === 'held') return asked;
    if (answer.kind === 'rate') throw rateReached(answer.limit, answer.waitMs);
    if (answer.kind !== 'short') throw new TypeError('only agents have a free tier');
    const output = { isWhole: false, ...leftOf(applied, answer, ({ affordable }) => affordable) };
    const amount = turn < turnsMax ? fitWithin(fit, answer.affordable, output) : undefined;
    if (amount === undefined)
      return refusal(deps, answer, { limits: applied, now: at, amount: record.amount, fit });
    const routes = record.routes && fittedRoutes?.();
    asked = { ...record, amount, ...(routes && { routes }) };
    if (limits.routes && routes) applied = { ...limits, routes: fittedOf(limits.routes, routes) };
  }
}

/** What is left of the routes that were asked for. */
function leftOf(
  { routes }: AppliedLimits,
  { routes: lefts }: Short,
  amountOf: (left: NonNullable<Short['routes']>[number]) => NanoUsd,
) {
  if (!routes || !lefts) return undefined;
  return {
    leftOn: leftOnRoutes(
      routes.map(({ route }) => route),
      lefts.map(amountOf),
    ),
  };
}

/** Some of the routes, with other amounts. */
function fittedOf(all: readonly AppliedRoute[], routes: readonly HeldRoute[]): AppliedRoute[] {
  return routes.map((route) => {
    const isSame = ({ route: { model, provider } }: AppliedRoute) =>
      model === route.model && provider === route.provider;
    return { route, budgets: all.find(isSame)?.budgets ?? [] };
  });
}

/** The limits of a call; undefined if none applies. */
function limitsOf(rules: BudgetRules, record: HoldRecord, terms: HoldTerms): AppliedLimits | undefined {
  const { policy, isPrepaid, agent } = terms;
  const key = policy?.isRestricted ? limitedKey(policy) : undefined;
  const budgets = hardOf(rules.of(record, policy));
  const routes =
    record.routes && rules.hasRouted(record.workspaceId)
      ? record.routes.map((route) => ({ route, budgets: hardOf(rules.ofRoute(record, route)) }))
      : undefined;
  const isRouted = routes?.some((route) => route.budgets.length > 0) ?? false;
  if (!key && budgets.length === 0 && !isRouted && !isPrepaid && !agent) return undefined;
  // What costs nothing exceeds no amount.
  if (record.amount === 0 && !hasRate(key) && !agent) return undefined;
  return { key, budgets, isPrepaid, ...(isRouted && routes && { routes }) };
}

/** The hard budgets of subjects. */
function hardOf(subjects: readonly BudgetSubject[]): AppliedLimits['budgets'] {
  return subjects.flatMap(({ workspaceId, scope, calendar, rules }) => {
    const hard = rules.filter(({ isHard }) => isHard);
    return hard.length > 0 ? [{ subject: { workspaceId, ...scope, calendar }, rules: hard }] : [];
  });
}

/** Only the keys that have a cap or a rate. */
function limitedKey({ keyId, parent, limits, isAutopilot }: KeyPolicy): LimitedKey | undefined {
  const above = parent && limitedKey(parent);
  if (!limits?.spendCap && !limits?.requestsPerMinute) return above;
  const { spendCap, requestsPerMinute } = limits;
  return {
    keyId,
    parent: above,
    limits: { spendCap, requestsPerMinute },
    ...(isAutopilot && { isAutopilot }),
  };
}

function hasRate(key: LimitedKey | undefined): boolean {
  return key !== undefined && (Boolean(key.limits?.requestsPerMinute) || hasRate(key.parent));
}

type Short = Extract<AdmitAnswer, { kind: 'short' }>;

function refusal(
  { onNews }: Pick<AdmissionDeps, 'onNews'>,
  short: Short,
  { limits, ...call }: { limits: AppliedLimits; now: number; amount: NanoUsd; fit: Fit },
): Refused {
  const { key: policy, budgets, routes = [] } = limits;
  const { shortage } = short;
  // What refuses the call may be the budget of a route.
  const lefts = short.routes ?? [];
  const most = Math.max(...lefts.map((left) => left.affordable));
  const affordable =
    shortage.kind === 'budget' && lefts.length > 0 ? Math.min(short.affordable, most) : short.affordable;
  const leftOn = leftOf(limits, short, (left) => left.affordable + left.held);
  const left = { affordable, shortage, output: { isWhole: false, ...leftOn } };
  const all = [...budgets, ...routes.flatMap((route) => route.budgets)];
  return refusalOf(left, { ...call, policy, budgets: all, onNews });
}

interface Charged {
  record: HoldRecord;
  policy: KeyPolicy | undefined;
  settlement: Settlement;
}

/** The totals that a charge could raise above a threshold. */
function newsOf(
  { rules, onCapWarning, onNews }: Pick<AdmissionDeps, 'rules' | 'onCapWarning' | 'onNews'>,
  { record, policy, settlement }: Charged,
): News[] {
  const { charged: amount, completedAt: at } = settlement.usage;
  const { workspaceId } = record;
  const news: News[] = [];
  for (let key = policy; key; key = key.parent) {
    const cap = key.limits?.spendCap;
    if (!cap) continue;
    const capped = key;
    const notice = (spent: NanoUsd) => {
      if (capMarkReached(cap, { spent, amount }))
        onCapWarning?.({ workspaceId, policy: capped, cap, spent, at });
    };
    news.push({ total: { keyId: key.keyId, period: periodOf(cap), calendar: cap.calendar }, notice });
  }
  const { model, provider } = settlement.usage;
  const routed = rules.hasRouted(workspaceId) ? rules.ofRoute(record, { model, provider }) : [];
  for (const { scope, calendar, rules: all } of [...rules.of(record, policy), ...routed]) {
    for (const rule of all) {
      const notice = (spent: NanoUsd) => {
        const percents = marksReached(rule, { spent, amount });
        if (percents.length > 0) onNews?.({ rule, spent, at, percents });
      };
      news.push({ total: { subject: { workspaceId, ...scope, calendar }, period: rule.period }, notice });
    }
  }
  return news;
}

/** Fails with `unavailable` if the ledger is not writable. */
function requireWritable(state: AdmissionDeps['state']): void {
  const { writable, reason } = state();
  if (!writable) throw new ApiError('unavailable', { message: `The ledger cannot be written: ${reason}` });
}
