import { ApiError } from '../../../shared/errors.ts';
import { estimateTokens } from '../../../shared/formats/estimate-tokens.ts';
import {
  type Cost,
  costOf,
  costStated,
  costWithin,
  type NanoUsd,
  noCost,
  type Prices,
  pricesFor,
  type Tokens,
} from '../../../shared/money/money.ts';
import type { Offer } from '../catalog/index.ts';
import type { SlotAnswer } from '../idempotency/index.ts';
import {
  type Admission,
  type CallOutcome,
  type CallStatus,
  type CallTrace,
  type Hold,
  type HookRun,
  heldForRoute,
  settlementFor,
  type UsageRecord,
  usageRecord,
} from '../metering/index.ts';
import type { Attempt, Route } from '../routing/index.ts';
import type { Billed, FinishReason, InferenceEvent } from '../upstreams/neutral.ts';
import type { Dropped } from '../upstreams/upstream.ts';
import type { CallObserver, CallProgress } from './call-observer.ts';
import type { Output } from './output-items.ts';
import { type InputTokens, noTokens, tokensMax } from './pricing/cost-bound.ts';
import { pricesOfTier } from './pricing/service-tiers.ts';
import type { Settled } from './renderer.ts';
import { serviceAnswer } from './service-member.ts';

export interface HeldCallOptions {
  admission: Pick<Admission, 'settle'>;
  hold: Hold;
  observers: readonly Pick<CallObserver, 'onSettled'>[];
  clock: { elapsed(): number };
  /** `clock.elapsed()` when the request arrived. */
  startedAt: number;
  /** Called once when the call is over, before its settlement is on disk. */
  onEnd?: () => void;
}

/** An admitted call, whose hold is settled once: by whatever ends it first. */
export class HeldCall {
  readonly #options: HeldCallOptions;
  #settled: Promise<UsageRecord> | undefined;

  constructor(options: HeldCallOptions) {
    this.#options = options;
  }

  get isSettled(): boolean {
    return this.#settled !== undefined;
  }

  /** Milliseconds since the request arrived, to a tenth. */
  sinceStart(): number {
    const { clock, startedAt } = this.#options;
    return Math.round((clock.elapsed() - startedAt) * 10) / 10;
  }

  /**
   * Settles the hold with the first outcome; later ones are not asked for. `answer` is stored for the call's Idempotency-Key
   * in the same transaction. Rejects if the settlement cannot be written.
   */
  settle(
    outcome: () => CallOutcome,
    answer?: (usage: UsageRecord) => SlotAnswer | undefined,
  ): Promise<UsageRecord> {
    this.#settled ??= this.#settle(outcome(), answer);
    return this.#settled;
  }

  async #settle(
    outcome: CallOutcome,
    answer: ((usage: UsageRecord) => SlotAnswer | undefined) | undefined,
  ): Promise<UsageRecord> {
    const { admission, hold, observers, onEnd } = this.#options;
    onEnd?.();
    const usage = usageRecord(hold.record, outcome);
    await admission.settle(hold, settlementFor(usage, answer?.(usage)));
    const settledMs = this.sinceStart();
    for (const observer of observers) observer.onSettled?.(usage, settledMs);
    return usage;
  }
}

/** A running stream's cost is saved this often, and whenever it has grown by a cent, in case the daemon dies. */
const progressEveryMs = 2_000;
/** The first time is earlier, so that a running answer soon shows what it costs. */
const firstProgressMs = 500;
const progressEveryNanoUsd = 10_000_000;
/** A low estimate, so that the cost between two saves stays close to a cent. */
const charactersPerTokenMin = 3;
/** No vocabulary has longer tokens on average; a longer answer means that the provider ignored its limit. */
const charactersPerTokenMax = 24;

const noWaits: NonNullable<CallTrace['waits']> = [];

type PromptTokens = Pick<Tokens, 'input' | 'cachedInput' | 'cacheWrite'>;

