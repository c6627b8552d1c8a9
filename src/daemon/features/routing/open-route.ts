import { ApiError } from '../../../shared/errors.ts';
import { NetworkFailure, type World } from '../../world.ts';
import type { LiveSpeed } from '../catalog/index.ts';
import {
  type Inference,
  type Upstream,
  type UpstreamAnswer,
  UpstreamFailure,
  type Wire,
} from '../inference/index.ts';
import { type Attempt, allFailed, callerFault, errorCodeOf, type FailedAttempt } from './all-failed.ts';
import type { Health } from './health.ts';
import type { RetryBudget } from './retry-budget.ts';
import { isSimulated, type Route } from './route.ts';

/** Providers that one call tries at most. */
export const attemptsMax = 3;

/** What opening needs beside the call itself. */
export interface Openers {
  upstreams: { get(provider: string): Upstream | undefined };
  health: Health;
  live: LiveSpeed;
  retries: RetryBudget;
  world: Pick<World, 'elapsed'>;
  attemptsMax?: number;
  /** Told of each provider that did not answer. */
  onFailure?: (provider: string, failure: UpstreamFailure) => void;
}

export interface OpenRequest {
  /** From `planRoutes`, best first. */
  routes: readonly Route[];
  inference: Inference;
  /** Aborted when the client leaves: nothing more is tried then. */
  signal: AbortSignal;
  /** The key that pays for a route: the host's, or the workspace's own where `route.ownKey`. */
  keyFor: (route: Route) => string | undefined | Promise<string | undefined>;
  /** What the budget and the model allow of output tokens on a route. */
  outputTokensMaxFor?: (route: Route) => number | undefined;
  /** Filled as it goes, so that a caller who is thrown an error has the attempts too. */
  attempts?: Attempt[];
  /** Told before each attempt; the first is 1. */
  onAttempt?: (route: Route, attempt: number) => void;
}

/** How an answer that was opened came to its end, for the measurements. */
export interface AnswerEnd {
  /** Set when it broke off. */
  failure?: UpstreamFailure;
  outputTokens?: number;
  /** From the first event to the last. */
  durationMs?: number;
}

export interface Opened {
  answer: UpstreamAnswer;
  route: Route;
  attempts: Attempt[];
  /** Until the first event; null for an answer that came whole. */
  ttftMs: number | null;
  /** To be called once, when the answer is over. */
  ended(end: AnswerEnd): void;
}

/**
 * Tries routes until one answers. Throws an ApiError: the caller's fault at once, `model_not_found` when every provider
 * tried says so, `rate_limited` when all of them are, else `upstream_failed`; the last three tell the attempts. Throws
 * the signal's reason when the client leaves.
 */
export async function openRoute(openers: Openers, request: OpenRequest): Promise<Opened> {
  const attempts = request.attempts ?? [];
  const failed: FailedAttempt[] = [];
  const waiting = [...request.routes];
  const left = openers.attemptsMax ?? attemptsMax;
  let again: Route | undefined;
  for (let route = waiting.shift(); route && failed.length < left; route = waiting.shift()) {
    request.signal.throwIfAborted();
    if (isBenchedSince(openers.health, route) && waiting.some((other) => !other.isLastResort)) {
      waiting.push({ ...route, isLastResort: true });
      continue;
    }
    if (route !== again) openers.retries.earn(route.provider);
    const startedAt = openers.world.elapsed();
    request.onAttempt?.(route, attempts.length + 1);
    try {
      const answer = await tryRoute(openers, request, route);
      const ms = openers.world.elapsed() - startedAt;
      attempts.push(toAttempt(route, 200, null, ms));
      return opened(openers, route, answer, attempts, ms);
    } catch (error) {
      const ms = openers.world.elapsed() - startedAt;
      if (request.signal.aborted) {
        attempts.push(toAttempt(route, 0, 'canceled', ms));
        throw request.signal.reason;
      }
      if (error instanceof ApiError && route.ownKey && waiting.some((other) => !other.ownKey)) {
        // The workspace's key cannot be had now, but the host pays for others.
        attempts.push(toAttempt(route, 0, error.code, ms));
        continue;
      }
      if (!(error instanceof UpstreamFailure)) throw error;
      const attempt = toAttempt(route, error.details.status ?? 0, errorCodeOf(error), ms);
      attempts.push(attempt);
      openers.onFailure?.(route.provider, error);
      if (!isSimulated(route)) openers.health.failed(route, error);
      if (tellsOfProvider(error)) {
        openers.live.attempted(route.provider, route.offer.model, { isOk: false });
      }
      if (error.kind === 'caller') throw callerFault(error, request.inference.wire, attempts);
      if (failed.length === 0 && waiting.length === 0 && isWorthOneMore(openers, route, error)) {
        again = route;
        waiting.push(route);
      }
      failed.push({ attempt, failure: error });
    }
  }
  throw allFailed(request.inference.model, failed, attempts);
}

