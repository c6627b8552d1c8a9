import type { FallbackReason } from '../../../shared/constants/fallback-reasons.ts';
import { ApiError } from '../../../shared/errors.ts';
import { pricesFor } from '../../../shared/money/money.ts';
import { type Catalog, matchesPattern, type Resolution, type SpeedReader } from '../catalog/index.ts';
import { affinityOf } from './affinity.ts';
import type { ProviderRoute, RouteCaps, RoutePlanRequest, RoutePreferences, Router } from './contract.ts';
import type { HealthReader } from './health.ts';
import {
  isOfOtherKind,
  judgeOffer,
  keysFor,
  lackedNeed,
  lacksOption,
  type PlanRequest,
  type RejectedOffer,
  type Requirements,
  requirementsOf,
} from './judge-offer.ts';
import { countInput, type OpenDeps, openRoute, RetryLimit } from './open-route.ts';

/** Reasons that a message lists at most; `considered` lists all. */
const reasonsShown = 4;

/**
 * The routes to try, best first: those of the requested model, those of each fallback, then those whose model lacks an option
 * of the call, then those that are rate limited, failing or without the model for now. Providers that reject the key are left
 * out. Returns an error when no route is left: `no_route` with the reason for each provider, `limit_reached` when the key may
 * not use the model, or `unsupported_value` when the model is for another endpoint or lacks what the answer depends on.
 * Deterministic for the same request, health and measurements.
 */
export function planRoutes(
  request: PlanRequest,
  health: HealthReader,
  speed: SpeedReader,
): ProviderRoute[] | ApiError {
  const requested = requestedOf(request);
  if (requested === undefined) return new ApiError('no_route', { message: 'The request names no model.' });
  const forbiddenBy = limitAgainst(requested, request.caps);
  if (forbiddenBy !== undefined) {
    return new ApiError('limit_reached', {
      param: forbiddenBy,
      message: `This key may not use ${requested.id}.`,
    });
  }
  if (requested.offers.every((offer) => isOfOtherKind(offer, request.requirements)))
    return wrongEndpoint(requested, request.requirements);
  const routes: ProviderRoute[] = [];
  const rejections: RejectedOffer[] = [];
  for (const candidate of request.candidates) {
    if (limitAgainst(candidate, request.caps) !== undefined) continue;
    const usable: ProviderRoute[] = [];
    const take = (verdict: ProviderRoute | RejectedOffer) => {
      if ('reason' in verdict) rejections.push(verdict);
      else if (!routes.some((route) => isSame(route, verdict))) usable.push(verdict);
    };
    for (const offer of candidate.offers) {
      const keys = keysFor(offer, request);
      if (keys === undefined) take(judgeOffer(offer, request, health));
      else for (const key of keys) take(judgeOffer(offer, request, health, key));
    }
    routes.push(...rankRoutes(usable, request.requirements, request.preferences, speed));
  }
  if (routes.length === 0)
    return unsupported(requested, rejections, request) ?? noRoute(requested, rejections);
  // A healthy fallback is better than the requested model at a provider that just failed.
  const rank = ({ isLastResort, offer }: ProviderRoute) =>
    isLastResort ? 2 : lacksOption(offer, request.requirements) ? 1 : 0;
  return [0, 1, 2].flatMap((each) => routes.filter((route) => rank(route) === each));
}

/** The limit of the key that forbids a model, if any. */
export function limitAgainst({ id }: Resolution, caps: RouteCaps): string | undefined {
  return caps.models?.find(({ allowed }) => !allowed.some((pattern) => matchesPattern(pattern, id)))?.param;
}

/** What the caller asked for: of a group of models, the first that its key may use. */
function requestedOf({ candidates, caps }: PlanRequest): Resolution | undefined {
  const [first] = candidates;
  if (first?.isOneOfSeveral === undefined) return first;
  return candidates.find((one) => one.isOneOfSeveral && limitAgainst(one, caps) === undefined) ?? first;
}

