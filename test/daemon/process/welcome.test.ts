import { expect, test } from 'vitest';
import type { Provider } from '../../../src/daemon/features/providers/index.ts';
import { welcome } from '../../../src/daemon/process/welcome.ts';

type Described = Pick<Provider, 'description'>;

function provider(name: string, reason: string | null): Described {
  const available = reason === null;
  return { description: { name, kind: 'compatible', available, reason, models: [], wires: ['chat'] } };
}

const facts = {
  url: 'http://127.0.0.1:4100',
  config: {
    dataFolder: '/d',
    host: '127.0.0.1',
    allowedHosts: [] as string[],
    publicUrls: { api: undefined, paywalls: undefined } as { api: string | undefined; paywalls: undefined },
    socketFile: undefined,
    proxies: undefined,
    typed: { name: 'npx gateway', first: undefined },
  },
  isFresh: true,
  providers: [provider('openai', 'no key: set OPENAI_API_KEY'), provider('simulator', null)],
  found: Promise.resolve([] as Described[]),
};

test('the banner shows commands as they must be typed, and an export only if needed', async () => {
  const text = await welcome(facts);
  expect(text).toContain('$(npx gateway keys default)');
  expect(text).toMatch(/^ {2}npx gateway tail +watch/m);
  expect(text).not.toContain('export');
  const typed = { name: 'gateway', first: 'export GATEWAY_HOME=/d' };
  const elsewhere = await welcome({ ...facts, config: { ...facts.config, typed } });
  expect(elsewhere).toMatch(/\n {2}export GATEWAY_HOME=\/d\n {2}curl .*\$\(gateway keys default\)/);
  expect(elsewhere).not.toContain('npx');
});

test('commands to try are those of a first start', async () => {
  const text = await welcome({ ...facts, isFresh: false });
  expect(text).toContain('http://127.0.0.1:4100');
  expect(text).not.toMatch(/Try it|Next:|curl|keys/);
});

test('the banner lists available providers and what the others need', async () => {
  const text = await welcome({ ...facts, found: Promise.resolve([provider('ollama', null)]) });
  expect(text).toMatch(/providers +simulator, ollama\n +openai: no key: set OPENAI_API_KEY\n/);
});

test('the banner shows the additional socket', async () => {
  expect(await welcome(facts)).not.toContain('socket');
  const socketFile = { path: '/run/gateway.sock', access: 'owner' as const };
  const text = await welcome({ ...facts, config: { ...facts.config, socketFile } });
  expect(text).toContain('\n  socket     /run/gateway.sock\n');
});

test('the banner shows the proxies in use, without passwords', async () => {
  expect(await welcome(facts)).not.toContain('proxy');
  const one = 'http://me:secret@proxy.test:3128';
  const proxies = { http: one, https: one, except: '' };
  const text = await welcome({ ...facts, config: { ...facts.config, proxies } });
  expect(text.match(/^ {2}proxy .*$/gm)).toEqual(['  proxy      http://proxy.test:3128']);
});

test('the banner warns what other machines can call', async () => {
  expect(await welcome(facts)).not.toMatch(/^ {2}network/m);
  const everywhere = { ...facts.config, host: '0.0.0.0' };
  expect(await welcome({ ...facts, config: everywhere })).toMatch(
    /network +other machines are refused until/,
  );
  const named = { ...everywhere, allowedHosts: ['gateway.lan'] };
  expect(await welcome({ ...facts, config: named })).toMatch(
    /network +other machines can call gateway\.lan; .*not encrypted/,
  );
  const published = { ...everywhere, publicUrls: { api: 'https://gateway.example', paywalls: undefined } };
  expect(await welcome({ ...facts, config: published })).toContain(
    'other machines can call gateway.example;',
  );
});
