import { utcDay } from '../../../../../shared/time/time.ts';
import type { AdmitAnswer, AgentRequest } from '../../../../features/metering/rules/admit-request.ts';
import { agentCallKind, freeShare, isDayUsed } from '../../../../features/metering/rules/free-tier.ts';
import {
  affordableOn,
  affordableUnder,
  decisiveLeft,
  exceededRate,
  type LimitedKey,
} from '../../../../features/metering/rules/limit-rules.ts';
import {
  type AdmitData,
  type HoldRow,
  holdFormat,
  type SettlementRow,
  type SettlementWithAnswer,
  type WatchedSettlement,
} from '../rows.ts';
import type { StoredLimits } from './stored-limits.ts';

interface Writes {
  hold: (row: HoldRow) => void;
  settlements: Record<SettlementWithAnswer['settle'], (row: SettlementRow) => number> & {
    'metering.settleWithAnswer': (data: SettlementWithAnswer) => number;
  };
}

/** The writes of calls whose limits are shared with other members of the database. */
export function admissionWrites(limits: StoredLimits, { hold, settlements }: Writes) {
  const countedOf = (budgets: AdmitData['budgets'], at: number) =>
    budgets.map(({ subject, rules }) => ({ rules, totals: limits.subject(subject, at) }));

  const admitPaid = ({ row, at, key, budgets, isPrepaid, routes }: AdmitData): AdmitAnswer => {
    const startedAt = holdFormat.get(row, 'createdAt');
    const rate = exceededRate(key, (keyId) => limits.window(keyId, at), startedAt);
    if (rate) return { kind: 'rate', ...rate };
    const counted = {
      key,
      totalsOf: ({ keyId, limits: own }: LimitedKey) => limits.key(keyId, at, own?.spendCap?.calendar),
      budgets: countedOf(budgets, at),
      balance: isPrepaid ? limits.balance(holdFormat.get(row, 'workspaceId')) : undefined,
    };
    const common = affordableUnder(counted, at);
    const { affordable, shortage } = common;
    if (routes) {
      const lefts = routes.map((route) => affordableOn(countedOf(route.budgets, at), at));
      const isShort = routes.some(({ route }, index) => route.amount > (lefts[index]?.affordable ?? 0));
      const decisive = decisiveLeft(common, lefts).shortage;
      if (decisive && (isShort || holdFormat.get(row, 'amount') > affordable)) {
        const left = lefts.map((each) => ({ affordable: each.affordable, held: each.shortage?.held ?? 0 }));
        return { kind: 'short', affordable, shortage: decisive, routes: left };
      }
    }
    if (shortage && holdFormat.get(row, 'amount') > affordable)
      return { kind: 'short', affordable, shortage };
    hold(row);
    return { kind: 'held' };
  };

  const admitAgent = (data: AdmitData, agent: AgentRequest): AdmitAnswer => {
    const { allowance, isOutsideFreeTier, shortenedTo, tooLittle } = agent;
    const { row } = data;
    const agentId = holdFormat.get(row, 'keyId') ?? '';
    const day = utcDay(holdFormat.get(row, 'createdAt'));
    const totals = limits.agent(agentId, day);
    const balance = limits.balance(holdFormat.get(row, 'workspaceId')).available();
    const facts = { totals, balance };
    const kind = agentCallKind({ endpoint: holdFormat.get(row, 'endpoint') });
    if (isDayUsed(kind, totals, balance)) return { kind: 'refused', code: 'agent_daily_limit', agent: facts };
    if (shortenedTo !== 'balance') {
      const call = { kind, amount: holdFormat.get(row, 'amount'), isOutsideFreeTier, balance };
      const share = freeShare(call, { totals, pool: limits.pool(day) }, allowance);
      if ('free' in share) {
        const { free } = share;
        hold(holdFormat.with(row, { amount: 0, free }));
        return { kind: 'held', free };
      }
      const { code, affordable } = share;
      if (shortenedTo === 'free-tier') return { kind: 'free-tier-short', affordable: affordable ?? 0 };
      if (affordable !== undefined && affordable > tooLittle) return { kind: 'free-tier-short', affordable };
      if (balance <= 0) return { kind: 'refused', code, agent: facts };
    }
    const answer = admitPaid(data);
    return answer.kind === 'short' ? { ...answer, agent: facts } : answer;
  };

  return {
    'metering.admit': (data: AdmitData): AdmitAnswer =>
      data.agent ? admitAgent(data, data.agent) : admitPaid(data),
    'metering.settleWatched': ({ settlement, settle, watched, at }: WatchedSettlement) => {
      const sequence =
        'answer' in settlement
          ? settlements['metering.settleWithAnswer'](settlement)
          : settlements[settle](settlement);
      return { sequence, spent: watched.map((total) => limits.spent(total, at)) };
    },
  };
}
