import type { Config } from './config/config.ts';
import type { Provider } from './providers.ts';

interface WelcomeFacts {
  url: string;
  config: Config;
  /** Whether this was the first start. */
  isFresh: boolean;
  providers: readonly Provider[];
  /** Local servers; they are looked for while the rest is printed. */
  found: Promise<readonly Provider[]>;
}

/** What `gateway serve` prints once it listens: where it is, whom it can ask, and what to type next. */
export async function welcome({ url, config, isFresh, providers, found }: WelcomeFacts): Promise<string> {
  const all = [...providers, ...(await found.catch(() => []))];
  const available = all.filter(({ description }) => description.available);
  const missing = all.filter(({ description }) => !description.available);
  const names = available.map(({ description }) => description.name).join(', ');
  const model = available.length > 1 ? '' : ' (only the simulator: it needs no key and no network)';
  const lines = [
    `Gateway is ready at ${url}`,
    '',
    `  data       ${config.dataFolder}${isFresh ? ' (new: owner, workspace and a default key were made)' : ''}`,
    `  providers  ${names}${model}`,
    ...missing.map(({ description }) => `             ${description.name}: ${description.reason}`),
    '',
    'Try it:',
    '',
    `  curl ${url}/v1/responses -H "authorization: Bearer $(npx gateway keys default)" \\`,
    `    -H 'content-type: application/json' -d '{"model":"sim/assistant","input":"Hello!"}'`,
    '',
    'Next:',
    '',
    '  npx gateway respond "Hello!"     ask a model',
    '  npx gateway tail                 watch the requests as they come',
    '  npx gateway keys issue --name me make a key for an app',
    '',
  ];
  return `${lines.join('\n')}\n`;
}
