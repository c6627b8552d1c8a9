import { type Dispatcher, EnvHttpProxyAgent } from 'undici';
import type { Proxies } from '../../shared/proxies.ts';

/**
 * Sends calls through the proxies that the environment names, but for the hosts of `NO_PROXY`: with CONNECT to what is
 * behind TLS, and as requests of a whole address otherwise.
 */
export function throughProxies(proxies: Proxies, options: EnvHttpProxyAgent.Options): Dispatcher {
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: known(proxies.http),
    httpsProxy: known(proxies.https),
    noProxy: proxies.except,
  });
}

/** With SOCKS it is always the proxy that looks names up, which others write with an `h`. */
function known(address: string): string {
  return address.replace(/^socks5h:/i, 'socks5:');
}
