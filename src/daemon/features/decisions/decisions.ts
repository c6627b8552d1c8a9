import { orAborted } from '../../../shared/async/when-aborted.ts';
import {
  type DecisionModel,
  type DecisionOptions,
  decisionModels,
} from '../../../shared/contract/decisions.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { MakeId } from '../../../shared/ids.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { Caller } from '../../base/handler.ts';
import { timeLimit, type World } from '../../base/world.ts';
import type { ProviderRoute } from '../routing/index.ts';
import type { AttemptsCapture } from '../upstreams/upstream.ts';
import type { Calibrations } from './calibrations.ts';
import type { DecisionSlots } from './decision-slots.ts';
import {
  type AskOptions,
  asSourceFailure,
  type DecisionSource,
  type SourceAnswer,
  type SourceAttempt,
  SourceFailure,
} from './decision-source.ts';
import type { DecisionEngine, EngineName, Engines } from './engine.ts';
import { engineSource } from './engine-decision-source.ts';
import type { HostBudget } from './host-budget.ts';
import { type ProviderSourceDeps, providerSource } from './provider-decision-source.ts';
import type { DecisionRequest } from './question.ts';
import type { Decided } from './render-decision.ts';
import { requireAllowedModel, type UpstreamRoutesDeps, upstreamRoutes } from './upstream-routes.ts';

const retryAfterSecondsDefault = 5;
/** Sources with a bench of their own that are remembered. */
const benchesMax = 1000;

/** `peer` asks connected peers first, `hosted` only the engines of the host. */
export type DecisionOrder = 'peer' | 'hosted' | undefined;

export interface DecideCall {
  caller: Caller;
  model: string;
  request: DecisionRequest;
  options: DecisionOptions;
  order: DecisionOrder;
  signal: AbortSignal;
  requestId: string;
  idempotencyKey?: string | undefined;
  /** The ids of the nodes that the request came through. */
  via?: readonly string[];
  /** For the whole decision, in milliseconds. */
  deadlineMs: number;
  /** Set for a decision whose content is kept. */
  capture?: AttemptsCapture | undefined;
}

/** A decision that peers may be asked for. */
export interface PeerCall extends Pick<DecideCall, 'caller' | 'model' | 'requestId' | 'idempotencyKey'> {
  via: readonly string[];
  /** The time left for the whole decision, in milliseconds. */
  remainingMs: () => number;
}

/** The peers that may be asked for a decision, as one source. */
export interface PeerSource extends DecisionSource {
  /** Whether one of them lists the model of the call, even if it cannot be asked now. */
  offersModel: boolean;
}

export interface DecisionsDeps extends ProviderSourceDeps, UpstreamRoutesDeps {
  engines: Engines;
  budget: HostBudget;
  slots: DecisionSlots;
  calibrations: Calibrations;
  /** The engine that computes the model of a route itself; undefined for a model that is asked in text. */
  engineOf: (route: ProviderRoute) => DecisionEngine | undefined;
  /** The peers to ask, as one source; undefined if the caller has none. */
  peersFor?: (call: PeerCall) => Promise<PeerSource | undefined>;
  /** The order of calls that name none. */
  settings: UpstreamRoutesDeps['settings'] & { readonly defaultOrder: DecisionOrder };
  makeId: MakeId;
  world: Pick<World, 'now' | 'elapsed' | 'sleep' | 'randomBytes'>;
}

/** Answers decisions from the first source that can. */
export class Decisions {
  readonly #deps: DecisionsDeps;
  readonly #benches = new RecentMap<string, { until: number; outcome: string }>(benchesMax);

  constructor(deps: DecisionsDeps) {
    this.#deps = deps;
  }

