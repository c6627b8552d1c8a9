import {
  createPaywall,
  deletePaywall,
  exportPaywalls as exportPaywallsContract,
  getPaywall,
  listPaywalls,
  type Paywall,
  updatePaywall,
} from '../../../shared/contract/paywalls.ts';
import { pageSizeMax } from '../../../shared/contract/site.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Handler, implement } from '../../base/handler.ts';
import { withSecret } from '../../base/replies.ts';
import { type Idempotency, onceSealed } from '../idempotency/index.ts';
import { exportPaywalls } from './export.ts';
import type { Paywalls } from './paywalls.ts';
import type { Reconciler } from './reconcile.ts';
import type { PaywallRecord } from './store.ts';

interface PaywallHandlersDeps {
  paywalls: Paywalls;
  reconciler: Pick<Reconciler, 'view' | 'applied'>;
  idempotency: Pick<Idempotency, 'once'>;
  /** The wallet of a user, which is paid. */
  walletOf: (userId: string) => Promise<{ id: string } | undefined>;
  /** The address of the embedded proxy; undefined while it does not listen. */
  proxyUrl: () => URL | undefined;
  /** Where clients reach that proxy, if not at its address. */
  publicUrl: () => string | undefined;
}

const pageSizeDefault = 50;

export function paywallHandlers(deps: PaywallHandlersDeps): Handler[] {
  const { paywalls } = deps;
  const view = (record: PaywallRecord) => viewOf(deps, record);
  /** Once the proxies serve the change, or after a few seconds. */
  const served = async (record: PaywallRecord) => {
    await deps.reconciler.applied();
    return await view(record);
  };
  return [
    implement(listPaywalls, async ({ caller, query }) => {
      const limit = Math.min(query.limit ?? pageSizeDefault, pageSizeMax);
      const found = await paywalls.list(caller, { limit, before: query.before_id, status: query.status });
      const nextCursor = found.length < limit ? null : (found.at(-1)?.id ?? null);
      return { data: await Promise.all(found.map(view)), meta: { nextCursor } };
    }),
    implement(exportPaywallsContract, async ({ caller, query: { format } }) => {
      const embedded = deps.proxyUrl();
      if (embedded === undefined && format !== 'aperture') {
        throw new ApiError('unavailable', { message: 'The reverse proxy does not listen.' });
      }
      const served = await paywalls.serving(caller);
      const text = exportPaywalls(format, { paywalls: served, embedded: embedded?.host ?? '' });
      return { data: { format, revision: deps.reconciler.view().revision, text } };
    }),
    implement(createPaywall, (call) =>
      onceSealed(deps.idempotency, call, createPaywall, async () => {
        const data = await served(await paywalls.create(call.caller, call.body));
        return withSecret<typeof createPaywall>({ data });
      }),
    ),
    implement(getPaywall, async ({ caller, params }) => ({
      data: await view(await paywalls.find(caller, params.paywallId)),
    })),
    implement(updatePaywall, async ({ caller, params, body }) => ({
      data: await served(await paywalls.update(caller, params.paywallId, body)),
    })),
    implement(deletePaywall, async ({ caller, params }) => ({
      data: await served(await paywalls.remove(caller, params.paywallId)),
    })),
  ];
}

async function viewOf(
  { paywalls, reconciler, walletOf, proxyUrl, publicUrl }: PaywallHandlersDeps,
  record: PaywallRecord,
): Promise<Paywall> {
  const { host, pathPrefix, methods, upstream, status } = record;
  const { challenges, paid, revenue } = record;
  return {
    id: record.id,
    name: record.name,
    ownerUserId: record.owner,
    status,
    url: status === 'deleted' ? null : clientUrl(proxyUrl() && (publicUrl() ?? proxyUrl()), record),
    match: { host, pathPrefix, methods },
    upstream: { ...upstream, headers: paywalls.shownHeaders(record) },
    priceSats: record.priceSats,
    authScheme: record.authScheme,
    token: record.token,
    freePaths: record.freePaths,
    freeRequestsPerDay: record.freeRequestsPerDay,
    rateLimit: record.rateLimit,
    allowedOrigins: record.allowedOrigins,
    walletId: (await walletOf(record.ownerId))?.id ?? null,
    proxy: reconciler.view(),
    stats: { challenges, paid, revenueMsats: revenue },
    createdAt: isoTime(record.createdAt),
    updatedAt: isoTime(record.updatedAt),
    deletedAt: record.deletedAt === null ? null : isoTime(record.deletedAt),
  };
}

function clientUrl(base: URL | string | undefined, { host, pathPrefix }: PaywallRecord): string | null {
  if (base === undefined) return null;
  const url = new URL(pathPrefix, base);
  if (host !== null) url.hostname = host;
  return url.href;
}
