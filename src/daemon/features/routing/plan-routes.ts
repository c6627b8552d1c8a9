import { ApiError } from '../../../shared/errors.ts';
import type { LiveReader, Resolution } from '../catalog/index.ts';
import type { HealthReader } from './health.ts';
import { judgeOffer, type Refusal } from './judge-offer.ts';
import { rankRoutes } from './rank-routes.ts';
import type { PlanRequest, Route, RouteCaps } from './route.ts';

/** Reasons that a message repeats at most; `considered` has them all. */
const shownReasonsMax = 4;

/**
 * The providers to try, best first: those of the model asked for, those of each fallback, then those that are rate
 * limited, failing or without the model for now. A provider that refuses the key is left out. An error when none is
 * left: `no_route` says for each provider why not, `limit_reached` that the key may not use the model.
 * Pure: the same request, health and measurements give the same routes.
 */
export function planRoutes(request: PlanRequest, health: HealthReader, live: LiveReader): Route[] | ApiError {
  const [asked] = request.candidates;
  if (asked === undefined) return new ApiError('no_route', { message: 'No model was named.' });
  const forbidden = forbiddenBy(asked, request.caps);
  if (forbidden !== undefined) {
    return new ApiError('limit_reached', {
      param: forbidden,
      message: `This key may not use ${asked.id}.`,
    });
  }
  const routes: Route[] = [];
  const refusals: Refusal[] = [];
  for (const candidate of request.candidates) {
    if (forbiddenBy(candidate, request.caps) !== undefined) continue;
    const usable: Route[] = [];
    for (const offer of candidate.offers) {
      const verdict = judgeOffer(offer, request, health);
      if ('reason' in verdict) refusals.push(verdict);
      else if (!routes.some((route) => isSame(route, verdict))) usable.push(verdict);
    }
    routes.push(...rankRoutes(usable, request.facts, request.preferences, live));
  }
  if (routes.length === 0) return noRoute(asked, refusals);
  // A fallback that is well is better than the model asked for at a provider that just failed.
  return [...routes.filter((route) => !route.isLastResort), ...routes.filter((route) => route.isLastResort)];
}

/** Whether an id is one that a pattern means; `*` stands for any characters. */
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

function forbiddenBy({ id }: Resolution, caps: RouteCaps): string | undefined {
  return caps.models?.find(({ allowed }) => !allowed.some((pattern) => matchesPattern(pattern, id)))?.param;
}

function isSame(a: Route, b: Route): boolean {
  return a.account === b.account && a.providerModel === b.providerModel;
}

function noRoute(asked: Resolution, refusals: readonly Refusal[]): ApiError {
  const reasons = [...new Set(refusals.map(({ offer, reason }) => `${offer.provider}: ${reason}`))];
  const more = reasons.length - shownReasonsMax;
  const shown = reasons.slice(0, shownReasonsMax).join('; ');
  const waits = refusals.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  return new ApiError('no_route', {
    message: `No provider can serve ${asked.id}. ${shown}${more > 0 ? `; and ${more} more` : ''}.`,
    param:
      refusals.find(({ param }) => param === 'limits.max_price')?.param ??
      refusals.find(({ param }) => param !== undefined)?.param ??
      null,
    retryAfterSeconds: waits.length > 0 ? Math.ceil(Math.min(...waits) / 1000) : undefined,
    extra: {
      considered: refusals.map(({ offer, reason }) => ({
        provider: offer.provider,
        model: offer.model,
        reason,
      })),
    },
  });
}