  /**
   * Asks sources in order until one answers, within the deadline. Fails with `model_not_found`, with `unavailable` and the
   * attempts if no source can answer, or with the error for a request that a model refused as such.
   */
  async decide(call: DecideCall): Promise<Decided> {
    const { world, budget, slots } = this.#deps;
    const startedAt = world.elapsed();
    const late = timeLimit(
      world,
      call.deadlineMs,
      () => new SourceFailure('timeout', 'the deadline of the decision has passed'),
    );
    const over = new AbortController();
    const signal = AbortSignal.any([call.signal, late.signal, over.signal]);
    const attempts: SourceAttempt[] = [];
    const failures: SourceFailure[] = [];
    const remainingMs = () => call.deadlineMs - (world.elapsed() - startedAt);
    let isStarted = false;
    const firstAnswer = async (): Promise<Decided> => {
      isStarted = true;
      await budget.ready();
      for (const source of await this.#sourcesFor(call, remainingMs)) {
        if (late.signal.aborted) break;
        const answer = await this.#ask(source, call, { signal, attempts, failures });
        if (answer === undefined) continue;
        const latencyMs = world.elapsed() - startedAt;
        return this.#decided(call, { source, answer, attempts, latencyMs });
      }
      throw unavailable(call, { attempts, failures });
    };
    try {
      return await slots.run(firstAnswer, signal);
    } catch (error) {
      if (isStarted || error instanceof ApiError) throw error;
      throw call.signal.aborted ? leftOrStopped(call.signal) : stillWaiting();
    } finally {
      late.clear();
      over.abort();
      await budget.save();
    }
  }

