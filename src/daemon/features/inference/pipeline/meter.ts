import { ApiError } from '../../../../shared/errors.ts';
import { type Cost, costOf, type NanoUsd, type Tokens } from '../../../../shared/money.ts';
import type { PlacedAnswer } from '../../idempotency/index.ts';
import type {
  Admission,
  CallStatus,
  CallTrace,
  Hold,
  LedgerEntry,
  Settlement,
  UsageRecord,
} from '../../metering/index.ts';
import type { Attempt, Route } from '../../routing/index.ts';
import type { FinishReason, InferenceEvent } from '../neutral.ts';
import { estimateTokens, noTokens, tokensMax } from '../pricing/cost-bound.ts';
import type { Output } from './output.ts';
import type { Settled } from './renderer.ts';
import { serviceAnswer } from './service-answer.ts';
import { settledEvent } from './settled-event.ts';

/** A running stream's cost is kept on disk this often, and each time it grew by a cent, in case the daemon dies. */
const progressEveryMs = 2_000;
const progressEveryNanoUsd = 10_000_000;
/** A low estimate, so that a cent is not passed by much. */
const charactersPerTokenMin = 3;
/** No vocabulary averages more characters a token; past this, a provider ignored the limit it was given. */
const charactersPerTokenMax = 24;

export interface MeterOptions {
  admission: Admission;
  /** Writes what the call has cost so far; it may fail unheard. */
  keepProgress: (progress: {
    requestId: string;
    provider: string;
    tokens: Tokens;
    cost: NanoUsd;
  }) => Promise<void>;
  clock: { now(): number; elapsed(): number };
  marginPpm: number;
  hold: Hold;
  startedAt: number;
  /** The best routes of the plan, best first. */
  routes?: CallTrace['routes'];
  /** Estimate of the prompt, in tokens. */
  promptTokens: number;
  /** The most output that the hold pays for, in tokens. */
  outputTokensMax: number;
  /** Whether that is less than the caller asked for, because money is short. */
  isCut?: boolean;
  /** Called when the settlement is on disk: so long after the request came, in milliseconds. */
  onSettled: (usage: UsageRecord, settledMs: number) => void;
}

export interface SettleReason {
  status: CallStatus;
  errorCode?: string;
  /** The answer, where it is kept for an Idempotency-Key: written with the settlement or not at all. */
  answer?: (settled: Settled) => PlacedAnswer | undefined;
}

/**
 * Counts what one call used and settles it exactly once, whichever way the call ends. The rule for answers that broke
 * off: the provider's own usage if it was told, else the estimate of the prompt and of what was delivered, never above
 * the hold; a usage of zero that the provider told stays zero.
 */
