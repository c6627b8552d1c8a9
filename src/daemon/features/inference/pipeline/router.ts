import type { NanoUsd, Prices } from '../../../../shared/money.ts';
import type { Inference, Wire } from '../neutral.ts';
import type { UpstreamAnswer, UpstreamFailure } from '../upstream.ts';
import type { ServiceOptions } from './service-member.ts';

/** One way to have a call answered: a model at a provider. */
export interface Route {
  provider: string;
  /** The model's name at the provider. */
  providerModel: string;
  /** Whether the workspace's own key is used, so that nothing is charged here. */
  ownKey: boolean;
  /** Whether the answer comes from the cache, of calls that want one from there. */
  cache?: 'hit' | 'miss';
  offer: {
    /** The catalog's id of the model. */
    model: string;
    /** Null when nobody knows. */
    prices: Prices | null;
    /** The most that the model reads and writes together; null when nobody knows. */
    contextLength: number | null;
    /** The most that the model writes; null when nobody knows. */
    outputTokensMax: number | null;
    /** The formats that the provider speaks; undefined for one with its own. */
    wires: readonly Wire[] | undefined;
  };
}

/** What the caller's key leaves to choose from. */
export interface RouteCaps {
  /** In nano-dollars per million tokens, margin included; null where nothing is capped. */
  maxPrice?: { input: NanoUsd | null; output: NanoUsd | null };
  /** Model ids with `*` for any characters, each list with the name of the limit for who breaks it. */
  models?: readonly { param: 'limits.models' | 'scopes.models'; allowed: readonly string[] }[];
  /** Whether there is a spending cap: then nothing of unknown price is called on the host's account. */
  isSpendCapped?: boolean;
}

/** One try to have the call answered, as callers are told of it. */
export interface RouteAttempt {
  provider: string;
  model: string;
  /** HTTP status of the provider, 200 for an answer, 0 where there was none. */
  status: number;
  error_code: string | null;
  ms: number;
}

/** A provider that has started to answer. */
export interface OpenedRoute {
  answer: UpstreamAnswer;
  route: Route;
  /** To be called once, when the answer is over: for live speed and health. */
  ended(end: { failure?: UpstreamFailure; outputTokens?: number }): void;
}

/** Finds providers for a call and has one of them answer it. */
export interface Router {
  /**
   * The ways to have this call answered, best first. Fails with an ApiError: `model_not_found`, `limit_reached`, or
   * `no_route` with what would help.
   */
  plan(request: {
    inference: Inference;
    options: ServiceOptions;
    workspaceId: string;
    caps?: RouteCaps;
    /** Whether the workspace pays in advance. */
    isPrepaid?: boolean;
  }): Promise<Route[]>;
  /** Tries routes until one begins to answer. Fails with an ApiError, or with the signal's reason. */
  open(request: {
    routes: Route[];
    inference: Inference;
    outputTokensMaxFor: (route: Route) => number | undefined;
    signal: AbortSignal;
    /** Filled as it goes, so that a call that is given up can still tell what was tried. */
    attempts: RouteAttempt[];
    /** Told before each try; the first is 1. */
    onAttempt: (route: Route, attempt: number) => void;
  }): Promise<OpenedRoute>;
}