  /** Undefined if the source could not answer; the attempt is then recorded. */
  async #ask(
    source: DecisionSource,
    { request, options, capture, signal: clientSignal }: DecideCall,
    {
      signal,
      attempts,
      failures,
    }: { signal: AbortSignal; attempts: SourceAttempt[]; failures: SourceFailure[] },
  ): Promise<SourceAnswer | undefined> {
    const { world } = this.#deps;
    const startedAt = world.elapsed();
    const failed = (failure: SourceFailure) => {
      const ms = Math.round(world.elapsed() - startedAt);
      attempts.push(...(failure.attempts ?? [{ source: source.name, outcome: failure.outcome, ms }]));
      failures.push(failure);
    };
    const bench = this.#benches.get(source.benchKey);
    if (bench && bench.until > startedAt) {
      const seconds = Math.ceil((bench.until - startedAt) / 1000);
      const message = `${source.name} is skipped for ${seconds} s: ${bench.outcome}`;
      failed(new SourceFailure('benched', message, { benchMs: bench.until - startedAt }));
      return undefined;
    }
    const asked: AskOptions = {
      debias: options.debias ?? 'auto',
      capture,
      ...(options.samples !== undefined && { samples: options.samples }),
    };
    const over = new AbortController();
    const ended = AbortSignal.any([signal, over.signal]);
    try {
      const answer = await orAborted(source.decide(request, asked, ended), ended);
      attempts.push(...(answer.failedAttempts ?? []));
      return answer;
    } catch (error) {
      if (clientSignal.aborted) throw leftOrStopped(clientSignal);
      const failure = ended.aborted ? asSourceFailure(ended.reason) : asSourceFailure(error);
      if (failure === undefined) throw error;
      if (failure.benchMs !== undefined) this.#bench(source.benchKey, failure);
      failed(failure);
      return undefined;
    } finally {
      // Ends what a source still runs, such as the calls besides the one that failed.
      over.abort(new SourceFailure('over', 'the decision is over'));
    }
  }

  #bench(key: string, { benchMs = 0, outcome }: SourceFailure): void {
    this.#benches.set(key, { until: this.#deps.world.elapsed() + benchMs, outcome });
  }

  #decided(
    { model, request }: DecideCall,
    {
      source,
      answer,
      attempts,
      latencyMs,
    }: { source: DecisionSource; answer: SourceAnswer; attempts: SourceAttempt[]; latencyMs: number },
  ): Decided {
    const { answers, calibrated } = this.#deps.calibrations.applied(answer, request.questions);
    return {
      id: this.#deps.makeId('dec'),
      questions: request.questions,
      answer: { ...answer, answers },
      service: {
        requested_model: model,
        answered_by: answer.answeredBy ?? source.name,
        calibrated,
        latency_ms: Math.round(latencyMs),
        attempts,
      },
    };
  }

  async #sourcesFor(
    { caller, model, options, requestId, idempotencyKey, via = [], ...call }: DecideCall,
    remainingMs: () => number,
  ): Promise<readonly DecisionSource[]> {
    const { engines, debiaser, peersFor, settings } = this.#deps;
    const order = call.order ?? settings.defaultOrder;
    const engine = (name: EngineName) => engineSource(name, engines[name], debiaser);
    const hosted =
      isDecisionModel(model) && model !== 'service/decide' ? [engine(model)] : hostedIn(engines).map(engine);
    const routesOf = (name: string) => upstreamRoutes(this.#deps, { caller, model: name, pay: options.pay });
    if (order === 'hosted') {
      if (!isDecisionModel(model)) await routesOf(model);
      return hosted;
    }
    const peerCall = { caller, model, requestId, idempotencyKey, via, remainingMs };
    const connected = order === 'peer' ? await peersFor?.(peerCall) : undefined;
    const peers = connected ? [connected] : [];
    if (model === 'engine' || model === 'engine-flash') return [...peers, ...hosted];
    if (model !== 'service/decide') {
      const { routes, refusal } = await routesOf(model).catch((error: unknown) => {
        const isUnknown = error instanceof ApiError && error.code === 'model_not_found';
        if (!isUnknown || !connected?.offersModel) throw error;
        requireAllowedModel(caller, model);
        return { routes: [], refusal: `only peers have ${model}` };
      });
      return routes.length > 0
        ? [...peers, ...routes.map((route) => this.#sourceOf(route))]
        : [...peers, refused(model, refusal)];
    }
    const backups = await Promise.all(
      this.#deps.backupModels().map(async (name) => {
        const { routes } = await routesOf(name).catch(() => ({ routes: [] }));
        return routes.map((route) => this.#sourceOf(route));
      }),
    );
    return [...peers, ...hosted, ...backups.flat()];
  }

  #sourceOf(route: ProviderRoute): DecisionSource {
    const engine = this.#deps.engineOf(route);
    if (engine === undefined) return providerSource(this.#deps, route);
    const source = engineSource(route.provider, engine, this.#deps.debiaser);
    return { ...source, benchKey: `${route.provider} ${route.providerModel}` };
  }
}

function isDecisionModel(model: string): model is DecisionModel {
  return (decisionModels as readonly string[]).includes(model);
}

/** The engines that can answer, the large one first; the large one alone if none can, for its reason. */
function hostedIn(engines: Engines): EngineName[] {
  const names: EngineName[] = ['engine', 'engine-flash'];
  const available = names.filter((name) => engines[name].status().available);
  return available.length > 0 ? available : ['engine'];
}

/** Stands for a model that no provider may answer. */
function refused(model: string, reason: string): DecisionSource {
  return {
    name: model,
    benchKey: model,
    decide: () => Promise.reject(new SourceFailure('not_allowed', reason)),
  };
}

function leftOrStopped({ reason }: AbortSignal): ApiError {
  const message = reason === 'draining' ? 'The daemon is stopping.' : 'The client left.';
  return new ApiError('unavailable', { message });
}

function stillWaiting(): ApiError {
  const message = 'Other decisions were running until the deadline had passed.';
  return new ApiError('unavailable', { message, retryAfterSeconds: retryAfterSecondsDefault });
}

const unsetHint =
  'You can also list models in decisions.models, or ask a model by its name: sim/assistant needs no provider.';

function unavailable(
  { model, order }: DecideCall,
  { attempts, failures }: { attempts: readonly SourceAttempt[]; failures: readonly SourceFailure[] },
): ApiError {
  const reasons = [...new Set(failures.map(({ message }) => message))].join('; ');
  // Without an engine and other models, the error is what a new user sees.
  const isUnset =
    model === 'service/decide' &&
    order !== 'hosted' &&
    failures.every(({ outcome }) => outcome === 'unavailable');
  const waits = failures.flatMap(({ benchMs }) => benchMs ?? []);
  return new ApiError('unavailable', {
    param: 'model',
    message: `No source can answer decisions of ${model}${reasons && `: ${reasons}`}.${isUnset ? ` ${unsetHint}` : ''}`,
    retryAfterSeconds: waits.length > 0 ? Math.ceil(Math.min(...waits) / 1000) : retryAfterSecondsDefault,
    extra: { attempts },
  });
}
