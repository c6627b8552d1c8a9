import { shownProxy } from '../../shared/proxies.ts';
import type { Provider } from '../composition/providers-from-config.ts';
import type { Config } from '../config/config.ts';

interface WelcomeFacts {
  url: string;
  config: Pick<Config, 'dataFolder' | 'host' | 'allowedHosts' | 'socketFile' | 'typed' | 'proxies'>;
  /** Whether this was the first start. */
  isFresh: boolean;
  /** Whether the default key is good: it may have been revoked. */
  hasDefaultKey: boolean;
  providers: readonly Pick<Provider, 'description'>[];
  /** Local servers; they are looked for while the rest is printed. */
  found: Promise<readonly Pick<Provider, 'description'>[]>;
}

const commandWidth = 38;

/** What `gateway serve` prints once it listens: where it is, whom it can ask, and what to type next. */
export async function welcome(facts: WelcomeFacts): Promise<string> {
  const { url, config, isFresh, hasDefaultKey, providers, found } = facts;
  const all = [...providers, ...(await found.catch(() => []))];
  const available = all.filter(({ description }) => description.available);
  const missing = all.filter(({ description }) => !description.available);
  const names = available.map(({ description }) => description.name).join(', ');
  const only = available.length > 1 ? '' : ' (built in: it deps no key and no network)';
  const { name, first } = config.typed;
  const command = (words: string, purpose: string) =>
    `  ${`${name} ${words}`.padEnd(commandWidth)} ${purpose}`;
  const lines = [
    `Gateway is ready at ${url}`,
    '',
    `  data       ${config.dataFolder}${isFresh ? ' (new: owner, workspace and a default key were made)' : ''}`,
    `  providers  ${names}${only}`,
    ...missing.map(({ description }) => `             ${description.name}: ${description.reason}`),
    ...(config.socketFile === undefined ? [] : [`  socket     ${config.socketFile.path}`]),
    ...networkLines(config),
    ...proxyLines(config),
    `  reference  ${url}/docs`,
    '',
    'Try it in another terminal:',
    '',
    ...(first === undefined ? [] : [`  ${first}`]),
    `  curl ${url}/v1/responses -H "authorization: Bearer $(${name} ${hasDefaultKey ? 'keys default' : 'keys issue --quiet'})" \\`,
    `    -H 'content-type: application/json' -d '{"model":"sim/assistant","input":"Hello!"}'`,
    '',
    'Next:',
    '',
    command('respond "Hello!"', 'ask a model'),
    command('tail', 'watch the requests as they come'),
    command('keys issue --name my-app', 'make a key for an app'),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** Listening everywhere is not enough to be called from there: a name that nobody allowed is refused. */
function networkLines({ host, allowedHosts }: WelcomeFacts['config']): string[] {
  if (host !== '0.0.0.0' && host !== '::') return [];
  if (allowedHosts.length === 0) {
    return ['  network    others are refused until listen.allowed_hosts has the name or address they call'];
  }
  return [`  network    others may call ${allowedHosts.join(', ')}; their keys travel unencrypted`];
}

/** Whoever has forgotten the variable is told where calls go. */
function proxyLines({ proxies }: WelcomeFacts['config']): string[] {
  const addresses = new Set([proxies?.https, proxies?.http].filter((address) => address));
  return [...addresses].map((address) => `  proxy      ${shownProxy(address ?? '')}`);
}
