import { RecentMap } from '../../../shared/recent-map.ts';
import type { World } from '../../base/world.ts';
import type { UpstreamFailure, UpstreamFailureKind } from '../upstreams/upstream.ts';

/** An account at a provider and one model there, whose health is tracked. */
export interface Target {
  /** The provider's name for the host's account; see `accountOf` for others. */
  account: string;
  provider: string;
  /** The model's name at the provider. */
  providerModel: string;
  /** Has the model's name here, which attempts have, too. */
  offer?: { model: string };
}

export type BenchReason =
  | 'authentication'
  | 'billing'
  | 'forbidden'
  | 'rate-limited'
  | 'unknown-model'
  | 'failing';

/**
 * `refused`: the provider rejects the key or the account, so it is not tried. `last-resort`: rate limited, failing, without the model or
 * not to be used with it, so it is tried after all others. `probe`: failing or refused, and due for one try.
 */
export type Standing =
  | { state: 'ready' | 'probe' }
  | { state: 'refused' | 'last-resort'; reason: BenchReason; retryAfterMs: number };

export interface HealthReader {
  standing(target: Target): Standing;
}

export interface Bench {
  account: string;
  provider: string;
  /** Undefined for every model of the account. */
  providerModel: string | undefined;
  /** The model's name here, for people; undefined likewise. */
  model: string | undefined;
  reason: BenchReason;
  retryAfterMs: number;
}

/** A time in which calls went elsewhere, in milliseconds since 1970. */
export interface BenchPeriod
  extends Pick<Bench, 'account' | 'provider' | 'providerModel' | 'model' | 'reason'> {
  since: number;
  /** When it ended, or will end if nothing else fails before. */
  until: number;
}

/** What came of the requests with one of several keys, since the start. */
export interface KeyUses {
  attempts: number;
  failed: number;
  /** How long ago the last one was. */
  agoMs: number;
}

/** How many of the latest benches are remembered. */
const periodsMax = 1_000;

/** How long a model is tried last that the provider does not have, or not for this account. */
const modelMs = 5 * 60_000;
const rateLimitedMs = 5_000;
const rateLimitedMsMax = 60_000;
/** The breaker opens after this many consecutive failures within this time. */
const breakerFailures = 5;
const breakerWindowMs = 10_000;
/** A failing model and a refused account get one call each time, so that a refusal of one caller never lasts for the others. */
const probeMs = 15_000;
/** Maximum number of tracked accounts, models and breakers each: accounts of workspaces come and go. */
const entriesMax = 5_000;

interface Breaker {
  /** Times of the latest consecutive failures, oldest first. */
  failuresAt: number[];
  /** Set while the breaker is open. */
  nextProbeAt: number | undefined;
  /** Whether a probe was taken and nothing came of it yet. */
  isProbed?: boolean;
}

interface TimedBench {
  reason: BenchReason;
  /** When it ends, or that of an account is probed. */
  until: number;
  target: Target;
  /** As in `Breaker`. */
  isProbed?: boolean;
}

/** By the monotonic clock. */
type RunningPeriod = BenchPeriod & { target: Target };

const ready: Standing = { state: 'ready' };
const probe: Standing = { state: 'probe' };

/** Remembers failing providers, so that calls go elsewhere meanwhile. In memory only: a restart clears it. */
export class Health implements HealthReader {
  readonly #elapsed: () => number;
  readonly #onBench: ((bench: Bench) => void) | undefined;
  readonly #accounts = new RecentMap<string, TimedBench>(entriesMax);
  readonly #models = new RecentMap<string, TimedBench>(entriesMax);
  readonly #uses = new RecentMap<string, { attempts: number; failed: number; lastAt: number }>(entriesMax);
  readonly #periods: RunningPeriod[] = [];
  readonly #breakers = new RecentMap<string, Breaker & { target: Target }>(entriesMax);

  constructor(world: Pick<World, 'elapsed'>, options: { onBench?: (bench: Bench) => void } = {}) {
    this.#elapsed = () => world.elapsed();
    this.#onBench = options.onBench;
  }

