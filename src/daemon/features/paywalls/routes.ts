import type { PaywallRecord } from './store.ts';

/** The properties that a route is chosen by. */
export interface RoutedRequest {
  method: string;
  /** The `Host` header, with or without a port. */
  host: string;
  /** Normalized: see `normalizePath`. */
  path: string;
}

export type RouteMatch =
  | { paywall: PaywallRecord }
  /** Paywalls for the path exist, but for other methods. */
  | { allowed: string[] };

/** An immutable table of the paywalls that are served. */
export class RouteTable {
  readonly #byHost = new Map<string, PaywallRecord[]>();
  readonly #byId: Map<string, PaywallRecord>;

  constructor({ paywalls }: { paywalls: readonly PaywallRecord[] }) {
    this.#byId = new Map(paywalls.map((each) => [each.id, each]));
    for (const paywall of paywalls) {
      const host = paywall.host ?? '';
      this.#byHost.set(host, [...(this.#byHost.get(host) ?? []), paywall]);
    }
    for (const routes of this.#byHost.values()) {
      routes.sort((one, other) => other.pathPrefix.length - one.pathPrefix.length);
    }
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Routes for a host name come before those for any; then the longest prefix wins. */
  match({ method, host, path }: RoutedRequest): RouteMatch | undefined {
    const name = hostName(host);
    const candidates = [
      ...(this.#byHost.get(name) ?? []),
      ...(name === '' ? [] : (this.#byHost.get('') ?? [])),
    ];
    const allowed = new Set<string>();
    for (const paywall of candidates) {
      if (!isBelow(path, paywall.pathPrefix)) continue;
      if (hasMethod(paywall.methods, method)) return { paywall };
      for (const each of paywall.methods) allowed.add(each);
    }
    return allowed.size === 0 ? undefined : { allowed: [...allowed] };
  }
}

function hasMethod(methods: readonly string[], method: string): boolean {
  if (methods.length === 0) return true;
  return methods.includes(method) || (method === 'HEAD' && methods.includes('GET'));
}

function hostName(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
}

/** Whether a path is the prefix or below it. */
function isBelow(path: string, prefix: string): boolean {
  return prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
}

export function isFree(path: string, freePaths: readonly string[]): boolean {
  return freePaths.some((free) =>
    free.endsWith('/*') ? isBelow(path, free.slice(0, -2) || '/') : path === free,
  );
}

/**
 * The path by which a request is matched and which is sent upstream: slashes are collapsed and unreserved characters
 * unescaped. Undefined for one that servers read differently, such as one with an escaped slash next to dots: it could be
 * free here and another path upstream.
 */
export function normalizePath(path: string): string | undefined {
  if (!path.startsWith('/') || path.includes('#') || !isPlain(path)) return undefined;
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  if (!isPlain(decoded)) return undefined;
  // Some servers drop what follows a semicolon before they resolve dots.
  const isDotted = decoded.split('/').some((each) => /^\.{1,2}(;|$)/.test(each));
  if (isDotted) return undefined;
  return path.replace(/\/{2,}/g, '/').replace(/%[0-7][0-9a-fA-F]/g, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : escaped.toUpperCase();
  });
}

/** Whether a path has neither control characters nor backslashes. */
function isPlain(path: string): boolean {
  return !/[\\\p{Cc}]/u.test(path);
}