export interface MeterOptions extends HeldCallOptions {
  /** Stores the cost so far; failures are ignored. */
  saveProgress: (progress: CallProgress) => Promise<void>;
  clock: { now(): number; elapsed(): number };
  marginPpm: number;
  /** The best routes of the plan, best first. */
  routes?: CallTrace['routes'];
  captured?: CallTrace['captured'];
  /** How the call waited for others to end; the list grows. */
  waits?: NonNullable<CallTrace['waits']>;
  /** Estimates of the prompt, in tokens. */
  prompt: Pick<InputTokens, 'likely' | 'text'>;
  /** The member of the request with the prompt. */
  promptParam: 'input' | 'messages';
  /** The output that the hold pays for, in tokens. */
  outputTokensMax: number;
  /** Whether the budget, and not the caller or the model, sets `outputTokensMax`. */
  isCapped?: boolean;
  /** Whether what the call costs the caller is limited: a tier without a known price then costs as much as the standard one. */
  isCostLimited?: boolean;
}

export interface SettleReason {
  status: CallStatus;
  errorCode?: string;
  /** The status of the response; null if the client gets none. */
  httpStatus: number | null;
  /** Returns the answer to store for an Idempotency-Key, in the same transaction as the settlement. */
  answer?: (settled: Settled) => SlotAnswer | undefined;
}

/**
 * Counts what one call uses and settles it, however the call ends. An answer that broke off is charged by
 * the provider's usage if it was reported, else by the estimate of the prompt and the delivered output, never above the
 * hold; a reported usage of zero stays zero.
 */