  standing(target: Target): Standing {
    if (this.#accounts.size + this.#models.size + this.#breakers.size === 0) return ready;
    const now = this.#elapsed();
    const account = this.#accounts.get(target.account);
    if (account !== undefined) return account.until > now ? benched('refused', account, now) : probe;
    const model = this.#models.get(modelKey(target));
    if (model !== undefined && model.until > now) return benched('last-resort', model, now);
    const nextProbeAt = this.#breakers.get(breakerKey(target))?.nextProbeAt;
    if (nextProbeAt === undefined) return ready;
    if (nextProbeAt <= now) return probe;
    return { state: 'last-resort', reason: 'failing', retryAfterMs: nextProbeAt - now };
  }

  /** Takes the one probe of a failing model; false when another call took it first. */
  takeProbe(target: Target): boolean {
    if (this.standing(target).state !== 'probe') return false;
    const nextAt = this.#elapsed() + probeMs;
    const account = this.#accounts.get(target.account);
    const breaker = this.#breakers.get(breakerKey(target));
    if (account !== undefined) Object.assign(account, { until: nextAt, isProbed: true });
    else if (breaker !== undefined) Object.assign(breaker, { nextProbeAt: nextAt, isProbed: true });
    return true;
  }

  /** Of an account of one of several keys. */
  usesOf(account: string): KeyUses | undefined {
    const uses = this.#uses.get(account);
    return uses && { attempts: uses.attempts, failed: uses.failed, agoMs: this.#elapsed() - uses.lastAt };
  }

  /** Counts what came of a request with one of several keys. */
  countUse(account: string, isOk: boolean): void {
    const uses = this.#uses.get(account) ?? { attempts: 0, failed: 0, lastAt: 0 };
    uses.attempts += 1;
    if (!isOk) uses.failed += 1;
    uses.lastAt = this.#elapsed();
    this.#uses.set(account, uses);
  }

  succeeded(target: Target): void {
    const isKnown = [
      this.#breakers.size > 0 && this.#breakers.delete(breakerKey(target)),
      this.#models.size > 0 && this.#models.delete(modelKey(target)),
      this.#accounts.size > 0 && this.#accounts.delete(target.account),
    ];
    if (!isKnown.includes(true)) return;
    this.#endPeriods(({ account, providerModel, target: of }) =>
      providerModel === undefined ? account === target.account : breakerKey(of) === breakerKey(target),
    );
  }

  failed(target: Target, failure: UpstreamFailure): void {
    const now = this.#elapsed();
    const reason = benchReasons[failure.kind];
    if (reason === undefined) {
      this.#returnProbe(target, now);
      return;
    }
    const { of, ms } = rules[reason];
    if (of === 'every-account') {
      this.#countFailure(target, now);
      return;
    }
    const { key, entries } =
      of === 'account'
        ? { key: target.account, entries: this.#accounts }
        : { key: modelKey(target), entries: this.#models };
    const until = now + ms(failure.details.retryAfterSeconds);
    const known = entries.get(key);
    // An account is benched until a call succeeds.
    const isNew = known === undefined || (entries === this.#models && known.until <= now);
    entries.set(key, { reason, until, target });
    if (!isNew && known.reason === reason) {
      this.#extendPeriod(target, reason, until);
      return;
    }
    if (!isNew) this.#endPeriods((period) => period.reason === known.reason && isSameBench(period, target));
    this.#report(target, reason, until - now);
  }

  /** A request that was at fault itself says nothing of a provider that has recovered: the next one may try, too. */
  #returnProbe(target: Target, now: number): void {
    const account = this.#accounts.get(target.account);
    const breaker = this.#breakers.get(breakerKey(target));
    if (account?.isProbed) Object.assign(account, { until: now, isProbed: false });
    else if (breaker?.isProbed) Object.assign(breaker, { nextProbeAt: now, isProbed: false });
  }

  /** Clears the benches of an account whose key was changed. */
  forgive(account: string): void {
    this.#endPeriods((period) => period.account === account);
    this.#accounts.delete(account);
    for (const [key, { target }] of this.#models) if (target.account === account) this.#models.delete(key);
  }

  /** Ends the benches of a provider: of all its accounts and models, or of one account and all models. Returns them. */
  retry(provider: string, account?: string): Bench[] {
    const isMeant = (one: Target) =>
      one.provider === provider && (account === undefined || one.account === account);
    const ended = this.benches().filter(
      (bench) => bench.provider === provider && (bench.reason === 'failing' || isMeant(toTarget(bench))),
    );
    for (const entries of [this.#accounts, this.#models])
      for (const [key, { target }] of entries) if (isMeant(target)) entries.delete(key);
    // A model fails for every account alike.
    for (const [key, { target }] of this.#breakers)
      if (target.provider === provider) this.#breakers.delete(key);
    this.#endPeriods(
      (period) => period.provider === provider && (period.reason === 'failing' || isMeant(period.target)),
    );
    return ended;
  }

  /** All current benches. */
  benches(): Bench[] {
    const now = this.#elapsed();
    const models = [...this.#models.values()].filter(({ until }) => until > now);
    const timed = [...this.#accounts.values(), ...models].map(({ reason, target, until }) =>
      toBench(target, reason, Math.max(0, until - now)),
    );
    const failing = [...this.#breakers.values()].flatMap(({ nextProbeAt, target }) =>
      nextProbeAt === undefined ? [] : [toBench(target, 'failing', Math.max(0, nextProbeAt - now))],
    );
    return [...timed, ...failing];
  }

  /**
   * The current benches of the host's own accounts: a rejected key of a workspace says nothing about them, nor does one of several
   * keys unless all are benched.
   */
  hostBenches(keysOf: (provider: string) => readonly string[] | undefined = () => undefined): Bench[] {
    const benches = this.benches().filter((bench) => accountOwner(bench) === undefined);
    const isWhole = (bench: Bench): boolean => {
      if (accountKey(bench) === undefined) return true;
      const { provider, reason, providerModel } = bench;
      const has = (key: string) =>
        benches.some(
          (other) => accountKey(other) === key && other.provider === provider && covers(other, providerModel),
        );
      // A model fails with whatever key.
      return reason === 'failing' || (keysOf(provider) ?? []).every(has);
    };
    return benches.filter(isWhole);
  }

  #countFailure(target: Target, now: number): void {
    const key = breakerKey(target);
    const breaker = this.#breakers.get(key) ?? { failuresAt: [], nextProbeAt: undefined, target };
    if (breaker.nextProbeAt !== undefined) {
      breaker.nextProbeAt = now + probeMs;
      breaker.isProbed = false;
      this.#extendPeriod(target, 'failing', breaker.nextProbeAt);
      return;
    }
    breaker.failuresAt.push(now);
    if (breaker.failuresAt.length > breakerFailures) breaker.failuresAt.shift();
    const [oldest = now] = breaker.failuresAt;
    if (breaker.failuresAt.length === breakerFailures && now - oldest <= breakerWindowMs) {
      breaker.nextProbeAt = now + probeMs;
      this.#report(target, 'failing', probeMs);
    }
    this.#breakers.set(key, breaker);
  }

  /** The latest benches since the start, oldest first, by wall clock time; `now` is that of this moment. */
  periods(now: number): BenchPeriod[] {
    const offset = now - this.#elapsed();
    return this.#periods.map(({ target: _target, since, until, ...period }) => ({
      ...period,
      since: Math.round(since + offset),
      until: Math.round(until + offset),
    }));
  }

  #report(target: Target, reason: BenchReason, retryAfterMs: number): void {
    const bench = toBench(target, reason, retryAfterMs);
    const { retryAfterMs: _ms, ...period } = bench;
    const since = this.#elapsed();
    if (this.#periods.length >= periodsMax) this.#periods.shift();
    this.#periods.push({ ...period, target, since, until: since + retryAfterMs });
    this.#onBench?.(bench);
  }

  /** Another failure makes a bench longer. */
  #extendPeriod(target: Target, reason: BenchReason, until: number): void {
    const period = this.#periods.findLast((one) => one.reason === reason && isSameBench(one, target));
    if (period) period.until = Math.max(period.until, until);
  }

  #endPeriods(isOver: (period: RunningPeriod) => boolean): void {
    if (this.#periods.length === 0) return;
    const now = this.#elapsed();
    for (const period of this.#periods) if (period.until > now && isOver(period)) period.until = now;
  }
}

const benchReasons: Readonly<Record<UpstreamFailureKind, BenchReason | undefined>> = {
  caller: undefined,
  'unknown-model': 'unknown-model',
  authentication: 'authentication',
  forbidden: 'forbidden',
  billing: 'billing',
  'rate-limited': 'rate-limited',
  server: 'failing',
  timeout: 'failing',
  network: 'failing',
  broken: 'failing',
  empty: undefined,
  filtered: undefined,
};

/** What a failure benches, and until when: that of a model then ends, others are probed. A success ends all. */
interface Rule {
  /** The account with all its models, one model of the account, or a model for every account. */
  of: 'account' | 'model' | 'every-account';
  ms: (retryAfterSeconds?: number) => number;
}

const rules: Readonly<Record<BenchReason, Rule>> = {
  authentication: { of: 'account', ms: () => probeMs },
  billing: { of: 'account', ms: () => probeMs },
  forbidden: { of: 'model', ms: () => modelMs },
  'unknown-model': { of: 'model', ms: () => modelMs },
  'rate-limited': { of: 'model', ms: rateLimitedFor },
  // After several failures in a row.
  failing: { of: 'every-account', ms: () => probeMs },
};

function rateLimitedFor(retryAfterSeconds?: number): number {
  if (retryAfterSeconds === undefined || !Number.isFinite(retryAfterSeconds)) return rateLimitedMs;
  return Math.min(rateLimitedMsMax, Math.max(1_000, retryAfterSeconds * 1_000));
}

function benched(state: 'refused' | 'last-resort', { reason, until }: TimedBench, now: number): Standing {
  return { state, reason, retryAfterMs: until - now };
}

function toBench(target: Target, reason: BenchReason, retryAfterMs: number): Bench {
  const isAccount = rules[reason].of === 'account';
  const { account, provider, providerModel, offer } = target;
  const named = isAccount
    ? { providerModel: undefined, model: undefined }
    : { providerModel, model: offer?.model ?? providerModel };
  return { account, provider, ...named, reason, retryAfterMs };
}

/** Whether a period is of the bench of a target: that of its account, or of its model. */
function isSameBench({ account, providerModel }: RunningPeriod, target: Target): boolean {
  return account === target.account && (providerModel ?? target.providerModel) === target.providerModel;
}

function toTarget({ account, provider, providerModel = '' }: Bench): Target {
  return { account, provider, providerModel };
}

/** Rate limits apply per account and model; a model fails for every account alike. */
const modelKey = (target: Target) => `${target.account} ${target.providerModel}`;
const breakerKey = (target: Target) => `${target.provider} ${target.providerModel}`;

/** Whether a bench applies to a model, or to all if none is given. */
function covers({ providerModel }: Bench, model: string | undefined): boolean {
  return providerModel === undefined || providerModel === model;
}

/**
 * An account by its provider, the workspace whose own key is used, and the name of the key if there are several, or what tells the
 * client's own login apart.
 */
export function accountOf(
  provider: string,
  {
    workspaceId,
    key,
    login,
  }: { workspaceId?: string | undefined; key?: string | undefined; login?: string | undefined },
): string {
  const owner = workspaceId === undefined ? provider : `${provider} of ${workspaceId}`;
  if (login !== undefined) return `${owner} by ${login}`;
  return key === undefined ? owner : `${owner} key ${key}`;
}

/** The workspace whose own key an account stands for; undefined for the host's account. */
export function accountOwner({
  account,
  provider,
}: Pick<Target, 'account' | 'provider'>): string | undefined {
  const [before = '', owner] = account.slice(provider.length).split(' of ', 2);
  return before === '' ? owner?.split(' ', 1)[0] : undefined;
}

/** The name of the key that an account stands for, if there are several. */
export function accountKey({ account, provider }: Pick<Target, 'account' | 'provider'>): string | undefined {
  const at = account.indexOf(' key ', provider.length);
  return at < 0 ? undefined : account.slice(at + ' key '.length);
}
