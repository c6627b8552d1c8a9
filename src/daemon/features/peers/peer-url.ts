import { inputFault } from '../../../shared/faults/input-faults.ts';
import { isLoopback } from '../../../shared/http/loopback.ts';
import { trimEnd } from '../../../shared/text/trim-text.ts';

interface UrlRules {
  /** Whether plain HTTP to another machine is allowed. */
  insecureHttp: boolean;
  /** Why an address cannot be that of a peer, as the end of a sentence; undefined if it can. */
  problemOf: (url: URL) => string | undefined;
}

/** The address of a peer, whose form is valid, without `/v1` and without a trailing slash. Fails with `invalid_request` and `url`. */
export function readPeerUrl(text: string, { insecureHttp, problemOf }: UrlRules): string {
  const url = new URL(text);
  if (url.protocol === 'http:' && !insecureHttp && !isLoopback(url.hostname)) {
    throw inputFault(
      'url',
      'must be an https address: with http, others in the network can read questions and key, unless `insecure_http` allows it',
    );
  }
  const problem = problemOf(url);
  if (problem !== undefined) throw inputFault('url', problem);
  return `${url.origin}${trimEnd(url.pathname, '/').replace(/\/v1$/, '')}`;
}