/**
 * Hosts close connections that were idle for a while, at times in the moment in which one is used again: where there is
 * no other provider, a new connection is worth one more try. One that keeps failing is not asked twice as often for it.
 */
function isWorthOneMore(
  { health, retries }: Openers,
  route: Route,
  { details: { cause } }: UpstreamFailure,
): boolean {
  const isReset = cause instanceof NetworkFailure && cause.kind === 'reset';
  return isReset && health.standing(route).state === 'ready' && retries.take(route.provider);
}

async function tryRoute(openers: Openers, request: OpenRequest, route: Route): Promise<UpstreamAnswer> {
  const upstream = openers.upstreams.get(route.provider);
  if (upstream === undefined) throw new Error(`no upstream is named ${route.provider}`);
  const key = await request.keyFor(route);
  request.signal.throwIfAborted();
  return upstream.open(
    {
      inference: request.inference,
      model: route.providerModel,
      wire: chooseWire(route.offer.wires, request.inference.wire),
      key,
      outputTokensMax: request.outputTokensMaxFor
        ? request.outputTokensMaxFor(route)
        : request.inference.outputTokensMax,
    },
    request.signal,
  );
}

/** The caller's own format where the provider speaks it: nothing is lost in translation then. */
function chooseWire(wires: readonly Wire[] | undefined, asked: Wire): Wire | undefined {
  return wires?.includes(asked) ? asked : wires?.[0];
}

/** Since the plan another call may have been refused, or have taken the one try that a failing provider is due for. */
function isBenchedSince(health: Health, route: Route): boolean {
  if (route.isLastResort) return false;
  const { state } = health.standing(route);
  return state === 'probe' ? !health.takeProbe(route) : state !== 'ready';
}

function opened(
  { health, live, world }: Openers,
  route: Route,
  answer: UpstreamAnswer,
  attempts: Attempt[],
  ms: number,
): Opened {
  const { model } = route.offer;
  const ttftMs = answer.kind === 'stream' ? ms : null;
  health.succeeded(route);
  live.attempted(route.provider, model, { isOk: true, ttftMs: ttftMs ?? undefined });
  const openedAt = world.elapsed();
  let isOver = false;
  const ended = ({ failure, outputTokens = 0, durationMs = world.elapsed() - openedAt }: AnswerEnd) => {
    if (isOver) return;
    isOver = true;
    if (failure !== undefined) {
      if (!isSimulated(route)) health.failed(route, failure);
      if (tellsOfProvider(failure)) live.broke(route.provider, model);
    } else if (answer.kind === 'stream' && outputTokens > 1 && durationMs > 0) {
      live.finished(route.provider, model, (outputTokens * 1000) / durationMs);
    }
  };
  return { answer, route, attempts, ttftMs, ended };
}

/** Whether a failure says something of the provider and not of the request or of our account there. */
function tellsOfProvider({ kind }: UpstreamFailure): boolean {
  return kind !== 'caller' && kind !== 'unknown-model' && kind !== 'authentication' && kind !== 'billing';
}

function toAttempt(route: Route, status: number, errorCode: string | null, ms: number): Attempt {
  return {
    provider: route.provider,
    model: route.offer.model,
    status,
    error_code: errorCode,
    ms: Math.round(ms),
  };
}
