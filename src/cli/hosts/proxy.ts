import type { ConfigFault } from '../../shared/daemon-module.ts';
import { exitCodes } from '../../shared/errors.ts';
import { isLoopback } from '../../shared/loopback.ts';
import { proxiesIn } from '../../shared/proxies.ts';
import { CliError } from '../cli-error.ts';

/** As Node's HTTP agent takes it. */
export type ProxyEnvironment = { HTTP_PROXY: string; HTTPS_PROXY: string; NO_PROXY: string };

/**
 * What Node's HTTP agent is told of proxies on the way to a host; undefined where there is none. Fails with a CliError
 * where the environment names one that commands cannot use: Node would go past it in silence.
 */
export function proxyEnvironment(
  url: URL,
  env: Record<string, string | undefined>,
): ProxyEnvironment | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const faults: ConfigFault[] = [];
  const proxies = proxiesIn(env, faults);
  const [fault] = faults;
  if (fault) throw new CliError(`${fault.place}: ${fault.message}.`, { exit: exitCodes.usage });
  if (proxies === undefined || isExcepted(url.hostname, proxies.except)) return undefined;
  const { http, https, except } = proxies;
  const used = url.protocol === 'https:' ? https : http;
  if (!/^socks/i.test(used)) return { HTTP_PROXY: http, HTTPS_PROXY: https, NO_PROXY: except };
  throw new CliError('Commands cannot go through a SOCKS proxy.', {
    exit: exitCodes.usage,
    next: `Name another in HTTPS_PROXY, or the host in NO_PROXY: NO_PROXY=${url.hostname}`,
  });
}

/** Whether `NO_PROXY` names a host, or a domain that it is in; ports in it are Node's to look at. */
function isExcepted(hostname: string, except: string): boolean {
  return except
    .toLowerCase()
    .split(/[,\s]+/)
    .some(
      (entry) =>
        entry === '*' || (entry !== '' && `.${hostname}`.endsWith(`.${entry.replace(/^\*?\./, '')}`)),
    );
}
