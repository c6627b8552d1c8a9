import type { ConfigFault } from './daemon-module.ts';

/** What calls to other hosts go through, as addresses; empty where there is no such proxy. */
export interface Proxies {
  http: string;
  https: string;
  /** The hosts that are called directly, as `NO_PROXY` names them. */
  except: string;
}

const names = { http: 'HTTP_PROXY', https: 'HTTPS_PROXY', all: 'ALL_PROXY', except: 'NO_PROXY' } as const;

/** The variables of the environment that name proxies, in both spellings. */
export const proxyVariables: readonly string[] = Object.values(names).flatMap((name) => [
  name.toLowerCase(),
  name,
]);

type Environment = Record<string, string | undefined>;

/**
 * The proxies that the environment names, undefined where it names none. Lower case wins, as it does for curl, and
 * `ALL_PROXY` holds for what has no variable of its own. What is not the address of a proxy is told in `faults`, without
 * the value: it may hold a password.
 */
export function proxiesIn(env: Environment, faults: ConfigFault[]): Proxies | undefined {
  const all = addressIn(env, names.all, faults);
  const http = addressIn(env, names.http, faults) || all;
  // Whoever names one proxy alone means all calls by it, as Node's own client takes it.
  const https = addressIn(env, names.https, faults) || all || http;
  if (!http && !https) return undefined;
  return { http, https, except: settingOf(env, names.except).value };
}

/** A proxy as it may be shown: without the name and the password that it may ask for. */
export function shownProxy(address: string): string {
  const { protocol, host } = new URL(address);
  return `${protocol}//${host}`;
}

function addressIn(env: Environment, name: string, faults: ConfigFault[]): string {
  const { variable, value } = settingOf(env, name);
  if (value === '') return '';
  // curl takes an address without a scheme, too.
  const address = value.includes('://') ? value : `http://${value}`;
  const url = URL.parse(address);
  if (url && /^(https?|socks5h?):$/.test(url.protocol) && url.hostname !== '') return address;
  faults.push({
    place: variable,
    message: 'expected the address of a proxy that starts with http://, https:// or socks5://',
  });
  return '';
}

function settingOf(env: Environment, name: string): { variable: string; value: string } {
  const variable = [name.toLowerCase(), name].find((spelling) => env[spelling]?.trim()) ?? name;
  return { variable, value: env[variable]?.trim() ?? '' };
}
