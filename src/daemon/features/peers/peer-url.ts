import { inputFault } from '../../../shared/input-faults.ts';
import { isLoopback } from '../../../shared/loopback.ts';

interface UrlRules {
  /** Whether plain HTTP to another machine is allowed. */
  insecureHttp: boolean;
  /** Why an address cannot be that of a peer, as the end of a sentence; undefined if it can. */
  problemOf: (url: URL) => string | undefined;
}

/** The address of a peer without `/v1` and without a trailing slash. Fails with `invalid_request` and `url`. */
export function readPeerUrl(text: string, { insecureHttp, problemOf }: UrlRules): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw inputFault('url', 'must be an https address');
  if (url.username || url.password) throw inputFault('url', 'must not contain a user or password; use `key`');
  if (url.search || url.hash) throw inputFault('url', 'must not have a query or fragment');
  if (url.protocol === 'http:' && !insecureHttp && !isLoopback(url.hostname)) {
    throw inputFault(
      'url',
      'must be an https address: with http, others in the network can read questions and key, unless `insecure_http` allows it',
    );
  }
  const problem = problemOf(url);
  if (problem !== undefined) throw inputFault('url', problem);
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`;
}
