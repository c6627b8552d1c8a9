import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Client } from '../http/client-address.ts';

/** Headers that concern one connection. Source: RFC 9110, section 7.6.1. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of clients that are for the paywall, or that only the proxy may set. */
const notForUpstream =
  /^(payment-.*|x-payment|x-paywall-.*|x-forwarded-(for|host|proto)|expect|host|content-length)$/;
const paidBy = /^\s*(L402|LSAT|Payment)\s/i;

/** Names and values in turn, as Node sends them: repeated headers stay apart. */
export type RawHeaders = string[];

function endingHere(headers: IncomingHttpHeaders): Set<string> {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  return new Set([...hopByHop, ...named]);
}

/** The headers of a request that are sent upstream. */
export function upstreamHeaders(
  request: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  { added, host, via, client, bodyBytes, isUpgrade }: UpstreamHeaderOptions,
): RawHeaders {
  const dropped = endingHere(request.headers);
  const replaced = new Set(Object.keys(added).map((name) => name.toLowerCase()));
  const kept: RawHeaders = [];
  for (const [name, value] of pairs(request.rawHeaders)) {
    const lower = name.toLowerCase();
    if (dropped.has(lower) || replaced.has(lower) || notForUpstream.test(lower) || lower === 'via') continue;
    if (lower === 'authorization' && paidBy.test(value)) continue;
    kept.push(name, value);
  }
  const forwarded = (name: string) =>
    client.isProxied ? headerText(request.headers[`x-forwarded-${name}`]) : '';
  const before = headerText(request.headers.via);
  return [
    'host',
    host,
    ...kept,
    ...Object.entries(added).flat(),
    ...['x-forwarded-for', forwarded('for') || client.address],
    ...['x-forwarded-host', forwarded('host') || headerText(request.headers.host)],
    ...['x-forwarded-proto', forwarded('proto') || 'http'],
    ...['via', before === '' ? via : `${before}, ${via}`],
    ...framing(bodyBytes),
    ...(isUpgrade ? ['connection', 'Upgrade', 'upgrade', 'websocket'] : []),
  ];
}

export interface UpstreamHeaderOptions {
  /** Headers that the paywall adds, in place of the client's. */
  added: Readonly<Record<string, string>>;
  host: string;
  /** This proxy, by which it recognizes a loop. */
  via: string;
  client: Client;
  /** The length of the body that is sent; `streamed` if it is not known, null for none. */
  bodyBytes: number | 'streamed' | null;
  isUpgrade: boolean;
}

/**
 * The header that marks the end of the body, never taken from the client: without one, the body would be read as another
 * request, which no one paid for.
 */
function framing(bodyBytes: UpstreamHeaderOptions['bodyBytes']): RawHeaders {
  if (bodyBytes === null) return [];
  return bodyBytes === 'streamed' ? ['transfer-encoding', 'chunked'] : ['content-length', String(bodyBytes)];
}

/** The headers of a response that are sent to the client. */
export function clientHeaders(response: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): RawHeaders {
  const dropped = endingHere(response.headers);
  return pairs(response.rawHeaders)
    .filter(([name]) => !dropped.has(name.toLowerCase()))
    .flat();
}

/** With the headers that say which pages may read the response, in place of the upstream's; `Vary` is added to. */
export function withPageHeaders(
  headers: RawHeaders,
  pageHeaders: readonly (readonly [name: string, value: string])[] | undefined,
): RawHeaders {
  if (pageHeaders === undefined) return headers;
  const all = pairs(headers);
  const others = all.filter(([name]) => !/^access-control-/i.test(name));
  const shown = all.filter(([name]) => /^access-control-expose-headers$/i.test(name));
  const own = pageHeaders.map(([name, value]) => {
    const isExposing = name === 'access-control-expose-headers';
    return [name, isExposing ? [value, ...shown.map(([, names]) => names)].join(', ') : value];
  });
  return [...others.flat(), ...own.flat()];
}

/** With the receipt of a payment if the response is successful, which is then for this client alone. */
export function withReceipt(
  headers: RawHeaders,
  { status = 502, receipt }: { status: number | undefined; receipt: string | undefined },
): RawHeaders {
  if (receipt === undefined || status < 200 || status >= 300) return headers;
  const all = pairs(headers);
  const isPrivate = all.some(
    ([name, value]) => name.toLowerCase() === 'cache-control' && /\b(private|no-store)\b/i.test(value),
  );
  const replaced = new Set(['payment-receipt', ...(isPrivate ? [] : ['cache-control'])]);
  const kept = all.filter(([name]) => !replaced.has(name.toLowerCase()));
  return [
    ...kept.flat(),
    ...['payment-receipt', receipt],
    ...(isPrivate ? [] : ['cache-control', 'private']),
  ];
}

function pairs(raw: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) found.push([raw[at] as string, raw[at + 1] as string]);
  return found;
}

export function headerText(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(', ') : (value ?? '');
}
