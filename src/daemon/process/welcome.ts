import { shownProxy } from '../../shared/proxies.ts';
import type { Config, ReloadableSettings } from '../config/config.ts';
import type { ProviderDescription } from '../features/catalog/index.ts';

interface WelcomeFacts {
  url: string;
  config: Pick<
    Config & ReloadableSettings,
    'dataFolder' | 'host' | 'allowedHosts' | 'publicUrls' | 'socketFile' | 'typed' | 'proxies'
  >;
  /** Whether this is the first start. */
  isFresh: boolean;
  providers: readonly { description: ProviderDescription }[];
  /** Detected local servers. */
  found: Promise<readonly { description: ProviderDescription }[]>;
}

const commandWidth = 38;

/** What `gateway serve` prints once it listens: its address, its providers, and at the first start commands to try. */
export async function welcome(facts: WelcomeFacts): Promise<string> {
  const { url, config, isFresh, providers, found } = facts;
  const all = [...providers, ...(await found.catch(() => []))];
  const available = all.filter(({ description }) => description.available);
  const missing = all.filter(({ description }) => !description.available);
  const names = available.map(({ description }) => description.name).join(', ');
  const only = available.length > 1 ? '' : ' (built in; needs no key and no network)';
  const { name } = config.typed;
  const lines = [
    `Gateway is ready at ${url}`,
    `To see it in a browser: ${name} open`,
    '',
    `  data       ${config.dataFolder}${isFresh ? ' (new: created an owner, a workspace and a default key)' : ''}`,
    `  providers  ${names}${only}`,
    ...missing.map(({ description }) => `             ${description.name}: ${description.reason}`),
    ...(config.socketFile === undefined ? [] : [`  socket     ${config.socketFile.path}`]),
    ...networkLines(config),
    ...proxyLines(config),
    `  reference  ${url}/docs`,
    '',
    ...(isFresh ? firstSteps(facts) : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** Commands to try. */
function firstSteps({ url, config: { typed } }: WelcomeFacts): string[] {
  const { name, first } = typed;
  const command = (words: string, purpose: string) =>
    `  ${`${name} ${words}`.padEnd(commandWidth)} ${purpose}`;
  return [
    'Try it in another terminal:',
    '',
    ...(first === undefined ? [] : [`  ${first}`]),
    `  curl ${url}/v1/responses -H "authorization: Bearer $(${name} keys default)" \\`,
    `    -H 'content-type: application/json' -d '{"model":"sim/assistant","input":"Hello!"}'`,
    '',
    'Next:',
    '',
    command('respond "Hello!"', 'send a prompt to a model'),
    command('tail', 'watch requests as they arrive'),
    command('keys issue --name my-app', 'create a key for an app'),
    '',
  ];
}

/** Listening on all addresses is not enough: requests with a Host that is not allowed are refused. */
function networkLines({ host, allowedHosts, publicUrls }: WelcomeFacts['config']): string[] {
  if (host !== '0.0.0.0' && host !== '::') return [];
  const names = [...allowedHosts, ...(publicUrls.api === undefined ? [] : [new URL(publicUrls.api).host])];
  if (names.length === 0) {
    return ['  network    other machines are refused until listen.allowed_hosts includes the name they call'];
  }
  return [`  network    other machines can call ${names.join(', ')}; traffic is not encrypted`];
}

function proxyLines({ proxies }: WelcomeFacts['config']): string[] {
  const addresses = new Set([proxies?.https, proxies?.http].filter((address) => address));
  return [...addresses].map((address) => `  proxy      ${shownProxy(address ?? '')}`);
}