function wrongEndpoint({ id }: Resolution, { embeddings }: Requirements): ApiError {
  return new ApiError('unsupported_value', {
    param: 'model',
    message: embeddings
      ? `${id} is a chat model, not an embedding model: call it at /v1/responses, /v1/chat/completions or /v1/messages.`
      : `${id} is an embedding model: call it at /v1/embeddings.`,
  });
}

/** The error of a call that no model in question can answer; undefined if one could. */
function unsupported(
  requested: Resolution,
  rejections: readonly RejectedOffer[],
  { requirements }: PlanRequest,
): ApiError | undefined {
  const lacked = rejections.map(({ offer }) => lackedNeed(offer, requirements));
  const [first] = lacked;
  if (first === undefined || lacked.includes(undefined)) return undefined;
  return new ApiError('unsupported_value', {
    param: requirements.paramOf(first.need),
    message: `${requested.id} ${first.sentence}: choose a model that does, or send none.`,
  });
}

function isSame(a: ProviderRoute, b: ProviderRoute): boolean {
  return a.account === b.account && a.providerModel === b.providerModel;
}

function noRoute(requested: Resolution, rejections: readonly RejectedOffer[]): ApiError {
  const reasons = [...new Set(rejections.map(({ offer, reason }) => `${offer.provider}: ${reason}`))];
  const more = reasons.length - reasonsShown;
  const shown = reasons.slice(0, reasonsShown).join('; ');
  const waits = rejections.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  return new ApiError('no_route', {
    message: `No provider can serve ${requested.id}. ${shown}${more > 0 ? `; and ${more} more` : ''}.`,
    param:
      rejections.find(({ param }) => param === 'limits.max_price')?.param ??
      rejections.find(({ param }) => param !== undefined)?.param ??
      null,
    retryAfterSeconds: waits.length > 0 ? Math.ceil(Math.min(...waits) / 1000) : undefined,
    extra: {
      considered: rejections.map(({ offer, reason }) => ({
        provider: offer.provider,
        model: offer.model,
        reason,
      })),
    },
  });
}

/** Assumed length of an answer where the caller set no limit; only used to compare prices. */
const outputTokensExpected = 1_000;
/** A token of text takes about four bytes. */
const bytesPerToken = 4;

/**
 * Orders the routes of one model: benched ones last, then by the caller's `order`, then by `sort`. The default sort is
 * by price; equal prices are ordered by reliability, then by a clear difference in latency, then as configured.
 */
function rankRoutes(
  routes: readonly ProviderRoute[],
  requirements: Requirements,
  preferences: RoutePreferences,
  speed: SpeedReader,
): ProviderRoute[] {
  if (routes.length < 2) return [...routes];
  return routes
    .map((route) => ({ route, rank: rankOf(route, requirements, preferences, speed) }))
    .sort((a, b) => compare(a.rank, b.rank))
    .map(({ route }) => route);
}

function rankOf(
  route: ProviderRoute,
  requirements: Requirements,
  preferences: RoutePreferences,
  speed: SpeedReader,
): number[] {
  const position = preferences.order?.indexOf(route.provider) ?? -1;
  const first = [route.isLastResort ? 1 : 0, position < 0 ? Number.POSITIVE_INFINITY : position];
  const cost = expectedCost(route, requirements);
  const { sort } = preferences;
  if (sort === 'price') return [...first, cost];
  const measured = speed.read(route.provider, route.offer.model);
  if (sort === 'latency') return [...first, measured?.ttftMsP50 ?? Number.POSITIVE_INFINITY, cost];
  if (sort === 'throughput') return [...first, -(measured?.tokensPerSecondP50 ?? 0), cost];
  // In coarse steps, so that noise does not move a conversation between providers and their prompt caches.
  const isUnreliable = measured !== null && measured.uptime < 0.9 ? 1 : 0;
  const octave = Math.floor(Math.log2(Math.max(1, measured?.ttftMsP50 ?? 1_000)));
  return [...first, cost, isUnreliable, octave];
}

