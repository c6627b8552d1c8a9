import type { CacheMode } from '../../../shared/contract/key-defaults.ts';
import { hasSecret } from '../../../shared/masking/mask-json.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import { fingerprintOf } from '../idempotency/index.ts';
import type {
  CachedRoute,
  OpenedRoute,
  ProviderRoute,
  Route,
  RouteOpenRequest,
  RoutePlanRequest,
  Router,
} from '../routing/index.ts';
import type { Inference } from '../upstreams/neutral.ts';
import { recordAnswer, replayAnswer } from './answer-events.ts';
import { withoutIgnored } from './ignored-members.ts';
import type { CacheBounds, CachedAnswer, CacheStore } from './store.ts';

export interface CacheSettings extends CacheBounds {
  /** For calls that do not set one. */
  defaultMode: CacheMode;
  /** How long an answer is served again, in milliseconds. */
  ttlMs: number;
}

export interface CacheDeps {
  store: CacheStore;
  world: Pick<World, 'now'>;
  settings: CacheSettings;
  log: Pick<Log, 'warn'>;
}

const free = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 };

/**
 * Serves calls that opted in from the earlier answers of the same workspace. A hit is a route like any other, so that
 * limits, usage and all formats apply to it; other calls go to the inner router.
 */
export function cachingRouter(inner: Router<ProviderRoute>, deps: CacheDeps): Router {
  return {
    plan(request) {
      const mode = request.options.cache ?? deps.settings.defaultMode;
      const routes = inner.plan(request);
      return mode === 'off' || !isCacheable(request.inference) ? routes : lookUp(deps, request, mode, routes);
    },
    countInput: ({ routes, ...request }) =>
      inner.countInput({ ...request, routes: routes.filter((route) => route.kind === 'provider') }),
    open(request) {
      const [first] = request.routes;
      if (first?.kind === 'cache') return Promise.resolve(openHit(first, request));
      const routes = request.routes.filter((route) => route.kind === 'provider');
      return first?.cacheMiss
        ? openMiss(inner, deps, { ...request, routes })
        : inner.open({ ...request, routes });
    },
  };
}

/** Several choices and vectors do not fit the neutral form of an answer, and content that others sealed cannot be compared. */
function isCacheable({ wire, body, items, tools, embedding }: Inference): boolean {
  if (embedding) return false;
  // The neutral form lacks what these tools of Anthropic do within an answer.
  if (wire === 'messages' && tools.some(({ type }) => type === 'opaque')) return false;
  const isSealed = items.some((item) => item.type === 'opaque' && item.mustReach !== undefined);
  return !isSealed && !(typeof body.n === 'number' && body.n > 1);
}

async function lookUp(
  { store, world, log }: CacheDeps,
  request: RoutePlanRequest,
  mode: CacheMode,
  planned: ProviderRoute[] | Promise<ProviderRoute[]>,
): Promise<Route[]> {
  const routes = await planned;
  const [first] = routes;
  const digest = first && (await requestDigest(request, first.offer.model));
  if (first === undefined || digest === undefined) return routes;
  const { workspaceId, requestId = null } = request;
  const now = world.now();
  const cached = await store.find(workspaceId, digest, now);
  if (cached !== undefined) {
    void store.touch(workspaceId, digest, now).catch((error: unknown) => {
      log.warn({ err: error }, 'the use of a cached answer could not be recorded');
    });
    return [hitRoute(cached, first)];
  }
  const cacheMiss = { storeAs: mode === 'read-write' ? { workspaceId, requestId, digest } : null };
  return routes.map((route) => ({ ...route, cacheMiss }));
}

function hitRoute({ providerModel, events }: CachedAnswer, { offer }: ProviderRoute): CachedRoute {
  return {
    kind: 'cache',
    provider: 'cache',
    providerModel,
    ownKey: false,
    offer: { ...offer, prices: free },
    events,
  };
}

function openHit(route: CachedRoute, { attempts, onAttempt }: RouteOpenRequest): OpenedRoute {
  onAttempt(route, 1);
  attempts.push({ provider: route.provider, model: route.offer.model, status: 200, errorCode: null, ms: 0 });
  return { answer: replayAnswer(route.events), route, ended: () => {} };
}

/** Always asks for a stream: its events can be replayed as both kinds of answer. */
async function openMiss(
  inner: Router<ProviderRoute>,
  { store, world, settings, log }: CacheDeps,
  request: RouteOpenRequest<ProviderRoute>,
): Promise<OpenedRoute> {
  const opened = await inner.open({ ...request, inference: { ...request.inference, stream: true } });
  const { answer, route } = opened;
  const storeAs = route.cacheMiss?.storeAs;
  const isFallback = route.offer.model !== request.routes[0]?.offer.model;
  if (!storeAs || isFallback || answer.kind !== 'stream') return opened;
  const { ttlMs, entriesMax, bytesMax } = settings;
  const { providerModel } = route;
  const { tools, mcp_servers } = request.inference.body;
  const put = async (events: string) => {
    // An answer that repeats a secret is not kept.
    if (hasSecret(events, { tools, mcp_servers })) return;
    const createdAt = world.now();
    const cached = { ...storeAs, model: route.offer.model, providerModel, events, createdAt };
    await store
      .put({ ...cached, expiresAt: createdAt + ttlMs }, { entriesMax, bytesMax })
      .catch((error: unknown) => log.warn({ err: error }, 'an answer could not be cached'));
  };
  return { ...opened, answer: recordAnswer(answer, put) };
}

/** Ids of items, and sealed texts, are new in each answer; the items hold their contents. */
const itemId = /^(msg|fc|ctc|rs|cmp|ws)_/;

/**
 * The digest of a request, history included: 64 hexadecimal digits, or undefined for a request that has none. Streamed
 * and whole answers to one request share it.
 */
async function requestDigest(
  { inference, options, workspaceId }: RoutePlanRequest,
  model: string,
): Promise<string | undefined> {
  const { body, stream: _stream, model: _requested, ...asked } = inference;
  const rest = withoutIgnored(body);
  const { only, ignore, pay, maxPrice } = options;
  const whole = { model, asked, rest, options: { only, ignore, pay, maxPrice } };
  return await fingerprintOf({ method: 'CACHE', path: workspaceId }, plain(whole)).catch(() => undefined);
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(
    ([name, member]) =>
      member !== undefined &&
      name !== 'encrypted_content' &&
      !(name === 'id' && typeof member === 'string' && itemId.test(member)),
  );
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
}
