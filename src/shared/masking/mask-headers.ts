import { hostSecrets, KnownSecrets } from './known-secrets.ts';
import { addCredential, maskUrl, removedText } from './mask-text.ts';

/** Headers whose values are kept. Others may be secret or identify people, and are left out. */
const harmless: ReadonlySet<string> = new Set([
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
const keptPrefix = /^(?:x-ratelimit|anthropic-ratelimit|x-service|x-stainless)-/;
/** Headers with credentials: that they were sent is kept. */
const credentialHeaders: ReadonlySet<string> = new Set([
  'authorization',
  'api-key',
  'proxy-authorization',
  'x-api-key',
  'x-gateway-key',
  'x-goog-api-key',
]);
const secretName =
  /auth|cookie|token(?!s)|secret|session|signature|passw|credential|api-?key|goog-api|organization|project/i;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The headers to keep: name, value, name, value. */
export function keptHeadersIn(headers: Headers): string[] {
  const kept: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    const lower = name.toLowerCase();
    if (harmless.has(lower) || keptPrefix.test(lower)) kept.push(name, String(value));
    else if (credentialHeaders.has(lower)) kept.push(name, removedText);
  }
  return kept;
}

/** Whether a header carries a credential, by its name. */
export function isSecretHeader(name: string): boolean {
  return secretName.test(name);
}

/** Headers with secret values removed. */
export function maskHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSecretHeader(name) ? removedText : value]),
  );
}

/** The secrets of a request that the gateway sends, so that copies of them can be masked. */
export function secretsOfRequest({ url, headers }: { url: string; headers: Headers }): KnownSecrets {
  const known = new KnownSecrets();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !isSecretHeader(name)) continue;
    known.add(String(value));
    for (const part of String(value).split(/\s+/).slice(1)) known.add(part);
  }
  maskUrl(url, (secret) => known.add(secret));
  return known;
}

/** A header that the configuration adds to requests is secret, whatever its name, unless that is known to be harmless. */
export function isHarmlessHeader(name: string): boolean {
  return harmless.has(name.toLowerCase());
}

/** Has a configured header masked wherever it is repeated. */
export function addConfiguredHeader(name: string, value: string): void {
  if (isHarmlessHeader(name)) return;
  if (isSecretHeader(name)) addCredential(hostSecrets, value);
  else hostSecrets.addUnusual(value);
}
