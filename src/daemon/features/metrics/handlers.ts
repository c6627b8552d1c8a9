import { getMetrics } from '../../../shared/contract/metrics.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type Call, type Caller, implement } from '../../handler.ts';
import type { Family } from './families.ts';

export interface MetricsNeeds {
  read: () => Family[];
  /** The families as text, with those of the process itself. */
  write: (families: Family[]) => Promise<string>;
  /** The workspace of whoever runs the daemon. */
  hostWorkspace: { id: string | undefined };
  requireDaemonOwner(caller: Caller): Promise<void>;
}

/** They are of all workspaces: for whoever is on this machine, and from elsewhere for whoever runs the daemon. */
export const metricsHandlers = (needs: MetricsNeeds) => [
  implement(getMetrics, async (call) => {
    if (!isFromHere(call)) await requireReader(needs, call.caller);
    return await needs.write(needs.read());
  }),
];

async function requireReader(needs: MetricsNeeds, caller: Caller): Promise<void> {
  if (caller.kind === 'anonymous') throw new ApiError('unauthenticated');
  if (caller.kind === 'login') return await needs.requireDaemonOwner(caller);
  if (caller.kind !== 'key') throw new ApiError('permission');
  if (!caller.scopes.has('traces:read') && !caller.scopes.has('traces')) {
    throw new ApiError('out_of_scope', { message: 'The key lacks the scope `traces:read`.' });
  }
  if (caller.workspaceId !== needs.hostWorkspace.id) throw new ApiError('permission');
}

/** What a proxy on this machine passes on comes from elsewhere, and tells so by its headers or by the name it asks for. */
function isFromHere({
  remoteAddress = '',
  headers,
}: Pick<Call<typeof getMetrics>, 'remoteAddress' | 'headers'>) {
  const isLocal = /^(::ffff:)?127\.|^::1$|^unix$/.test(remoteAddress);
  const isPassedOn = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => headers[name]);
  return isLocal && !isPassedOn && /^(127(\.\d+){3}|localhost|\[::1\])(:\d+)?$/i.test(String(headers.host));
}
