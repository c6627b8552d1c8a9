import type { Prices } from '../../../shared/money.ts';
import type { Inference, Wire } from './neutral.ts';
import type { Wishes } from './service-member.ts';
import type { UpstreamAnswer } from './upstream.ts';

/** One way to have a call answered: a model at a provider. */
export interface Route {
  /** The catalog's id of the model. */
  model: string;
  provider: string;
  /** The model's name at the provider. */
  providerModel: string;
  /** The format to speak with the provider; undefined for one with its own. */
  wire: Wire | undefined;
  /** Null when nobody knows. */
  prices: Prices | null;
  /** The most that the model writes, if known. */
  outputTokensMax: number | undefined;
  /** The most that the model reads and writes together, if known. */
  contextLength: number | undefined;
}

export interface RouteAttempt {
  provider: string;
  model: string;
  /** HTTP status of the provider, 200 for an answer, 0 where there was none. */
  status: number;
  errorCode: string | null;
  ms: number;
}

/** A provider that has begun to answer. */
export interface OpenedRoute {
  answer: UpstreamAnswer;
  route: Route;
  /** All tries, the successful one last. */
  attempts: RouteAttempt[];
}

/** Finds providers for a call and has one of them answer it. */
export interface Router {
  /**
   * The ways to have this call answered, best first. Throws an ApiError: `model_not_found`, or `no_route` with what
   * would help.
   */
  plan(request: { inference: Inference; wishes: Wishes; inputTokensMax: number }): Promise<Route[]>;
  /**
   * Tries routes until one begins to answer. Throws an ApiError; `onAttempt` hears of each failed try, so that a call
   * that is given up can still tell what was tried.
   */
  open(request: {
    routes: Route[];
    inference: Inference;
    outputTokensMax: number | undefined;
    signal: AbortSignal;
    onAttempt: (attempt: RouteAttempt) => void;
  }): Promise<OpenedRoute>;
  /** Tells how an answer went on after it had begun, for live speed and health. */
  report(route: Route, outcome: { ok: boolean; ttftMs: number; totalMs: number; outputTokens: number }): void;
}
