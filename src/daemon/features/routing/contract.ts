import type { FallbackReason } from '../../../shared/constants/fallback-reasons.ts';
import type { CacheMode } from '../../../shared/contract/key-defaults.ts';
import type { NanoUsd } from '../../../shared/money/money.ts';
import type { Offer } from '../catalog/index.ts';
import type { Inference } from '../upstreams/neutral.ts';
import type { Subscription } from '../upstreams/subscription.ts';
import type {
  AttemptsCapture,
  StreamAnswer,
  UpstreamAnswer,
  UpstreamFailure,
} from '../upstreams/upstream.ts';
import type { Target } from './health.ts';

/** One way to get a call answered. */
export type Route = ProviderRoute | CachedRoute;

/** A model at a provider, and whose key pays. */
export interface ProviderRoute extends Target {
  kind: 'provider';
  offer: Offer;
  /** The workspace that calls; where `ownKey` is set, its own key is used and nothing is charged here. */
  workspaceId: string;
  ownKey: boolean;
  /** The client's own login, with which the call is made in place of a key, and which costs nothing a call. */
  subscription?: Subscription;
  /** The name of the key, of a provider with several. */
  key?: string | undefined;
  /** Whether it is benched and so tried only after all others. */
  isLastResort: boolean;
  /** Set when the call asked for the cache and nothing was found. */
  cacheMiss?: {
    /** Where to store the answer; null for a call that only reads the cache. */
    storeAs: { workspaceId: string; requestId: string | null; digest: string } | null;
  };
}

/** An answer that is already stored. It costs nothing. */
export interface CachedRoute {
  kind: 'cache';
  provider: 'cache';
  /** The model's name at the provider that once answered. */
  providerModel: string;
  offer: Offer;
  ownKey: false;
  /** JSON text: the events of the answer. */
  events: string;
}

/** The most that a caller will pay, in nano-dollars per million tokens, margin included; null or absent for no limit. */
export interface PriceCap {
  input?: NanoUsd | null;
  output?: NanoUsd | null;
}

/** The caller's preferences: the member `service` of the request. */
export interface RoutePreferences {
  pay?: 'mine' | 'ours';
  maxPrice?: PriceCap | null;
  /** Models to try when no provider of the requested one answers. */
  fallbacks?: readonly string[];
  /** Providers to try first, in this order. */
  order?: readonly string[];
  /** The only providers to try. */
  only?: readonly string[];
  ignore?: readonly string[];
  sort?: 'price' | 'latency' | 'throughput';
  /** Whether the answer may come from the cache and be stored there; the host decides where it is absent. */
  cache?: CacheMode;
  /** For what the next route is tried besides failures of providers; the host decides where it is absent. */
  fallbackOn?: readonly FallbackReason[];
}

/** The limits of the caller's key, as far as they restrict the choice of a route. */
export interface RouteCaps {
  maxPrice?: PriceCap | null;
  /** Model ids with `*` for any characters, and the name of the limit that is reported when none matches. */
  models?: readonly { param: 'limits.models' | 'scopes.models'; allowed: readonly string[] }[];
  /** Whether the key has a spending cap: the host's account then pays for nothing of unknown price. */
  isSpendCapped?: boolean;
  /** The same of single routes: whether a budget of the model or provider limits what calls cost. */
  isSpendCappedOn?: ((offer: Pick<Offer, 'model' | 'provider'>) => boolean) | undefined;
}

/** One try to get a call answered by one provider. */
export interface Attempt {
  provider: string;
  model: string;
  /** HTTP status of the provider, 200 for an answer, 0 when there was none. */
  status: number;
  errorCode: string | null;
  /** The name of the key, of a provider with several. */
  key?: string;
  /** Why it failed: what the provider says, sanitized, or what happened. */
  message?: string;
  ms: number;
  /** The model's name at the provider, unless it is `model` without the provider's name in front. */
  providerModel?: string;
}

/** What the provider was asked for. */
export function askedModelOf({ provider, model, providerModel }: Attempt): string {
  return providerModel ?? (model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model);
}

export interface RoutePlanRequest {
  /** Of a call that is to be made. */
  requestId?: string;
  inference: Inference;
  /** Upper bound of the input's tokens. */
  inputTokensMax: number;
  options: RoutePreferences;
  workspaceId: string;
  /** The only account that may serve the call, if the client came with it. */
  subscription?: Subscription | undefined;
  caps?: RouteCaps;
  /** Whether the workspace pays in advance. */
  isPrepaid?: boolean;
}

/** The places of a call among those that run at a time. */
export interface RouteSlots {
  /**
   * Resolves to the first route that has a free place, with that place. Fails with `rate_limited` if the call may not wait, or not
   * for longer, and with the signal's reason.
   */
  take<R extends Route>(routes: readonly R[], signal: AbortSignal): Promise<R>;
}

export interface RouteOpenRequest<R extends Route = Route> {
  /** From the plan, best first. */
  routes: readonly R[];
  inference: Inference;
  /** See `RoutePreferences`. */
  fallbackOn?: readonly FallbackReason[] | undefined;
  /** The output tokens that the budget and the model allow on a route. */
  outputTokensMaxFor: (route: R) => number | undefined;
  /** Aborted when the client leaves: nothing more is tried then. */
  signal: AbortSignal;
  /** Filled along the way, so that the attempts of a failed call are known too. */
  attempts: Attempt[];
  /** Set for a call that limits of concurrent calls concern. */
  slots?: RouteSlots | undefined;
  /** Set for a call whose content is kept. */
  capture?: AttemptsCapture | undefined;
  /** Called before each attempt; the first is 1. */
  onAttempt: (route: R, attempt: number) => void;
  /**
   * Set for a call whose caller gets nothing before the end of the answer. While another route is left, the answer is read
   * by this function, which rejects with the UpstreamFailure if it breaks off; then the next route is tried.
   */
  readAhead?: (answer: StreamAnswer, route: R) => Promise<StreamAnswer>;
}

/** A route that has started to answer. */
export interface OpenedRoute<R extends Route = Route> {
  answer: UpstreamAnswer;
  route: R;
  /** To be called once, when the answer is over: it feeds health and measured speed. */
  ended(end: { failure?: UpstreamFailure; outputTokens?: number }): void;
}

export interface InputCountRequest<R extends Route = Route> {
  /** From the plan, best first. */
  routes: readonly R[];
  inference: Inference;
  signal: AbortSignal;
}

/** Finds routes for a call and has one of them answer it. */
export interface Router<R extends Route = Route> {
  /**
   * Returns the routes of a call, best first: immediately when the model and the workspace's keys are known, as a promise
   * otherwise. Throws or rejects with `model_not_found`, `limit_reached` or `no_route`.
   */
  plan(request: RoutePlanRequest): R[] | Promise<R[]>;
  /** Tries routes until one starts to answer. Fails with an ApiError, or with the signal's reason. */
  open(request: RouteOpenRequest<R>): Promise<OpenedRoute<R>>;
  /**
   * Has the best provider count the input of a call; undefined if it cannot. Fails with `invalid_request` for a request
   * that it rejects, and with the signal's reason.
   */
  countInput(request: InputCountRequest<R>): Promise<number | undefined>;
}

/** The API's form of an attempt. */
export function attemptView({ provider, model, status, errorCode, key, ms }: Attempt) {
  const view = { provider, model, status, error_code: errorCode, ms };
  return key === undefined ? view : { ...view, key };
}
