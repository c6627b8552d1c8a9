import { ApiError } from '../../../shared/errors.ts';
import type { LiveReader, Resolution } from '../catalog/index.ts';
import type { ProviderRoute, RouteCaps } from './contract.ts';
import type { HealthReader } from './health.ts';
import { isOfOtherKind, judgeOffer, type PlanRequest, type Rejection } from './judge-offer.ts';
import { rankRoutes } from './rank-routes.ts';
import type { Requirements } from './requirements.ts';

/** Reasons that a message lists at most; `considered` lists all. */
const reasonsShown = 4;

/**
 * The routes to try, best first: those of the requested model, those of each fallback, then those that are rate
 * limited, failing or without the model for now. Providers that reject the key are left out. Returns an error when no
 * route is left: `no_route` with the reason for each provider, `limit_reached` when the key may not use the model, or
 * `unsupported_value` when the model is for another endpoint.
 * Deterministic for the same request, health and measurements.
 */
export function planRoutes(
  request: PlanRequest,
  health: HealthReader,
  live: LiveReader,
): ProviderRoute[] | ApiError {
  const [requested] = request.candidates;
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
  const rejections: Rejection[] = [];
  for (const candidate of request.candidates) {
    if (limitAgainst(candidate, request.caps) !== undefined) continue;
    const usable: ProviderRoute[] = [];
    for (const offer of candidate.offers) {
      const verdict = judgeOffer(offer, request, health);
      if ('reason' in verdict) rejections.push(verdict);
      else if (!routes.some((route) => isSame(route, verdict))) usable.push(verdict);
    }
    routes.push(...rankRoutes(usable, request.requirements, request.preferences, live));
  }
  if (routes.length === 0) return noRoute(requested, rejections);
  // A healthy fallback is better than the requested model at a provider that just failed.
  return [...routes.filter((route) => !route.isLastResort), ...routes.filter((route) => route.isLastResort)];
}

/** Whether an id matches a pattern, in which `*` stands for any characters. */
export function matchesPattern(pattern: string, id: string): boolean {
  const pieces = pattern.split('*');
  const [first = ''] = pieces;
  if (pieces.length === 1) return pattern === id;
  const last = pieces.at(-1) ?? '';
  if (!id.startsWith(first) || !id.endsWith(last) || id.length < first.length + last.length) return false;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = id.indexOf(piece, from);
    if (found < 0) return false;
    from = found + piece.length;
  }
  return from <= id.length - last.length;
}

/** The limit of the key that forbids a model, if any. */
function limitAgainst({ id }: Resolution, caps: RouteCaps): string | undefined {
  return caps.models?.find(({ allowed }) => !allowed.some((pattern) => matchesPattern(pattern, id)))?.param;
}

function wrongEndpoint({ id }: Resolution, { embeddings }: Requirements): ApiError {
  return new ApiError('unsupported_value', {
    param: 'model',
    message: embeddings
      ? `${id} is a chat model, not an embedding model: call it at /v1/responses, /v1/chat/completions or /v1/messages.`
      : `${id} is an embedding model: call it at /v1/embeddings.`,
  });
}

function isSame(a: ProviderRoute, b: ProviderRoute): boolean {
  return a.account === b.account && a.providerModel === b.providerModel;
}

function noRoute(requested: Resolution, rejections: readonly Rejection[]): ApiError {
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
