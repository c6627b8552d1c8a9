import { Mutex } from '../../../../shared/async/mutex.ts';
import { ApiError } from '../../../../shared/errors.ts';
import type { NanoUsd } from '../../../../shared/money/money.ts';
import { endOfDay, parseTime, utcDay } from '../../../../shared/time/time.ts';
import {
  type AgentDay,
  type AgentTotals,
  agentCallKind,
  type FreeAllowance,
  freeShare,
  isDayUsed,
} from '../rules/free-tier.ts';
import type { HoldRecord } from '../store.ts';
import { dailyLimitReached, withOffer } from './agent-errors.ts';
import { type Fit, fitWithin } from './fit.ts';
import type { PaymentDue } from './limit-errors.ts';

export interface AllowancesStore {
  day(agentId: string, day: string): Promise<AgentDay>;
  /** The cost of the free calls of all agents on a day. */
  freeCost(day: string): Promise<NanoUsd>;
}

/** The free allowances of agents; a reload changes the members. */
export interface FreeTierSettings extends FreeAllowance {
  /** Patterns of the models that are free. */
  models: readonly string[];
  /** Upper bound of a free request's input. */
  inputTokens: number;
}

/** The conditions of an agent's call. */
export interface AgentTerms {
  agentId: string;
  /** Why the call is not part of the free tier, as a sentence; undefined if it is. */
  outsideFreeTier: string | undefined;
  /** Whether the caller set a maximum for the output. The agent's credit must cover that; without one, it may be shortened. */
  hasMaximum: boolean;
}

/** A call that an agent may make. */
export interface Allowed {
  /** When the call counts as started: not before the day whose allowances it takes from. */
  startedAt: number;
  /** Its share of the free tier; undefined if the balance has to pay for it. */
  free: FreeUse | undefined;
}

/** The part of a day's allowance that a running call of an agent holds. */
export interface FreeUse {
  day: string;
  amount: NanoUsd;
}

/** An agent's use on a UTC day, including its running calls. */
export interface AgentUse extends AgentDay {
  day: string;
  resetsAt: number;
  isPoolFull: boolean;
}

const defaultAgentsMax = 10_000;

interface DayTotals extends AgentTotals {
  day: string;
}

interface Agent {
  totals: DayTotals;
  /** Calls whose settlement is not on disk; totals without them cannot be loaded again. */
  open: number;
}

interface AllowancesDeps {
  store: AllowancesStore;
  settings: FreeTierSettings;
  now: () => number;
  /** Agents whose totals are kept in memory, besides those with open calls. */
  agentsMax?: number;
}

/**
 * The free tier and the daily calls of agents. Totals are loaded from the store once a day is first used; from then on,
 * calls are decided and counted in memory.
 */
export class AgentAllowances {
  readonly #deps: AllowancesDeps;
  readonly #agents = new Map<string, Agent>();
  /** `isFull` once a call was refused for it, until another one is admitted or money returns: a rest that pays for no call stays. */
  #pool = { day: '', spent: 0, held: 0, isFull: false };
  #today = '';
  readonly #loads = new Mutex();

  constructor(deps: AllowancesDeps) {
    this.#deps = deps;
  }

