import type { Subscription } from '../../features/upstreams/subscription.ts';

/** The headers of a call that is made with the client's own login. */
export function loginHeaders({ authorization, headers }: Subscription): Record<string, string> {
  return { ...headers, authorization };
}
