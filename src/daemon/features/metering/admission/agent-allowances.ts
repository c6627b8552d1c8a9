import { ApiError } from '../../../../shared/errors.ts';
import type { NanoUsd } from '../../../../shared/money/money.ts';
import { endOfDay, parseTime, utcDay } from '../../../../shared/time/time.ts';
import type { AdmitAnswer, AgentRequest, AppliedLimits } from '../rules/admit-request.ts';
import {
  type AgentDay,
  type AgentTotals,
  agentCallKind,
  type FreeAllowance,
  type PoolTotals,
} from '../rules/free-tier.ts';
import type { HoldRecord } from '../store.ts';
import type { AdmissionStore } from './admission-store.ts';
import { dailyLimitReached, withOffer } from './agent-errors.ts';
import { fitWithin, turnsMax } from './fit.ts';
import type { Refused } from './hold-queue.ts';
import type { AgentTerms, HoldTerms } from './hold-terms.ts';
import { rateReached } from './limit-errors.ts';

/** The free allowances of agents; a reload changes the members. */
export interface FreeTierSettings extends FreeAllowance {
  /** Patterns of the models that are free. */
  models: readonly string[];
  /** Upper bound of a free request's input. */
  inputTokens: number;
}

/** An agent's use on a UTC day, including its running calls. */
export interface AgentUse extends AgentDay {
  day: string;
  resetsAt: number;
  isPoolFull: boolean;
}

/** What agents have used, with their running calls. */
export interface AllowancesStore {
  /** `day`: `2026-11-21`, of the start of the calls. */
  used(agentId: string, day: string): Promise<{ totals: AgentTotals; pool: PoolTotals }>;
}

interface AllowancesDeps {
  store: Pick<AdmissionStore, 'admit'>;
  agents: AllowancesStore;
  settings: FreeTierSettings;
  now: () => number;
}

type Short = Extract<AdmitAnswer, { kind: 'short' }>;
type Asked = Pick<AgentRequest, 'shortenedTo' | 'tooLittle'> & { amount: NanoUsd };

/** The free tier, daily calls and credit of agents. */
export class AgentAllowances {
  readonly #deps: AllowancesDeps;
  /** The day on which a call was refused because the shared pool is used up, until one is admitted or money returns. */
  #fullOn: string | undefined;

  constructor(deps: AllowancesDeps) {
    this.#deps = deps;
  }

  /** Asks for the hold of an agent's call, with a shorter answer if that is paid for; otherwise returns the reason, or fails with it. */
  async ask(
    record: HoldRecord,
    terms: HoldTerms & { agent: AgentTerms },
    limits: AppliedLimits,
    refusal: (answer: Short, now: number) => Refused,
  ): Promise<HoldRecord | Refused> {
    const { store, settings, now: clock } = this.#deps;
    const { agent } = terms;
    const { requests, budget, sharedPool } = settings;
    const isOutsideFreeTier = agent.outsideFreeTier !== undefined;
    let asked: Asked = { amount: record.amount, shortenedTo: undefined, tooLittle: -1 };
    for (let turn = 1; ; turn += 1) {
      const at = clock();
      const day = utcDay(at);
      // Midnight may have passed since the call arrived.
      const createdAt = Math.max(record.createdAt, parseTime(day) ?? 0);
      const { amount, ...shortened } = asked;
      const allowance = { requests, budget, sharedPool };
      const answer = await store.admit(
        { ...record, createdAt, amount },
        { ...limits, at, agent: { allowance, isOutsideFreeTier, ...shortened } },
      );
      if (answer.kind === 'held') {
        const { free } = answer;
        if (free) this.#fullOn = undefined;
        return free === undefined
          ? { ...record, createdAt, amount }
          : { ...record, createdAt, amount: 0, free };
      }
      if (answer.kind === 'rate') throw rateReached(answer.limit, answer.waitMs);
      if (answer.kind === 'refused') throw this.#refused(record, agent, answer);
      const next = turn < turnsMax ? shortenedFor(answer, { record, terms }) : undefined;
      if (next) asked = next;
      else if (answer.kind === 'short') {
        const refused = refusal(answer, at);
        return { ...refused, error: this.#tooPoor(answer, refused.error) };
      } else throw new ApiError('unavailable');
    }
  }

  /** A call ended that cost this much. */
  ended({ free }: HoldRecord, cost: NanoUsd): void {
    if (free !== undefined && cost < free) this.#fullOn = undefined;
  }

  async use(agentId: string): Promise<AgentUse> {
    const { agents, settings, now } = this.#deps;
    const day = utcDay(now());
    const { totals, pool } = await agents.used(agentId, day);
    const { held, ...finished } = totals;
    const isPoolFull = this.#fullOn === day || settings.sharedPool - pool.spent - pool.held <= 0;
    return { ...finished, freeCost: finished.freeCost + held, day, resetsAt: this.#resetsAt(), isPoolFull };
  }

  #refused(
    record: HoldRecord,
    { outsideFreeTier }: AgentTerms,
    { code, agent: { totals, balance } }: Extract<AdmitAnswer, { kind: 'refused' }>,
  ): ApiError {
    const { settings: allowance, now } = this.#deps;
    const resetsAt = this.#resetsAt();
    if (code === 'agent_daily_limit')
      return dailyLimitReached(agentCallKind(record), { now: now(), resetsAt });
    if (code === 'agent_free_tier_full') this.#fullOn = utcDay(now());
    const isOutside = code === 'agent_payment_required' && outsideFreeTier !== undefined;
    const error = new ApiError(code, isOutside ? { message: outsideFreeTier } : {});
    return withOffer(error, { totals, allowance, balance, resetsAt });
  }

  #tooPoor({ agent }: Short, error: ApiError): ApiError {
    if (!agent || error.code !== 'insufficient_balance') return error;
    const allowance = this.#deps.settings;
    const offer = { ...agent, allowance, resetsAt: this.#resetsAt() };
    return withOffer(new ApiError('agent_balance_too_low'), offer);
  }

  #resetsAt(): number {
    return endOfDay(this.#deps.now());
  }
}

interface ShortenedCall {
  record: HoldRecord;
  terms: HoldTerms & { agent: AgentTerms };
}

/** What to ask for next; undefined if nothing that the agent can pay for is worth it. */
function shortenedFor(
  answer: Extract<AdmitAnswer, { affordable: NanoUsd }>,
  { record, terms: { fit, agent } }: ShortenedCall,
): Asked | undefined {
  const { affordable } = answer;
  if (answer.kind === 'free-tier-short') {
    const amount = fitWithin(fit, affordable, { isWhole: false });
    if (amount !== undefined) return { amount, shortenedTo: 'free-tier', tooLittle: -1 };
    return { amount: record.amount, shortenedTo: undefined, tooLittle: affordable };
  }
  const amount = fitWithin(fit, affordable, { isWhole: agent.hasMaximum });
  return amount === undefined ? undefined : { amount, shortenedTo: 'balance', tooLittle: -1 };
}
