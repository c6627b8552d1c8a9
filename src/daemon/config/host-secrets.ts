import { hostSecrets } from '../../shared/masking/known-secrets.ts';
import { addConfiguredHeader } from '../../shared/masking/mask-headers.ts';
import { maskUrl } from '../../shared/masking/mask-text.ts';
import type { Config } from './config.ts';
import type { HostKeys } from './settings/calls.ts';

/** Has the secrets of a configuration masked in all that this thread keeps, shows, exports or logs from now on. */
export function noteHostSecrets({
  providers,
  upstreams,
  otlp,
  live,
}: Pick<Config, 'providers' | 'upstreams' | 'otlp'> & { live: Pick<Config['live'], 'guardrails'> }): void {
  const addUrl = (url: string | undefined) => url && maskUrl(url, (secret) => hostSecrets.addTelling(secret));
  const addHeaders = (headers: Readonly<Record<string, string>>) => {
    for (const [name, value] of Object.entries(headers)) addConfiguredHeader(name, value);
  };
  const addKeys = ({ key, keys }: HostKeys) => {
    hostSecrets.addTelling(key);
    for (const other of keys ?? []) hostSecrets.addTelling(other.key);
  };
  for (const { headers, baseUrl, ...keys } of providers) {
    addKeys(keys);
    addHeaders(headers.values);
    addUrl(baseUrl);
  }
  for (const { headers, base_url: url, ...keys } of upstreams) {
    addKeys(keys);
    addHeaders(headers.values);
    addUrl(url);
  }
  for (const { headers, url } of live.guardrails.hooks) {
    addHeaders(headers);
    addUrl(url);
  }
  if (otlp) addHeaders(otlp.headers);
  addUrl(otlp?.url);
}
