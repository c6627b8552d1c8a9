import { getMetrics } from '../../../shared/contract/metrics.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type Call, type Caller, implement } from '../../base/handler.ts';
import type { Family } from './families.ts';

export interface MetricsDeps {
  read: () => Promise<Family[]>;
  /** The families as text, with those of the process itself. */
  write: (families: Family[]) => Promise<string>;
  /** The workspace of the daemon's owner. */
  hostWorkspace: { id: string | undefined };
  requireDaemonOwner(caller: Caller): Promise<void>;
}

/** Metrics cover all workspaces: anyone on this machine may read them, and from elsewhere the daemon's owner. */
export const metricsHandlers = (deps: MetricsDeps) => [
  implement(getMetrics, async (call) => {
    if (!isLocalRequest(call)) await requireReader(deps, call.caller);
    return await deps.write(await deps.read());
  }),
];

async function requireReader(deps: MetricsDeps, caller: Caller): Promise<void> {
  if (caller.kind === 'anonymous') throw new ApiError('unauthenticated');
  if (caller.kind === 'login') return await deps.requireDaemonOwner(caller);
  if (caller.kind !== 'key') throw new ApiError('permission');
  if (!caller.scopes.has('traces:read') && !caller.scopes.has('traces')) {
    throw new ApiError('out_of_scope', { message: 'This key lacks the scope `traces:read`.' });
  }
  if (caller.workspaceId !== deps.hostWorkspace.id) throw new ApiError('permission');
}

/** Requests through a proxy on this machine are not local: it is a trusted one, or their headers or host name show it. */
function isLocalRequest({
  remoteAddress = '',
  isProxied = false,
  headers,
}: Pick<Call<typeof getMetrics>, 'remoteAddress' | 'isProxied' | 'headers'>) {
  const isLocal = /^(::ffff:)?127\.|^::1$|^unix$/.test(remoteAddress);
  const isForwarded =
    isProxied || ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => name in headers);
  return isLocal && !isForwarded && /^(127(\.\d+){3}|localhost|\[::1\])(:\d+)?$/i.test(String(headers.host));
}