export class Meter {
  readonly #options: MeterOptions;
  readonly attempts: Attempt[] = [];
  responseId: string | null = null;
  finish: FinishReason = 'stop';
  #route: Route | undefined;
  #output: Output | undefined;
  #hasFinished = false;
  #reported: Tokens | undefined;
  #promptTold: Pick<Tokens, 'input' | 'cachedInput' | 'cacheWrite'> | undefined;
  #ttftMs: number | null = null;
  #progressAt: number;
  #progressCharacters = 0;
  #charactersPerCent = Number.POSITIVE_INFINITY;
  #settled: Promise<Settled> | undefined;
  readonly #admittedMs: number;
  #heldMs: number | null = null;
  readonly #startedMs: number[] = [];

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#admittedMs = this.#sinceStart();
    this.#progressAt = options.startedAt;
  }

  /** A provider is about to be asked. */
  attemptStarted(): void {
    this.#startedMs.push(this.#sinceStart());
  }

  /** A provider has started to answer; until then nothing is charged. */
  answerStarted(route: Route, output: Output): void {
    this.#route = route;
    this.#output = output;
    this.#ttftMs = Math.round(this.#sinceStart());
    const nanoUsdPerMillion = route.offer.prices?.output ?? 0;
    this.#charactersPerCent = (charactersPerTokenMin * progressEveryNanoUsd * 1e6) / nanoUsdPerMillion;
  }

  /** The provider may have worked on the prompt although no answer came: the client left while it was asked. */
  chargePromptOf(route: Route): void {
    this.#route ??= route;
  }

  /** The provider's own count. One that cannot be true is as good as none. */
  report(tokens: Tokens): void {
    if (isPlausible(tokens)) this.#reported = tokens;
  }

  /** Takes from a batch what counts. */
  see(events: readonly InferenceEvent[]): void {
    for (const event of events) {
      if (event.type === 'usage') this.report(event.tokens);
      else if (event.type === 'prompt-counted') this.#seePrompt(event.tokens);
      else if (event.type === 'finished') {
        this.finish = event.reason;
        this.#hasFinished = true;
      }
    }
  }

  /** Some servers begin with a count of nothing and tell the true one at the end. */
  #seePrompt(tokens: Pick<Tokens, 'input' | 'cachedInput' | 'cacheWrite'>): void {
    if (tokens.input > 0 && isPlausible(tokens)) this.#promptTold = tokens;
  }

  /** Whether the answer has outgrown what it was allowed by far, and goes on. */
  isOverspent(): boolean {
    if (this.#hasFinished) return false;
    const { outputTokensMax, isCut = false } = this.#options;
    if (isCut && (this.#reported?.output ?? 0) > outputTokensMax) return true;
    const most = outputTokensMax * charactersPerTokenMax + (isCut ? 0 : 1024);
    return (this.#output?.characters() ?? 0) > most;
  }

  /** Called with each batch; writes now and then. */
  keepProgress(): void {
    const { clock, keepProgress, hold } = this.#options;
    const at = clock.elapsed();
    const characters = this.#output?.characters() ?? 0;
    const isDue =
      at - this.#progressAt >= progressEveryMs ||
      characters - this.#progressCharacters >= this.#charactersPerCent;
    if (!isDue || !this.#route) return;
    this.#progressAt = at;
    this.#progressCharacters = characters;
    const tokens = this.tokens();
    const cost = this.#cost(tokens)?.total ?? 0;
    keepProgress({ requestId: hold.record.requestId, provider: this.#route.provider, tokens, cost }).catch(
      () => {},
    );
  }

  /**
   * The provider's count, else its count of the prompt or the estimate of that, and the estimate of the delivered output;
   * none when nobody began to answer.
   */
  tokens(): Tokens {
    if (this.#reported) return this.#reported;
    if (!this.#route) return noTokens;
    const output = estimateTokens(this.#output?.characters() ?? 0);
    return { ...noTokens, input: this.#options.promptTokens, ...this.#promptTold, output };
  }

  get ttftMs(): number | null {
    return this.#ttftMs;
  }

  /** Resolves when the hold is on disk; rejects with what the caller is told when it could not be written. */
  async committed(): Promise<void> {
    try {
      await this.#options.hold.committed;
      this.#heldMs = this.#sinceStart();
    } catch (cause) {
      throw new ApiError('unavailable', { message: 'The ledger cannot be written right now.', cause });
    }
  }

  /** Milliseconds since the call came, to a tenth. */
  #sinceStart(): number {
    const { clock, startedAt } = this.#options;
    return Math.round((clock.elapsed() - startedAt) * 10) / 10;
  }

  get isSettled(): boolean {
    return this.#settled !== undefined;
  }

  /** Settles on the first call; later calls get the first one's result. */
  settle(reason: SettleReason): Promise<Settled> {
    this.#settled ??= this.#settle(reason);
    return this.#settled;
  }

  async #settle({ status, errorCode, answer }: SettleReason): Promise<Settled> {
    const { admission, clock, hold, onSettled } = this.#options;
    const { record } = hold;
    const tokens = this.tokens();
    const cost = this.#cost(tokens);
    const ownKey = record.ownKey || (this.#route?.ownKey ?? false);
    // The hold is the promise that was made to the caller's budget: no answer may cost more.
    const charged = ownKey || !cost ? 0 : Math.min(cost.total, record.amount);
    const completedAt = clock.now();
    const usage: UsageRecord = {
      requestId: record.requestId,
      responseId: this.responseId,
      workspaceId: record.workspaceId,
      keyId: record.keyId,
      endpoint: record.endpoint,
      model: this.#route?.offer.model ?? record.model,
      provider: this.#route?.provider ?? null,
      streamed: record.streamed,
      ownKey,
      status,
      errorCode: errorCode ?? null,
      tokens,
      tokensReported: this.#reported !== undefined,
      cost,
      charged,
      attempts: [...this.attempts],
      ttftMs: this.#ttftMs,
      totalMs: Math.round(this.#sinceStart()),
      createdAt: record.createdAt,
      completedAt,
      trace: this.#trace(status),
    };
    const settled = { finish: this.finish, tokens, service: serviceAnswer(usage), completedAt };
    const placed = answer?.(settled);
    const settlement: Settlement = {
      usage,
      entries: this.#entries(usage, cost),
      caller: 'key',
      tier: charged > 0 || ownKey ? 'paid' : 'free',
      event: settledEvent(usage),
      ...(placed && { answer: placed }),
    };
    await admission.settle(hold, settlement);
    onSettled(usage, this.#sinceStart());
    return settled;
  }

  #trace(status: CallStatus): CallTrace {
    return {
      admittedMs: this.#admittedMs,
      heldMs: this.#heldMs,
      startedMs: this.#startedMs,
      finishReason: status === 'completed' || status === 'incomplete' ? this.finish : null,
      routes: this.#options.routes ?? [],
    };
  }

  #cost(tokens: Tokens): Cost | null {
    if (!this.#route) return { provider: 0, margin: 0, total: 0 };
    return this.#route.offer.prices
      ? costOf(this.#route.offer.prices, tokens, this.#route.ownKey ? 0 : this.#options.marginPpm)
      : null;
  }

  #entries({ charged, workspaceId }: UsageRecord, cost: Cost | null): LedgerEntry[] {
    if (charged === 0 || !cost || !this.#route) return [];
    const debit = `workspace:${workspaceId}`;
    const provider = Math.min(cost.provider, charged);
    const entries: LedgerEntry[] = [
      { kind: 'provider_cost', debit, credit: `provider:${this.#route.provider}`, amount: provider },
      { kind: 'margin', debit, credit: 'margin', amount: charged - provider },
    ];
    return entries.filter((entry) => entry.amount > 0);
  }
}

function isPlausible({ media, toolUses, ...tokens }: Partial<Tokens>): boolean {
  return Object.values(tokens).every((count) => count <= tokensMax);
}
