import { subscriberNetwork } from '../../shared/http/network-address.ts';
import type { Feature } from '../base/feature.ts';
import { actingUser, type Caller } from '../base/handler.ts';
import type { EventFeed } from '../features/events/index.ts';
import type { Idempotency } from '../features/idempotency/index.ts';
import {
  createPaywalls,
  keepPruned,
  PaywallGate,
  paywallHandlers,
  Reconciler,
  upstreamFailed,
} from '../features/paywalls/index.ts';
import { createPeople } from '../features/profile/index.ts';
import { createDataSealer } from '../features/vault/index.ts';
import type { Invoices, Wallets } from '../features/wallet/index.ts';
import type { Workspaces } from '../features/workspaces/index.ts';
import { trustedProxies } from '../http/client-address.ts';
import { createRateLimit } from '../http/protection/rate-limit.ts';
import { type AddressRules, portOf, upstreamProblem } from '../reverse-proxy/address-guard.ts';
import { ReverseProxy } from '../reverse-proxy/reverse-proxy.ts';
import type { AppDeps } from './app-deps.ts';
import { proxiesInFront, proxyTargets } from './proxy-targets.ts';

interface PaywallsFeatures {
  wallets: Pick<Wallets, 'ofUser' | 'required'>;
  invoices: Pick<Invoices, 'issue'>;
  workspaces: Pick<Workspaces, 'isDaemonOwner'>;
  events: Pick<EventFeed, 'record'>;
  idempotency: Pick<Idempotency, 'once'>;
}

export interface PaywallFeature extends Feature {
  /** Serves the stored paywalls. Never rejects: a failed proxy is reported with the paywalls. */
  update(): Promise<void>;
}

/** Paywalls, and the reverse proxy that serves them. It listens once there is a paywall. */
export function createPaywallFeature(deps: AppDeps, features: PaywallsFeatures): PaywallFeature {
  const { storage, world, makeId, dataKey, log } = deps;
  const store = storage.paywalls;
  const rules: AddressRules = {
    allowed: () => deps.settings.allowedUpstreams,
    ownPorts: () =>
      [portOf(new URL(deps.process.url())), proxy.address?.port].filter((each) => each !== undefined),
  };
  const randomBytes = (count: number) => world.randomBytes(count);
  const sealer = createDataSealer(dataKey, randomBytes);
  const proxy: ReverseProxy = new ReverseProxy({
    rules,
    isTrustedProxy: trustedProxies(proxiesInFront(deps.paywalls)),
    log,
    decide: (request) => gate.decide(request),
    renderFailure: upstreamFailed,
    makeRequestId: () => makeId('req'),
    instance: Buffer.from(randomBytes(6)).toString('hex'),
  });
  const reconciler = new Reconciler({
    store,
    changes: storage.changes,
    world,
    log,
    targets: proxyTargets(proxy, deps),
  });
  const paywalls = createPaywalls({
    store,
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
    passed: storage.passed.at,
    log,
    table: () => reconciler.table,
    headersOf: (paywall) => paywalls.headersOf(paywall),
    createLimit: (limit) =>
      createRateLimit({ ...limit, elapsed: () => world.elapsed(), sharedBy: storage.members.count }),
    async issueInvoice({ ownerId, address, ...terms }) {
      const wallet = await features.wallets.ofUser(ownerId);
      const requester = { kind: 'address', id: subscriberNetwork(address) } as const;
      return wallet && (await features.invoices.issue(wallet, { ...terms, requester }));
    },
  });
  return {
    handlers: paywallHandlers({
      paywalls,
      reconciler,
      idempotency: features.idempotency,
      proxyUrl: () => proxy.url,
      publicUrl: () => deps.settings.publicUrls.paywalls,
      walletOf: (userId) => features.wallets.ofUser(userId),
    }),
    update: () =>
      reconciler.update().catch((error: unknown) => log.warn({ err: error }, 'paywalls could not be read')),
    drain: (deadlineMs) => proxy.drain(deadlineMs),
    // The proxies of this daemon.
    jobs: [(signal, onFailure) => reconciler.runBackground(signal, onFailure)],
    sharedJobs: [
      (signal, onFailure) => keepPruned({ store, world, sure: storage.passed.sure }, signal, onFailure),
    ],
  };
}
