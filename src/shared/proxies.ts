import type { ConfigFault } from './daemon-module.ts';

/** Proxy addresses for outgoing calls; empty strings where there is none. */
export interface Proxies {
  http: string;
  https: string;
  /** Hosts that bypass the proxy, in the syntax of `NO_PROXY`. */
  except: string;
}

const names = { http: 'HTTP_PROXY', https: 'HTTPS_PROXY', all: 'ALL_PROXY', except: 'NO_PROXY' } as const;

/** The environment variables that name proxies, in both spellings. */
export const proxyVariables: readonly string[] = Object.values(names).flatMap((name) => [
  name.toLowerCase(),
  name,
]);

type Environment = Record<string, string | undefined>;

/**
 * The proxies named by the environment, or undefined without any. Lower case wins, as in curl, and `ALL_PROXY` applies
 * where no specific variable is set. Invalid values are reported in `faults` without the value, which may contain a
 * password.
 */
export function proxiesIn(env: Environment, faults: ConfigFault[]): Proxies | undefined {
  const all = addressIn(env, names.all, faults);
  const http = addressIn(env, names.http, faults) || all;
  // A single proxy applies to all calls, as in Node's own client.
  const https = addressIn(env, names.https, faults) || all || http;
  if (!http && !https) return undefined;
  return { http, https, except: settingOf(env, names.except).value };
}

/** A proxy's address without credentials, for display. */
export function shownProxy(address: string): string {
  const { protocol, host } = new URL(address);
  return `${protocol}//${host}`;
}

function addressIn(env: Environment, name: string, faults: ConfigFault[]): string {
  const { variable, value } = settingOf(env, name);
  if (value === '') return '';
  // curl accepts an address without a scheme.
  const address = value.includes('://') ? value : `http://${value}`;
  const url = URL.parse(address);
  if (url && /^(https?|socks5h?):$/.test(url.protocol) && url.hostname !== '') return address;
  faults.push({
    place: variable,
    message: 'expected a proxy address that starts with http://, https:// or socks5://',
  });
  return '';
}

function settingOf(env: Environment, name: string): { variable: string; value: string } {
  const variable = [name.toLowerCase(), name].find((spelling) => env[spelling]?.trim()) ?? name;
  return { variable, value: env[variable]?.trim() ?? '' };
}
