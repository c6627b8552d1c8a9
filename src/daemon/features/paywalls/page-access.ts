import { allowedOrigins } from '../../../shared/http/origins.ts';
import type { GateAnswer, Header } from './gate-answers.ts';

/** What other sites' pages can read of a response besides its body: how to pay, and what for. */
const exposed = [
  'www-authenticate',
  'payment-required',
  'payment-response',
  'payment-receipt',
  'x-payment-response',
  'retry-after',
  'x-request-id',
];

/** How long browsers may keep the answer to a preflight. */
const maxAgeSeconds = 600;

interface PageRequest {
  method: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Which pages may read responses, by the origins that a paywall allows. */
export interface PageAccess {
  /** Whether the page that sent the request may. */
  isAllowed: boolean;
  /**
   * The headers of each response. Those of the upstream are replaced by them, as two answers to the same question are none.
   * Undefined if the paywall allows no pages: then the upstream's headers are its own affair.
   */
  headers: Header[] | undefined;
}

/**
 * Pages never send cookies along: a payment is proven in a header that the page sets, so `*` gives nothing away.
 */
export function pageAccess(allowed: readonly string[], { headers }: PageRequest): PageAccess {
  if (allowed.length === 0) return { isAllowed: false, headers: undefined };
  const origin = headers.origin === undefined ? undefined : String(headers.origin);
  const isAny = allowed.includes('*');
  const isAllowed = origin !== undefined && (isAny || allowedOrigins(allowed).has(origin));
  const vary: Header[] = isAny ? [] : [['vary', 'origin']];
  if (!isAllowed) return { isAllowed, headers: vary };
  return {
    isAllowed,
    headers: [
      ['access-control-allow-origin', isAny ? '*' : origin],
      ['access-control-expose-headers', exposed.join(', ')],
      ...vary,
    ],
  };
}

/** The method of the request that a browser asks for permission to send; undefined for any other request. */
export function preflightFor({ method, headers }: PageRequest): string | undefined {
  const asked = headers['access-control-request-method'];
  return method === 'OPTIONS' && headers.origin !== undefined && asked !== undefined
    ? String(asked)
    : undefined;
}

/** Permits what an allowed page asks for; its request then costs what the paywall asks. */
export function preflightAnswer(
  { headers }: PageRequest,
  { method, access }: { method: string; access: Header[] },
): GateAnswer {
  const names = String(headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name));
  const isPrivate = headers['access-control-request-private-network'] === 'true';
  return {
    kind: 'answer',
    status: 204,
    headers: [
      ...access.filter(([name]) => name === 'access-control-allow-origin'),
      ['access-control-allow-methods', method],
      ...(names.length > 0 ? [['access-control-allow-headers', names.join(', ')] satisfies Header] : []),
      // Browsers ask this for pages of the public network that call a private address.
      ...(isPrivate ? [['access-control-allow-private-network', 'true'] satisfies Header] : []),
      ['access-control-max-age', String(maxAgeSeconds)],
      ['vary', 'origin, access-control-request-method, access-control-request-headers'],
    ],
    body: '',
  };
}
