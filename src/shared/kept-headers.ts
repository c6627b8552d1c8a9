import { removedText } from './redaction.ts';

/** Headers whose values are kept. Others may be secret or identify people, and are left out. */
const keptHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'anthropic-beta',
  'anthropic-version',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'host',
  'http-referer',
  'openai-beta',
  'openai-processing-ms',
  'openai-version',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server',
  'traceparent',
  'transfer-encoding',
  'user-agent',
  'x-envoy-upstream-service-time',
  'x-request-id',
  'x-should-retry',
  'x-title',
  'x-workspace-id',
]);
const keptPrefixes = ['x-ratelimit-', 'anthropic-ratelimit-', 'x-service-', 'x-stainless-'];
/** Headers with credentials: that they were sent is kept. */
const credentialHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'api-key',
  'proxy-authorization',
  'x-api-key',
  'x-goog-api-key',
]);

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The headers to keep: name, value, name, value. */
export function keptHeadersIn(headers: Headers): string[] {
  const kept: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    const lower = name.toLowerCase();
    if (isKept(lower)) kept.push(name, String(value));
    else if (credentialHeaders.has(lower)) kept.push(name, removedText);
  }
  return kept;
}

function isKept(name: string): boolean {
  return keptHeaders.has(name) || keptPrefixes.some((prefix) => name.startsWith(prefix));
}
