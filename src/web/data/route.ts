import { signal } from '@preact/signals';
import { decodePercent } from '../../shared/text/decode-percent.ts';

/** What the part of the address after `#` names: `#/calls/req_1?status=failed`. */
export interface Route {
  screen: string;
  /** What follows the screen. */
  path: readonly string[];
  query: URLSearchParams;
}

/** The address of the page; it changes with the browser's history. */
export const route = signal(routeIn(location.hash));

addEventListener('hashchange', () => {
  route.value = routeIn(location.hash);
});

function routeIn(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [screen = '', ...rest] = path
    .split('/')
    .filter(Boolean)
    .map((part) => decodePercent(part));
  return { screen, path: rest, query: new URLSearchParams(query) };
}

/** The address of a screen; members of the query without a value are left out. */
export function hrefOf(
  screen: string,
  path: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((it): it is [string, string] => Boolean(it[1]));
  const text = new URLSearchParams(given).toString();
  return `#/${[screen, ...path].filter(Boolean).map(encodeURIComponent).join('/')}${text && `?${text}`}`;
}

/** Goes to an address; `replace` leaves no step in the browser's history, as while typing. */
export function navigate(href: string, { replace = false } = {}): void {
  if (href === location.hash) return;
  if (!replace) location.hash = href;
  else {
    history.replaceState(null, '', href);
    route.value = routeIn(href);
  }
}

/** Changes members of the query of the present screen; undefined removes one. */
export function setQuery(
  changes: Readonly<Record<string, string | undefined>>,
  options = { replace: true },
): void {
  const { screen, path, query } = route.value;
  navigate(hrefOf(screen, path, { ...Object.fromEntries(query), ...changes }), options);
}