export class Meter {
  readonly #options: MeterOptions;
  readonly attempts: Attempt[] = [];
  responseId: string | null = null;
  finish: FinishReason = 'stop';
  /** The provider's word for the finish reason, where that says more. */
  providerReason: string | undefined;
  servedModel: string | undefined;
  /** What guardrails did; undefined if the call has to pass none. */
  hooks: readonly HookRun[] | undefined;
  /** What the provider's format could not express, or the model has not read. */
  dropped: readonly Dropped[] = [];
  #route: Route | undefined;
  #output: Pick<Output, 'characters'> | undefined;
  #hasFinished = false;
  #reported: Tokens | undefined;
  #billed: Billed = {};
  #reportedPrompt: PromptTokens | undefined;
  #ttftMs: number | null = null;
  #progressAt: number;
  #progressCharacters = 0;
  #charactersPerCent = Number.POSITIVE_INFINITY;
  #settled: Settled | undefined;
  readonly #held: HeldCall;
  #progressWaitMs = firstProgressMs;
  readonly #admittedMs: number;
  #heldMs: number | null = null;
  readonly #attemptsStartedMs: number[] = [];

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#held = new HeldCall(options);
    this.#admittedMs = this.#held.sinceStart();
    this.#progressAt = options.startedAt;
  }

  /** To be called when a provider is about to be asked. */
  attemptStarted(): void {
    this.#attemptsStartedMs.push(this.#held.sinceStart());
  }

  /** To be called when a provider has started to answer; before that, nothing is charged. */
  answerStarted(route: Route, output: Pick<Output, 'characters'>): void {
    if (route !== this.#route) this.#ttftMs = Math.round(this.#held.sinceStart());
    this.#route = route;
    this.#output = output;
    const nanoUsdPerMillion = route.offer.prices?.output ?? 0;
    this.#charactersPerCent = (charactersPerTokenMin * progressEveryNanoUsd * 1e6) / nanoUsdPerMillion;
  }

  /** To be called when an answer of which nothing was delivered is given up: nothing of it is charged. */
  answerDiscarded(): void {
    this.#route = undefined;
    this.#output = undefined;
    this.#reported = undefined;
    this.#billed = {};
    this.#reportedPrompt = undefined;
    this.#ttftMs = null;
    this.#hasFinished = false;
    this.finish = 'stop';
    this.providerReason = undefined;
    this.servedModel = undefined;
    this.#progressCharacters = 0;
  }

  /** Charges the prompt of a call that was canceled before the answer: the provider may have worked on it. */
  chargePromptOf(route: Route): void {
    this.#route ??= route;
  }

  /** Takes the provider's usage and its own cost, unless they are implausible; returns whether it did. */
  report(tokens: Tokens, billed?: Billed): boolean {
    if (!isPlausible(tokens)) return false;
    this.#reported = tokens;
    if (billed) this.#billed = { ...this.#billed, ...billed };
    return true;
  }

  /** Takes usage and the finish reason from a batch. */
  count(events: readonly InferenceEvent[]): void {
    for (const event of events) {
      if (event.type === 'usage') this.report(event.tokens, event.billed);
      else if (event.type === 'prompt-counted') this.#reportPrompt(event.tokens);
      else if (event.type === 'finished') {
        this.finish = event.reason;
        this.providerReason = event.providerReason;
        this.servedModel = event.servedModel;
        this.#hasFinished = true;
      }
    }
  }

  /** Some servers report a prompt of zero tokens first and the real count at the end. */
  #reportPrompt(tokens: PromptTokens): void {
    if (tokens.input > 0 && isPlausible(tokens)) this.#reportedPrompt = tokens;
  }

  /** Whether the answer has far exceeded its limit and is still running. */
  isOverspent(): boolean {
    if (this.#hasFinished) return false;
    const { outputTokensMax, isCapped = false } = this.#options;
    if (isCapped && (this.#reported?.output ?? 0) > outputTokensMax) return true;
    const charactersMax = outputTokensMax * charactersPerTokenMax + (isCapped ? 0 : 1024);
    return this.#characters() > charactersMax;
  }

  /** To be called after each batch; saves the cost so far now and then. */
  saveProgress(): void {
    const { clock, saveProgress, hold } = this.#options;
    const at = clock.elapsed();
    const characters = this.#characters();
    const isDue =
      at - this.#progressAt >= this.#progressWaitMs ||
      characters - this.#progressCharacters >= this.#charactersPerCent;
    if (!isDue || !this.#route) return;
    this.#progressAt = at;
    this.#progressWaitMs = progressEveryMs;
    this.#progressCharacters = characters;
    const tokens = this.tokens();
    const cost = this.#cost(tokens)?.total ?? null;
    const { provider, offer } = this.#route;
    const { requestId } = hold.record;
    const progress = { requestId, provider, model: offer.model, tokens, cost, ttftMs: this.#ttftMs };
    saveProgress(progress).catch(() => {});
  }

  /** The provider's usage, else an estimate; none when no provider has started to answer. */
  tokens(): Tokens {
    if (this.#reported) return this.#reported;
    if (!this.#route) return noTokens;
    const output = estimateTokens(this.#characters());
    return { ...noTokens, input: this.#options.prompt.likely, ...this.#reportedPrompt, output };
  }

  /** How the call waited for others to end. */
  get waits(): NonNullable<CallTrace['waits']> {
    return this.#options.waits ?? noWaits;
  }

  /** Resolves when the hold is on disk; rejects with `unavailable` when it cannot be written. */
  async holdCommitted(): Promise<void> {
    try {
      await this.#options.hold.committed;
      this.#heldMs = this.#held.sinceStart();
    } catch (cause) {
      throw new ApiError('unavailable', { message: 'The ledger cannot be written right now.', cause });
    }
  }

  get isSettled(): boolean {
    return this.#held.isSettled;
  }

  /** Settles the call; later calls get the same result. */
  async settle({ status, errorCode, httpStatus, answer }: SettleReason): Promise<Settled> {
    const usage = await this.#held.settle(
      () => this.#outcome(status, errorCode ?? null, httpStatus),
      answer && ((record) => answer(this.#settledAs(record))),
    );
    return this.#settledAs(usage);
  }

  #settledAs(usage: UsageRecord): Settled {
    const { tokens, completedAt } = usage;
    this.#settled ??= { finish: this.finish, tokens, service: serviceAnswer(usage), completedAt };
    return this.#settled;
  }

  #outcome(status: CallStatus, errorCode: string | null, httpStatus: number | null): CallOutcome {
    const tokens = this.tokens();
    const route = this.#route;
    const prices = route && this.#prices(route.offer);
    if (route && this.#isPromptCut(route))
      this.dropped = [{ param: this.#options.promptParam }, ...this.dropped];
    return {
      status,
      errorCode,
      responseId: this.responseId,
      model: route?.offer.model,
      // Nothing is charged for a failed call, but the provider that failed is what it is looked for by.
      provider: route?.provider ?? (status === 'failed' ? (this.attempts.at(-1)?.provider ?? null) : null),
      ownKey: route?.ownKey,
      tokens,
      tokensReported: this.#reported !== undefined,
      cost: this.#cost(tokens),
      prices: prices ? pricesFor(prices, tokens.input) : null,
      attempts: [...this.attempts],
      ttftMs: this.#ttftMs,
      totalMs: Math.round(this.#held.sinceStart()),
      completedAt: this.#options.clock.now(),
      cache: route ? cacheUse(route) : null,
      httpStatus,
      trace: {
        admittedMs: this.#admittedMs,
        heldMs: this.#heldMs,
        startedMs: this.#attemptsStartedMs,
        finishReason: status === 'completed' || status === 'incomplete' ? this.finish : null,
        ...(this.providerReason !== undefined && { providerReason: this.providerReason }),
        ...(this.servedModel !== undefined &&
          this.servedModel !== route?.providerModel && { servedModel: this.servedModel }),
        routes: this.#options.routes ?? [],
        ...(this.dropped.length > 0 && { dropped: this.dropped }),
        ...(this.hooks && this.hooks.length > 0 && { hooks: [...this.hooks] }),
        ...(this.waits.length > 0 && { waits: [...this.waits] }),
        ...(this.#options.captured && { captured: this.#options.captured }),
        ...(route &&
          isSubscribed(route) && {
            subscription: { listCost: this.#listCost(route, tokens)?.total ?? null },
          }),
      },
    };
  }

  /**
   * Whether the model has read a part of the prompt only: a server such as Ollama leaves out without a word what exceeds the context, and
   * counts the tokens that are left. Of an estimate that is less than twice as much, nothing is said.
   */
  #isPromptCut({ offer: { kind, contextLength } }: Route): boolean {
    if ((kind !== 'local' && kind !== 'compatible') || contextLength === null) return false;
    const read = this.#reported?.input ?? 0;
    return read > 0 && read <= contextLength && this.#options.prompt.text > 2 * contextLength;
  }

  #cost(tokens: Tokens): Cost | null {
    if (!this.#route || isSubscribed(this.#route)) return noCost;
    return this.#listCost(this.#route, tokens);
  }

  /** What a call costs by its prices, whoever pays. */
  #listCost({ offer, ownKey }: Route, tokens: Tokens): Cost | null {
    const marginPpm = ownKey ? 0 : this.#options.marginPpm;
    const { cost, tier } = this.#billed;
    // Servers that do not count, or charge nobody, say 0, too; resellers mean it.
    const isStated = cost !== undefined && (cost > 0 || offer.kind !== 'compatible');
    if (isStated) return costStated(this.#boundedByHold(cost, marginPpm), marginPpm);
    const prices = this.#prices(offer);
    if (!prices) return null;
    const priced = costOf(prices, tokens, marginPpm);
    // The hold knows of the tiers that a request asks for, not of those that an account gets unasked.
    return tier === undefined
      ? priced
      : costStated(this.#boundedByHold(priced.provider, marginPpm), marginPpm);
  }

  /** The prices of the tier that the answer names; null if they are not known. */
  #prices(offer: Offer): Prices | null {
    const { tier } = this.#billed;
    const { prices } = offer;
    if (tier === undefined || prices === null) return prices;
    return pricesOfTier(prices, tier, offer) ?? (this.#options.isCostLimited ? prices : null);
  }

  /** A provider may state any cost; a hold is what the caller agreed to. There is none on an own key or without a price. */
  #boundedByHold(stated: NanoUsd, marginPpm: number): NanoUsd {
    const amount = this.#heldAmount();
    return amount > 0 ? Math.min(stated, costWithin(amount, marginPpm).provider) : stated;
  }

  /** What is held for the route that answers. */
  #heldAmount(): NanoUsd {
    const { record } = this.#options.hold;
    const route = this.#route;
    if (record.routes === undefined || route === undefined) return record.amount;
    return heldForRoute(record, { model: route.offer.model, provider: route.provider });
  }

  /** Characters of the answer so far. */
  #characters(): number {
    return this.#output?.characters() ?? 0;
  }
}

function isSubscribed(route: Route): boolean {
  return route.kind === 'provider' && route.subscription !== undefined;
}

function cacheUse(route: Route): 'hit' | 'miss' | null {
  if (route.kind === 'cache') return 'hit';
  return route.cacheMiss ? 'miss' : null;
}

function isPlausible({
  input = 0,
  cachedInput = 0,
  cacheWrite = 0,
  output = 0,
  reasoning = 0,
  longCacheWrite = 0,
}: Partial<Tokens>): boolean {
  return Math.max(input, cachedInput, cacheWrite, output, reasoning, longCacheWrite) <= tokensMax;
}
