/** A host of `l402AllowedHosts`: `api.example.com`, `*.example.com`, `127.0.0.1:8080` or `api.example.com:*`. */
interface AllowedHost {
  name: string;
  /** `*` for every port; undefined for the default port of the URL's scheme. */
  port: string | undefined;
}

function parse(allowed: string): AllowedHost {
  const [, name = '', port] = /^(.*?)(?::(\d+|\*))?$/.exec(allowed.toLowerCase()) ?? [];
  return { name, port };
}

/** The port that an http or https URL has without one. */
export const defaultPortOf = ({ protocol }: URL) => (protocol === 'https:' ? '443' : '80');

/** Whether a host of the list allows a URL. */
export function allowsUrl(allowed: string, url: URL): boolean {
  const { name, port = defaultPortOf(url) } = parse(allowed);
  return (port === '*' || port === (url.port || defaultPortOf(url))) && hasName(name, url.hostname);
}

/** Whether all that one host of a list allows is also allowed by another: `a.example.com` by `*.example.com`. */
export function coversHost(allowed: string, other: string): boolean {
  const [wide, narrow] = [parse(allowed), parse(other)];
  return (wide.port === '*' || wide.port === narrow.port) && hasName(wide.name, narrow.name);
}

function hasName(allowed: string, name: string): boolean {
  return allowed === name || (allowed.startsWith('*.') && name.endsWith(allowed.slice(1)));
}
