import type { FallbackReason } from '../../../shared/constants/fallback-reasons.ts';
import { ApiError } from '../../../shared/errors.ts';
import { NetworkFailure, type World } from '../../base/world.ts';
import type { SpeedMeter } from '../catalog/index.ts';
import type { CallFormat, Wire } from '../upstreams/neutral.ts';
import { type Upstream, type UpstreamAnswer, UpstreamFailure } from '../upstreams/upstream.ts';
import {
  type Attempt,
  askedModelOf,
  type InputCountRequest,
  type OpenedRoute,
  type ProviderRoute,
  type RouteOpenRequest,
} from './contract.ts';
import type { Health } from './health.ts';
import { isSimulated } from './judge-offer.ts';
import { isFiltered, wanted } from './unwanted-answers.ts';
import {
  allRoutesFailed,
  errorCodeOf,
  type FailedAttempt,
  invalidRequest,
  sentenceOf,
} from './upstream-errors.ts';

/** Providers that one call tries at most. */
const attemptsMax = 3;

export interface OpenDeps {
  upstreams: { get(provider: string): Upstream | undefined };
  health: Health;
  speed: SpeedMeter;
  retries: RetryLimit;
  world: Pick<World, 'elapsed'>;
  /** The key that pays for a route: the host's, or the workspace's where `route.ownKey`. */
  keyFor: (route: ProviderRoute) => string | undefined | Promise<string | undefined>;
  /** Called with each provider that did not answer. */
  onFailure?: (provider: string, failure: UpstreamFailure) => void;
}

/**
 * Tries routes until one answers, where limits of concurrent calls apply, first those with a free place. An input that is too
 * long for a model goes on to those with a longer context, and what `fallbackOn` names to all. Throws an ApiError: immediately
 * when the request is invalid for all, otherwise `model_not_found` or `rate_limited` when all providers agree, else
 * `upstream_failed`, with the attempts. Throws the signal's reason when the client leaves. If the last provider sent an answer that says that it failed, this is the answer.
 */
export async function openRoute(
  deps: OpenDeps,
  request: RouteOpenRequest<ProviderRoute>,
): Promise<OpenedRoute<ProviderRoute>> {
  const { attempts, signal } = request;
  const failed: FailedAttempt[] = [];
  let waiting = [...request.routes];
  let repeated: ProviderRoute | undefined;
  const openedAt = deps.world.elapsed();
  for (let route = waiting.shift(); route && failed.length < attemptsMax; route = waiting.shift()) {
    signal.throwIfAborted();
    if (request.slots) {
      const others = [route, ...waiting];
      route = await request.slots.take(others, signal);
      waiting = others.filter((other) => other !== route);
    }
    if (isBenchedSincePlan(deps.health, route) && waiting.some((other) => !other.isLastResort)) {
      waiting.push({ ...route, isLastResort: true });
      continue;
    }
    if (route !== repeated) deps.retries.earn(route.provider);
    const startedAt = deps.world.elapsed();
    request.onAttempt(route, attempts.length + 1);
    let started: OpenedRoute<ProviderRoute>;
    try {
      const received = await tryRoute(deps, request, route, startedAt - openedAt);
      const isAlone = waiting.length === 0 || failed.length === attemptsMax - 1;
      const answer = isAlone ? received : await wantedOf(received, route, request);
      const ms = deps.world.elapsed() - startedAt;
      const attempt = toAttempt(route, 200, null, ms);
      attempts.push(attempt);
      started = opened(deps, route, answer, attempt);
    } catch (error) {
      const ms = deps.world.elapsed() - startedAt;
      if (signal.aborted) {
        attempts.push(toAttempt(route, 0, 'canceled', ms));
        throw signal.reason;
      }
      if (error instanceof ApiError && route.ownKey && waiting.some((other) => !other.ownKey)) {
        // The workspace's key is not available now, but the host pays for other routes.
        attempts.push(toAttempt(route, 0, error.code, ms));
        continue;
      }
      if (!(error instanceof UpstreamFailure)) throw error;
      const attempt: Attempt = {
        ...toAttempt(route, error.details.status ?? 0, errorCodeOf(error), ms),
        message: sentenceOf(error),
      };
      attempts.push(attempt);
      deps.onFailure?.(route.provider, error);
      if (!isSimulated(route)) deps.health.failed(route, error);
      if (route.key !== undefined) deps.health.countUse(route.account, false);
      if (isProviderFault(error)) deps.speed.attempted(route.provider, route.offer.model, { isOk: false });
      // Others would reject it, too, unless it only is too long for this model.
      if (error.kind === 'caller' && !goesOn(error, request))
        waiting = waiting.filter((other) => hasRoomAfter(error, route, other));
      waiting = worthTrying(waiting, route, error);
      const isLast = waiting.length === 0 || failed.length === attemptsMax - 1;
      const { answer } = error.details;
      if (isLast && answer) return { answer, route, ended: () => {} };
      if (isLast && error.kind === 'caller') throw invalidRequest(error, attempts);
      if (failed.length === 0 && waiting.length === 0 && isWorthRepeating(deps, route, error)) {
        repeated = route;
        waiting.push(route);
      }
      failed.push({ attempt, failure: error, isOwn: route.ownKey });
      continue;
    }
    const isLast = waiting.length === 0 || failed.length === attemptsMax - 1;
    const failure = isLast ? undefined : await readToEnd(started, request);
    const attempt = attempts.at(-1);
    if (failure === undefined || attempt === undefined) return started;
    deps.onFailure?.(route.provider, failure);
    failed.push({ attempt, failure, isOwn: started.route.ownKey });
    waiting = worthTrying(waiting, started.route, failure);
  }
  throw allRoutesFailed(request.inference.model, failed, attempts);
}

