import { subscriberNetwork } from '../../shared/network-address.ts';
import { utcDay } from '../../shared/time.ts';
import type { Config } from '../config/config.ts';
import type { EventFeed } from '../features/events/index.ts';
import type { Idempotency } from '../features/idempotency/index.ts';
import {
  caddyRoute,
  caddyRouteId,
  createPaywalls,
  nginxLocations,
  PaywallGate,
  type ProxyConfig,
  type ProxyTarget,
  paywallHandlers,
  Reconciler,
  upstreamFailed,
} from '../features/paywalls/index.ts';
import { createPeople } from '../features/profile/index.ts';
import { createDataSealer } from '../features/vault/index.ts';
import type { Invoices, Wallets } from '../features/wallet/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import { actingUser, type Caller } from '../handler.ts';
import { createRateLimit } from '../http/protection/rate-limit.ts';
import { type AddressRules, portOf, upstreamProblem } from '../reverse-proxy/address-guard.ts';
import { applyToCaddy } from '../reverse-proxy/caddy-target.ts';
import { trustedProxies } from '../reverse-proxy/client-address.ts';
import { nginxTarget } from '../reverse-proxy/nginx-target.ts';
import { ReverseProxy } from '../reverse-proxy/reverse-proxy.ts';
import { repeatedly } from '../world.ts';
import type { AppDeps } from './app-deps.ts';
import type { Feature } from './feature.ts';

interface PaywallsFeatures {
  wallets: Pick<Wallets, 'ofUser' | 'required'>;
  invoices: Pick<Invoices, 'issue'>;
  workspaces: Pick<Workspaces, 'isDaemonOwner'>;
  events: Pick<EventFeed, 'record'>;
  idempotency: Pick<Idempotency, 'once'>;
}

const pruneEveryMs = 10 * 60 * 1000;
/** Rows deleted in one write, during which calls wait for their holds. */
const pruneBatch = 100;
/** Longer than a payment can be under way. */
const unpaidKeptMs = 24 * 60 * 60 * 1000;

export interface PaywallFeature extends Feature {
  /** Serves the stored paywalls. Never rejects: a failed proxy is reported with the paywalls. */
  update(): Promise<void>;
}

/** Paywalls, and the reverse proxy that serves them. It listens once there is a paywall. */
export function createPaywallFeature(deps: AppDeps, features: PaywallsFeatures): PaywallFeature {
  const { storage, world, makeId, dataKey, log } = deps;
  const { host, port } = deps.paywalls;
  const store = storage.paywalls;
  const rules: AddressRules = {
    allowed: () => deps.settings.allowedUpstreams,
    ownPorts: () =>
      [portOf(new URL(deps.process.url())), proxy.address?.port].filter((each) => each !== undefined),
  };
  const randomBytes = (count: number) => world.randomBytes(count);
  const sealer = createDataSealer(dataKey, randomBytes);
  const embedded: ProxyTarget = {
    name: 'embedded',
    async apply({ paywalls }) {
      if (paywalls.length > 0) await proxy.listen({ host, port });
    },
  };
  /** Other proxies, which forward to the embedded one and therefore wait for it. */
  const otherTargets = (): ProxyTarget[] => {
    const { caddy, nginx } = deps.paywalls;
    const exported = async (config: ProxyConfig) => {
      await embedded.apply(config);
      return { paywalls: config.paywalls, embedded: proxyUrl()?.host ?? '' };
    };
    const targets: ProxyTarget[] = [];
    if (caddy) {
      const options = { id: caddyRouteId, send: world.send };
      targets.push({
        name: 'caddy',
        apply: async (config) => await applyToCaddy(caddy, caddyRoute(await exported(config)), options),
      });
    }
    if (nginx) {
      const applyToNginx = nginxTarget(nginx);
      targets.push({
        name: 'nginx',
        apply: async (config) => await applyToNginx(nginxLocations(await exported(config))),
      });
    }
    return targets;
  };
  const reconciler = new Reconciler({ store, world, log, targets: [embedded, ...otherTargets()] });
  const paywalls = createPaywalls({
    store,
    reconciler,
    sealer,
    makeId,
    randomBytes,
    people: createPeople({ store: storage.profile }),
    requireWallet: (caller) => features.wallets.required(caller),
    mayUsePrivate: (caller: Caller) => features.workspaces.isDaemonOwner(actingUser(caller)),
    upstreamProblem: (url, { mayBePrivate }) => upstreamProblem(url, { mayBePrivate, rules }),
    events: features.events,
    now: () => world.now(),
  });
  const gate = new PaywallGate({
    store,
    dataKey,
    world,
    log,
    table: () => reconciler.table,
    headersOf: (paywall) => paywalls.headersOf(paywall),
    createLimit: (limit) => createRateLimit({ ...limit, elapsed: () => world.elapsed() }),
    async issueInvoice({ ownerId, address, ...terms }) {
      const wallet = await features.wallets.ofUser(ownerId);
      const requester = { kind: 'address', id: subscriberNetwork(address) } as const;
      return wallet && (await features.invoices.issue(wallet, { ...terms, requester }));
    },
  });
  const proxy = new ReverseProxy({
    rules,
    isTrustedProxy: trustedProxies(proxiesInFront(deps.paywalls)),
    log,
    decide: (request) => gate.decide(request),
    renderFailure: upstreamFailed,
    makeRequestId: () => makeId('req'),
    instance: Buffer.from(randomBytes(6)).toString('hex'),
  });
  const proxyUrl = (): URL | undefined => {
    const { address } = proxy;
    if (address === undefined) return undefined;
    const name = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[address.address] ?? address.address;
    return new URL(
      `http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${address.port}`,
    );
  };
  return {
    handlers: paywallHandlers({
      paywalls,
      reconciler,
      idempotency: features.idempotency,
      proxyUrl,
      publicUrl: () => deps.settings.publicUrls.paywalls,
      walletOf: (userId) => features.wallets.ofUser(userId),
    }),
    update: () =>
      reconciler.update().catch((error: unknown) => log.warn({ err: error }, 'paywalls could not be read')),
    drain: (deadlineMs) => proxy.drain(deadlineMs),
    jobs: [
      (signal, onFailure) => reconciler.runBackground(signal, onFailure),
      (signal, onFailure) =>
        repeatedly(world, { everyMs: pruneEveryMs, signal, onFailure }, async () => {
          const now = world.now();
          const bounds = { expiredBefore: now - unpaidKeptMs, day: utcDay(now), limit: pruneBatch };
          while (!signal.aborted && (await store.prune(bounds)) > 0);
        }),
    ],
  };
}

/** Unless they are listed: proxies that the daemon configures run on this machine. */
function proxiesInFront({ trustedProxies: listed, caddy, nginx }: Config['paywalls']): readonly string[] {
  return listed ?? (caddy || nginx ? ['127.0.0.1', '::1'] : []);
}
