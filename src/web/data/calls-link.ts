import { type CallsLink, callsQuery } from './calls-query.ts';
import { hrefOf } from './route.ts';

/** The address of the calls that match. */
export function callsHref(filters: CallsLink): string {
  return hrefOf('calls', [], { q: callsQuery(filters) });
}