/** Without the other keys of a provider, unless its failure may be due to the key. */
function worthTrying(
  waiting: ProviderRoute[],
  { account, offer }: ProviderRoute,
  { kind, isAboutAccount }: UpstreamFailure,
): ProviderRoute[] {
  if (isAboutAccount || kind === 'rate-limited' || kind === 'unknown-model') return waiting;
  return waiting.filter((other) => other.offer !== offer || other.account === account);
}

/** Reads an answer that the caller gets whole. Returns why it broke off, if it did. */
async function readToEnd(
  started: OpenedRoute<ProviderRoute>,
  { readAhead, signal }: RouteOpenRequest<ProviderRoute>,
): Promise<UpstreamFailure | undefined> {
  const { answer, route, ended } = started;
  if (readAhead === undefined || answer.kind !== 'stream') return undefined;
  try {
    started.answer = await readAhead(answer, route);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof UpstreamFailure)) throw error;
    ended({ failure: error });
    return error;
  }
}

/**
 * Hosts close idle connections, sometimes just when one is used again. Without another provider a new connection is
 * worth one more try, within a budget that keeps a failing provider from twice the load.
 */
function isWorthRepeating(
  { health, retries }: OpenDeps,
  route: ProviderRoute,
  { details: { cause } }: UpstreamFailure,
): boolean {
  const isReset = cause instanceof NetworkFailure && cause.kind === 'reset';
  return isReset && health.standing(route).state === 'ready' && retries.take(route.provider);
}

const noReasons: readonly FallbackReason[] = [];

/** The answer of a route that is not the last, unless the caller wants another one for what it is. */
function wantedOf(
  answer: UpstreamAnswer,
  { provider }: ProviderRoute,
  { fallbackOn = noReasons, inference }: RouteOpenRequest<ProviderRoute>,
): UpstreamAnswer | Promise<UpstreamAnswer> {
  const reasons = fallbackOn.filter((reason) => reason !== 'context_length');
  return reasons.length === 0 ? answer : wanted(answer, { provider, reasons, isStreamed: inference.stream });
}

/** Whether the caller wants the other routes to be tried with a request that one refused. */
function goesOn(
  error: UpstreamFailure,
  { fallbackOn = noReasons }: RouteOpenRequest<ProviderRoute>,
): boolean {
  if (error.details.code === 'context_length_exceeded') return fallbackOn.includes('context_length');
  return fallbackOn.includes('content_filter') && isFiltered(error);
}

/** Whether another model may take an input that was too long for one: its context has to be longer. */
function hasRoomAfter({ details }: UpstreamFailure, short: ProviderRoute, other: ProviderRoute): boolean {
  if (details.code !== 'context_length_exceeded') return false;
  const { contextLength } = other.offer;
  return contextLength !== null && contextLength > (short.offer.contextLength ?? 0);
}

/** Not an async function, as each one between the caller and the provider adds to the time of every call. */
function tryRoute(
  deps: OpenDeps,
  { inference, signal, outputTokensMaxFor, capture }: RouteOpenRequest<ProviderRoute>,
  route: ProviderRoute,
  spentMs: number,
): Promise<UpstreamAnswer> {
  const upstream = deps.upstreams.get(route.provider);
  if (upstream === undefined) throw new Error(`no upstream is named ${route.provider}`);
  const open = (key: string | undefined) => {
    signal.throwIfAborted();
    return upstream.open(
      {
        inference,
        model: route.providerModel,
        abilities: route.offer.capabilities,
        wire: chooseWire(route.offer.wires, inference.wire),
        key,
        ...(route.subscription && { subscription: route.subscription }),
        outputTokensMax: outputTokensMaxFor(route),
        spentMs,
        capture,
      },
      signal,
    );
  };
  const key = route.subscription ? undefined : deps.keyFor(route);
  return key instanceof Promise ? key.then(open) : open(key);
}