  /** Loads the totals of the current day; to be repeated until `isReady`, as the day may have ended meanwhile. */
  async load(agentId: string): Promise<void> {
    await this.#loads
      .run(() => this.#load(agentId))
      .catch((cause) => {
        throw new ApiError('unavailable', { cause });
      });
  }

  /** Whether the totals of the current day are loaded; `take` must follow synchronously. */
  isReady(agentId: string): boolean {
    const day = this.#day();
    return this.#pool.day === day && this.#agents.get(agentId)?.totals.day === day;
  }

  /**
   * Takes a call from the allowances. Fails with `agent_daily_limit`, or with the reason why an agent without credit
   * cannot make the call.
   */
  take(record: HoldRecord, terms: AgentTerms, options: TakeOptions): Allowed {
    const { agentId } = terms;
    const agent = this.#agents.get(agentId);
    if (!agent) throw new TypeError('the totals of the agent are not loaded');
    const { totals } = agent;
    const { balance } = options;
    const kind = agentCallKind(record);
    if (isDayUsed(kind, totals, balance)) {
      throw dailyLimitReached(kind, { now: this.#deps.now(), resetsAt: this.#resetsAt() });
    }
    const free = this.#freeAmount(record, totals, terms, options);
    if (free instanceof ApiError) this.#pool.isFull ||= free.code === 'agent_free_tier_full';
    else if (free > 0) this.#pool.isFull = false;
    if (free instanceof ApiError && balance <= 0) throw this.#withOffer(free, agentId, balance);
    totals[kind] += 1;
    agent.open += 1;
    // Midnight may have passed since the call arrived.
    const startedAt = Math.max(record.createdAt, parseTime(totals.day) ?? 0);
    if (free instanceof ApiError) return { startedAt, free: undefined };
    if (kind === 'others') totals.freeRequests += 1;
    totals.held += free;
    this.#pool.held += free;
    return { startedAt, free: { day: totals.day, amount: free } };
  }

  /** Undoes a `take` whose call was refused for another reason. */
  giveBack(record: HoldRecord, agentId: string): void {
    const agent = this.#agents.get(agentId);
    if (!agent) return;
    agent.open -= 1;
    agent.totals[agentCallKind(record)] -= 1;
  }

  /** A balance below the maximum cost of a call. */
  balanceTooLow(agentId: string, balance: NanoUsd): PaymentDue {
    return this.#withOffer(new ApiError('agent_balance_too_low'), agentId, balance);
  }

  /** Ends a call that cost this much. */
  end(agentId: string, free: FreeUse | undefined, cost: NanoUsd): void {
    if (!free) return;
    const spent = Math.min(cost, free.amount);
    const totals = this.#agents.get(agentId)?.totals;
    if (totals?.day === free.day) {
      totals.held -= free.amount;
      totals.freeCost += spent;
    }
    if (this.#pool.day === free.day) {
      this.#pool.held -= free.amount;
      this.#pool.spent += spent;
      if (spent < free.amount) this.#pool.isFull = false;
    }
  }

  /** To be called once the settlement of a call is on disk, or given up. */
  settled(agentId: string): void {
    const agent = this.#agents.get(agentId);
    if (agent) agent.open -= 1;
  }

  async use(agentId: string): Promise<AgentUse> {
    while (!this.isReady(agentId)) await this.load(agentId);
    const { held, ...day } = (this.#agents.get(agentId) as Agent).totals;
    const isPoolFull = this.#pool.isFull || this.#poolLeft() <= 0;
    return { ...day, freeCost: day.freeCost + held, resetsAt: this.#resetsAt(), isPoolFull };
  }

  /** Days only advance: setting the clock back must not grant a second allowance. */
  #day(): string {
    const day = utcDay(this.#deps.now());
    if (day > this.#today) this.#today = day;
    return this.#today;
  }

  #resetsAt(): number {
    return endOfDay(parseTime(this.#day()) ?? 0);
  }

  /** Reads totals; open calls belong to earlier days, or their agent would be in memory. */
  async #load(agentId: string): Promise<void> {
    const day = this.#day();
    if (this.#pool.day !== day) {
      const spent = await this.#deps.store.freeCost(day);
      this.#pool = { day, spent, held: 0, isFull: false };
    }
    const known = this.#agents.get(agentId);
    if (known?.totals.day === day) return;
    const stored = await this.#deps.store.day(agentId, day);
    if (this.#agents.size >= (this.#deps.agentsMax ?? defaultAgentsMax)) this.#forgetIdle();
    this.#agents.set(agentId, { open: known?.open ?? 0, totals: { ...stored, day, held: 0 } });
  }

  #forgetIdle(): void {
    for (const [id, { open }] of this.#agents) if (open === 0) this.#agents.delete(id);
  }

  #poolLeft(): NanoUsd {
    return this.#deps.settings.sharedPool - this.#pool.spent - this.#pool.held;
  }

  /** The maximum cost that a free call reserves, or why it is not free. */
  #freeAmount(
    record: HoldRecord,
    totals: DayTotals,
    { outsideFreeTier }: AgentTerms,
    { balance, fit }: TakeOptions,
  ): NanoUsd | ApiError {
    const { amount } = record;
    const isOutsideFreeTier = outsideFreeTier !== undefined;
    const call = { kind: agentCallKind(record), amount, isOutsideFreeTier, balance };
    const share = freeShare(call, { totals, pool: this.#pool }, this.#deps.settings);
    if ('free' in share) return share.free;
    const { code, affordable } = share;
    const fitting = affordable === undefined ? undefined : fitWithin(fit, affordable, { isWhole: false });
    return fitting ?? new ApiError(code, outsideFreeTier === undefined ? {} : { message: outsideFreeTier });
  }

  /** Adds what is left, and how to go on. */
  #withOffer(error: ApiError, agentId: string, balance: NanoUsd): PaymentDue {
    const totals = this.#agents.get(agentId)?.totals;
    const allowance = this.#deps.settings;
    return withOffer(error, { totals, allowance, balance, resetsAt: this.#resetsAt() });
  }
}

interface TakeOptions {
  /** The agent's remaining credit. */
  balance: NanoUsd;
  fit: Fit;
}
