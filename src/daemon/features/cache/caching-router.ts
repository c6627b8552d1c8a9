import type { World } from '../../world.ts';
import type { Inference, OpenedRoute, Route, Router, ServiceOptions } from '../inference/index.ts';
import type { CacheBounds, CachedAnswer, CacheStore } from './cache-store.ts';
import { answerOf, collected } from './kept-events.ts';
import { requestDigest } from './request-digest.ts';

export type CacheMode = 'off' | 'read-only' | 'read-write';

export interface CacheSettings extends CacheBounds {
  /** For calls that do not say. */
  defaultMode: CacheMode;
  /** How long an answer is given again, in milliseconds. */
  keptMs: number;
}

export interface CacheNeeds {
  store: CacheStore;
  world: Pick<World, 'now'>;
  settings: CacheSettings;
  log: { warn(details: object, message: string): void };
}

/** The name under which a cached answer is told; nothing is charged for it. */
const cacheProvider = 'cache';

const free = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 };

interface CachedRoute extends Route {
  kept?: CachedAnswer;
  /** Where to keep the answer. */
  keepAs?: { workspaceId: string; digest: string };
}

/**
 * Answers calls that want it from what the same workspace was answered before: a hit is a route of its own, so that
 * limits, usage and both formats work as for any other answer. Calls that do not want it pass untouched.
 */
export function cachingRouter(inner: Router, needs: CacheNeeds): Router {
  const { settings } = needs;
  return {
    plan(request) {
      const { inference, options } = request;
      const mode = options.cache ?? settings.defaultMode;
      if (mode === 'off' || !isCacheable(inference)) return inner.plan(request);
      return inner.plan(request).then((routes) => planned(needs, { ...request, mode }, routes));
    },
    open(request) {
      const [route] = request.routes as CachedRoute[];
      if (route?.kept) return Promise.resolve(hit(route, route.kept, request));
      if (route?.cache === undefined) return inner.open(request);
      return missed(inner, needs, request);
    },
  };
}

/** Several choices are more than the neutral form of an answer holds; what is sealed elsewhere is not read here. */
function isCacheable({ body, items }: Inference): boolean {
  const isSealed = items.some((item) => item.type === 'opaque' && item.mustReach !== undefined);
  return !isSealed && !(typeof body.n === 'number' && body.n > 1);
}

async function planned(
  { store, world, log }: CacheNeeds,
  request: { inference: Inference; options: ServiceOptions; workspaceId: string; mode: CacheMode },
  routes: Route[],
): Promise<Route[]> {
  const [first] = routes;
  const digest = first && (await requestDigest(request, first.offer.model));
  if (first === undefined || digest === undefined) return routes;
  const { workspaceId, mode } = request;
  const now = world.now();
  const kept = await store.find(workspaceId, digest, now);
  if (kept !== undefined) {
    void store.touch(workspaceId, digest, now).catch((error: unknown) => {
      log.warn({ err: error }, 'the use of a cached answer could not be noted');
    });
    const offer = { ...first.offer, prices: free };
    const { providerModel } = kept;
    const route: CachedRoute = { ...first, provider: cacheProvider, providerModel, ownKey: false, offer };
    return [{ ...route, cache: 'hit', kept } as Route];
  }
  const keepAs = mode === 'read-write' ? { workspaceId, digest } : undefined;
  return routes.map((route) => ({ ...route, cache: 'miss' as const, keepAs }));
}

type OpenRequest = Parameters<Router['open']>[0];

function hit(route: Route, kept: CachedAnswer, { attempts, onAttempt }: OpenRequest): OpenedRoute {
  onAttempt(route, 1);
  attempts.push({ provider: cacheProvider, model: route.offer.model, status: 200, error_code: null, ms: 0 });
  return { answer: answerOf(kept.events), route, ended: () => {} };
}

/** A stream is asked for in any case: its events are what both kinds of answer are made of later. */
async function missed(inner: Router, needs: CacheNeeds, request: OpenRequest): Promise<OpenedRoute> {
  const inference = { ...request.inference, stream: true };
  const [first] = request.routes;
  const opened = await inner.open({ ...request, inference });
  const { keepAs } = opened.route as CachedRoute;
  const { answer, route } = opened;
  const isFallback = route.offer.model !== first?.offer.model;
  if (keepAs === undefined || isFallback || answer.kind !== 'stream') return opened;
  const keep = async (events: string) => {
    const createdAt = needs.world.now();
    const { offer, providerModel } = route;
    const { keptMs, entriesMax, bytesMax } = needs.settings;
    const kept = { ...keepAs, model: offer.model, providerModel, events, createdAt };
    await needs.store
      .put({ ...kept, expiresAt: createdAt + keptMs }, { entriesMax, bytesMax })
      .catch((error: unknown) => needs.log.warn({ err: error }, 'an answer could not be cached'));
  };
  return { ...opened, answer: collected(answer, keep) };
}