/** See `Router.countInput`. A failure of the provider is not worth a retry, as an estimate will do. */
export async function countInput(
  deps: OpenDeps,
  { routes, inference, signal }: InputCountRequest<ProviderRoute>,
): Promise<number | undefined> {
  const [route] = routes;
  const upstream = route && deps.upstreams.get(route.provider);
  if (route === undefined || upstream?.countInput === undefined) return undefined;
  try {
    const { subscription } = route;
    const key = subscription ? undefined : await deps.keyFor(route);
    const wire = chooseWire(route.offer.wires, inference.wire);
    const { providerModel: model, offer } = route;
    return await upstream.countInput(
      { inference, model, abilities: offer.capabilities, wire, key, subscription },
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof UpstreamFailure)) throw error;
    if (error.kind === 'caller') throw invalidRequest(error, []);
    deps.onFailure?.(route.provider, error);
    return undefined;
  }
}

/** The caller's own format where the provider supports it, since translation can lose detail. */
function chooseWire(wires: readonly Wire[] | undefined, requested: CallFormat): Wire | undefined {
  return wires?.find((wire) => wire === requested) ?? wires?.[0];
}

/** Since the plan, another call may have been refused or may have used the one probe of a failing provider. */
function isBenchedSincePlan(health: Health, route: ProviderRoute): boolean {
  if (route.isLastResort) return false;
  const { state } = health.standing(route);
  return state === 'probe' ? !health.takeProbe(route) : state !== 'ready';
}

function opened(
  { health, speed, world }: OpenDeps,
  route: ProviderRoute,
  answer: UpstreamAnswer,
  attempt: Attempt,
): OpenedRoute<ProviderRoute> {
  const { model } = route.offer;
  const { ms } = attempt;
  const isStream = answer.kind === 'stream';
  health.succeeded(route);
  if (route.key !== undefined) health.countUse(route.account, true);
  speed.attempted(route.provider, model, { isOk: true, ttftMs: isStream ? ms : undefined });
  const openedAt = world.elapsed();
  let isOver = false;
  const ended: OpenedRoute['ended'] = ({ failure, outputTokens = 0 }) => {
    if (isOver) return;
    isOver = true;
    const durationMs = world.elapsed() - openedAt;
    if (failure !== undefined) {
      attempt.errorCode = errorCodeOf(failure);
      attempt.message = sentenceOf(failure);
      if (!isSimulated(route)) health.failed(route, failure);
      if (isProviderFault(failure)) speed.broke(route.provider, model);
    } else if (isStream && outputTokens > 1 && durationMs > 0) {
      speed.finished(route.provider, model, (outputTokens * 1000) / durationMs);
    }
  };
  return { answer, route, ended };
}

const notProviderFaults: ReadonlySet<string> = new Set(['caller', 'unknown-model', 'empty', 'filtered']);

/** Whether a failure reflects on the provider rather than on the request or on our account there. */
function isProviderFault({ kind, isAboutAccount }: UpstreamFailure): boolean {
  return !notProviderFaults.has(kind) && !isAboutAccount;
}

function toAttempt(route: ProviderRoute, status: number, errorCode: string | null, ms: number): Attempt {
  const { provider, offer, key, providerModel } = route;
  const attempt: Attempt = { provider, model: offer.model, status, errorCode, ms: Math.round(ms) };
  if (key !== undefined) attempt.key = key;
  // The simulator is no provider that knows its models by other names.
  if (offer.kind !== 'simulator' && providerModel !== askedModelOf(attempt))
    attempt.providerModel = providerModel;
  return attempt;
}

/** Earned by each call, in tenths of a retry. */
const earnedTenths = 1;
/** The initial balance of a provider, and its maximum. */
const reserveTenths = 100;
/** One retry is added at this interval, so that providers with few calls have some, too. */
const refillEveryMs = 30_000;

interface Balance {
  tenths: number;
  /** Monotonic time of the last refill. */
  at: number;
}

/**
 * Limits how many calls are retried at the provider that has just failed them. Retrying every call would double the load
 * of a provider that is breaking under it; this adds a tenth, and a reserve of ten.
 */
export class RetryLimit {
  readonly #world: Pick<World, 'elapsed'>;
  readonly #balances = new Map<string, Balance>();

  constructor(world: Pick<World, 'elapsed'>) {
    this.#world = world;
  }

  /** Counts a call's first attempt at a provider. */
  earn(provider: string): void {
    const balance = this.#balanceOf(provider);
    balance.tenths = Math.min(reserveTenths, balance.tenths + earnedTenths);
  }

  /** Takes one retry; false when none is left. */
  take(provider: string): boolean {
    const balance = this.#balanceOf(provider);
    const { at } = balance;
    const refills = Math.floor((this.#world.elapsed() - at) / refillEveryMs);
    balance.at = at + refills * refillEveryMs;
    balance.tenths = Math.min(reserveTenths, balance.tenths + refills * 10);
    if (balance.tenths < 10) return false;
    balance.tenths -= 10;
    return true;
  }

  #balanceOf(provider: string): Balance {
    let balance = this.#balances.get(provider);
    if (balance === undefined) {
      balance = { tenths: reserveTenths, at: this.#world.elapsed() };
      this.#balances.set(provider, balance);
    }
    return balance;
  }
}
