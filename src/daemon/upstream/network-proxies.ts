import { type Dispatcher, EnvHttpProxyAgent } from 'undici';
import type { Proxies } from '../../shared/proxies.ts';

/**
 * A dispatcher that sends calls through the proxies of the environment: with CONNECT for HTTPS, and with absolute-form requests for
 * HTTP.
 */
export function throughProxies(proxies: Proxies, options: EnvHttpProxyAgent.Options): Dispatcher {
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: supportedScheme(proxies.http),
    httpsProxy: supportedScheme(proxies.https),
    // Otherwise it reads the environment.
    noProxy: '',
  });
}

/** undici's SOCKS proxies always resolve names, which other programs request with `socks5h`. */
function supportedScheme(address: string): string {
  return address.replace(/^socks5h:/i, 'socks5:');
}