/** In arbitrary units: floats suffice to compare, and no one is charged by them. */
function expectedCost({ offer }: ProviderRoute, { inputTokensMax, outputTokensMax }: Requirements): number {
  if (offer.prices === null) return Number.POSITIVE_INFINITY;
  const inputTokens = Math.ceil(inputTokensMax / bytesPerToken);
  const prices = pricesFor(offer.prices, inputTokens);
  const outputTokens = Math.min(outputTokensMax ?? outputTokensExpected, outputTokensExpected);
  return inputTokens * prices.input + outputTokens * prices.output;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [position, value] of a.entries()) {
    const other = b[position] ?? 0;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

export interface RouterDeps extends Omit<OpenDeps, 'retries'> {
  catalog: Pick<Catalog, 'resolve' | 'resolveAll'>;
  /** Read for each call, as a reload changes it: what the host adds to prices, in millionths, and when calls go on. */
  settings: { readonly marginPpm: number; readonly fallbackOn?: readonly FallbackReason[] };
  /** Providers for which a workspace has its own keys; none by default. */
  ownKeysOf?: (workspaceId: string) => ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** The names of a workspace's own keys for a provider, if there are several. */
  ownKeyNamesOf?: (workspaceId: string, provider: string) => readonly string[] | undefined;
}

const noFallbacks: readonly string[] = [];

/** Joins the catalog, the plan and the failover. */
export function createRouter(deps: RouterDeps): Router<ProviderRoute> {
  const openDeps: OpenDeps = { ...deps, retries: new RetryLimit(deps.world) };
  type OwnKeys = ReadonlySet<string> | undefined;
  const candidatesOf = ({ inference, options }: RoutePlanRequest, ownKeys: OwnKeys) => {
    const affinity = () => affinityOf(inference);
    const all = deps.catalog.resolveAll(inference.model, options.fallbacks ?? noFallbacks, {
      ownKeys,
      affinity,
    });
    return inference.embedding ? ofSameModel(inference.model, all, ownKeys) : all;
  };
  /** Vectors of different models cannot be compared, so only other providers of the same model are tried. */
  const ofSameModel = async (
    name: string,
    candidates: Resolution[] | Promise<Resolution[]>,
    ownKeys: OwnKeys,
  ) => {
    // Both fail for an unknown name, and neither failure may stay unhandled.
    const [all, first] = await Promise.all([candidates, deps.catalog.resolve(name, { ownKeys })]);
    const others = all.filter(({ isOneOfSeveral }) => isOneOfSeveral);
    const same = others.filter((one) => one.offers[0]?.providerModel === first.offers[0]?.providerModel);
    return same.length > 0 ? same : [first];
  };
  const plan = (request: RoutePlanRequest, candidates: readonly Resolution[], ownKeys: OwnKeys) => {
    const {
      inference,
      inputTokensMax,
      options,
      workspaceId,
      caps = {},
      isPrepaid = false,
      subscription,
    } = request;
    const planRequest = {
      candidates,
      requirements: requirementsOf(inference, inputTokensMax),
      preferences: options,
      caps,
      isPrepaid,
      ownKeys,
      subscription,
      ownKeyNamesOf: deps.ownKeyNamesOf,
      affinity: () => affinityOf(inference),
      workspaceId,
      marginPpm: deps.settings.marginPpm,
    };
    const routes = planRoutes(planRequest, deps.health, deps.speed);
    if (routes instanceof ApiError) throw routes;
    return routes;
  };
  const planOnceRead = async (request: RoutePlanRequest, ownKeys: OwnKeys | Promise<OwnKeys>) => {
    const known = await ownKeys;
    return plan(request, await candidatesOf(request, known), known);
  };
  return {
    plan(request) {
      const { subscription } = request;
      const ownKeys = subscription ? new Set([subscription.provider]) : deps.ownKeysOf?.(request.workspaceId);
      if (ownKeys instanceof Promise) return planOnceRead(request, ownKeys);
      const candidates = candidatesOf(request, ownKeys);
      if (candidates instanceof Promise)
        return candidates.then((resolved) => plan(request, resolved, ownKeys));
      return plan(request, candidates, ownKeys);
    },
    open: (request) =>
      openRoute(openDeps, { ...request, fallbackOn: request.fallbackOn ?? deps.settings.fallbackOn }),
    countInput: (request) => countInput(openDeps, request),
  };
}
