import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exitCodes } from '../../../src/shared/errors.ts';
import { type PaywalledServer, startPaywalledServer } from '../../support/paywalled-server.ts';
import { type RunOptions, runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

let daemon: RunningDaemon;
let server: PaywalledServer;

const gateway = (args: string[], options: RunOptions = {}) =>
  runCli(args, { ...options, env: { GATEWAY_HOME: daemon.home } });
const paywalls = (...args: string[]) => gateway(['paywalls', ...args]);
/** The JSON that a command prints. */
const json = async (...args: string[]) => {
  const { stdout, stderr, code } = await paywalls(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};
const create = (name: string, ...args: string[]) =>
  json('create', '--upstream', server.url, '--price', '5', '--name', name, '--path', `/${name}`, ...args);

beforeAll(async () => {
  server = await startPaywalledServer();
  daemon = await startDaemon({
    config: 'vault: {keychain: false, insecure_plain_file: true}\n',
  });
});

afterAll(async () => {
  await daemon.stop();
  await server.close();
});

test('the first paywall needs a wallet, which the error says how to create', async () => {
  const { code, stderr } = await paywalls('create', '--upstream', server.url, '--price', '5');
  expect(code).toBe(exitCodes.failed);
  expect(stderr).toContain('gateway wallet create');
  expect((await gateway(['wallet', 'create'])).code).toBe(0);
  expect(await json('list')).toEqual([]);
  expect((await gateway(['paywalls', 'list'], { tty: true })).stderr).toContain('gateway paywalls create');
});

test('create sets what its flags say', async () => {
  const paywall = await create(
    'all',
    ...['--rewrite', '/v2', '--match-host', 'api.example', '--method', 'GET', 'POST'],
    ...['--auth-scheme', 'l402', '--uses', 'unlimited', '--expires', '60'],
    ...['--free-path', '/all/health', '/all/docs/*', '--free-per-day', '3', '--rate', '7'],
  );
  expect(paywall).toMatchObject({
    name: 'all',
    priceSats: 5,
    authScheme: 'l402',
    freeRequestsPerDay: 3,
    match: { host: 'api.example', pathPrefix: '/all', methods: ['GET', 'POST'] },
    upstream: { url: server.url, rewritePrefix: '/v2' },
    token: { maxUses: null, timeoutSeconds: 60 },
    freePaths: ['/all/health', '/all/docs/*'],
    rateLimit: { requests: 7, perSeconds: 1, burst: 7 },
  });
  expect(await create('usual')).toMatchObject({ authScheme: 'l402+mpp', token: { maxUses: 1 } });
});

test('create prints the address that asks for payments', async () => {
  const args = ['--upstream', server.url, '--price', '5', '--path', '/printed'];
  const { stdout, code } = await paywalls('create', ...args);
  expect(code).toBe(0);
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/printed/.exec(stdout) ?? [];
  expect((await fetch(url)).status).toBe(402);
});

test.each([
  [['--price', '0'], 'price'],
  [['--price', '1.5'], 'price'],
  [['--price', '-1'], 'price'],
  [['--price', '5', '--uses', 'some'], 'uses'],
  [['--price', '5', '--auth-scheme', 'basic'], 'auth-scheme'],
  [['--price', '5', '--method', 'FETCH'], 'method'],
])('create refuses %j before a request is sent', async (flags, named) => {
  const { code, stderr } = await paywalls('create', '--upstream', 'http://127.0.0.1:9', ...flags);
  expect(code).toBe(exitCodes.usage);
  expect(stderr).toContain(`--${named}`);
});

test('create passes on which field the daemon rejects', async () => {
  await create('taken');
  const base = ['--upstream', server.url, '--price', '5'];
  const taken = await paywalls('create', ...base, '--name', 'taken', '--path', '/other');
  expect([taken.code, taken.stderr]).toEqual([exitCodes.failed, expect.stringContaining('name')]);
  const route = await paywalls('create', ...base, '--path', '/taken');
  expect([route.code, route.stderr]).toEqual([exitCodes.failed, expect.stringContaining('match')]);
  const own = await paywalls('create', '--upstream', daemon.url, '--price', '5', '--path', '/own');
  expect([own.code, own.stderr]).toEqual([exitCodes.failed, expect.stringContaining('upstream.url')]);
  const uses = await paywalls('create', ...base, '--path', '/uses', '--auth-scheme', 'mpp', '--uses', '2');
  expect([uses.code, uses.stderr]).toEqual([exitCodes.failed, expect.stringContaining('token.maxUses')]);
});

test('list and show print what was asked for and paid', async () => {
  const { url, id } = await create('counted');
  await fetch(url);
  const listed = (await json('list')).find(({ name }: { name: string }) => name === 'counted');
  expect(listed).toMatchObject({ id, status: 'active', stats: { challenges: 1, paid: 0, revenueMsats: 0 } });
  const { stdout } = await gateway(['paywalls', 'list'], { tty: true, columns: 200 });
  expect(stripVTControlCharacters(stdout)).toMatch(/counted +active +5 sats +0 of 1/);
  for (const reference of ['counted', id]) expect(await json('show', reference)).toEqual(listed);
  const record = await gateway(['paywalls', 'show', 'counted'], { tty: true });
  const shown = stripVTControlCharacters(record.stdout);
  expect(shown).toMatch(/paid by +l402\+mpp/);
  expect(shown).toMatch(/buys +one request within 1 h/);
  expect(await json('list', '--status', 'paused')).toEqual([]);
  expect(await json('list', '--limit', '1')).toHaveLength(1);
});

test('pause and resume stop and continue a paywall', async () => {
  const { url } = await create('pausing');
  const paused = await paywalls('pause', 'pausing');
  expect(paused).toMatchObject({ code: 0, stdout: '' });
  expect(paused.stderr).toContain('Paused pausing.');
  expect((await fetch(url)).status).toBe(503);
  expect((await paywalls('resume', 'pausing')).stderr).toContain('Resumed pausing.');
  expect((await fetch(url)).status).toBe(402);
});

test('delete asks before it revokes tokens, and takes the route away', async () => {
  const { url } = await create('ending');
  const unasked = await gateway(['paywalls', 'delete', 'ending'], { stdin: '' });
  expect(unasked.code).toBe(exitCodes.usage);
  expect(unasked.stderr).toContain('--yes');
  expect((await fetch(url)).status).toBe(402);
  const deleted = await paywalls('delete', 'ending', '--yes');
  expect([deleted.code, deleted.stderr]).toEqual([0, expect.stringContaining('Deleted ending.')]);
  expect((await fetch(url)).status).toBe(404);
  expect((await paywalls('delete', 'ending', '--yes')).code).toBe(exitCodes.failed);
  const gone = await paywalls('show', 'ending');
  expect([gone.code, gone.stderr]).toEqual([
    exitCodes.failed,
    expect.stringContaining('gateway paywalls list'),
  ]);
});

test('export prints the configuration of another proxy, and nothing else', async () => {
  const { url } = await create('exported');
  const { host } = new URL(url);
  const caddy = await paywalls('export', '--format', 'caddy');
  expect(caddy).toMatchObject({ code: 0, stderr: '' });
  expect(caddy.stdout).toContain('@exported path /exported /exported/*');
  expect(caddy.stdout).toContain(`reverse_proxy ${host}`);
  const nginx = await paywalls('export', '--format', 'nginx');
  expect(nginx.stdout).toContain(`location ^~ /exported/ {\n    proxy_pass http://${host};`);
  const aperture = await paywalls('export', '--format', 'aperture');
  expect(aperture.stdout).toContain('- name: "exported"');
  expect(aperture.stdout).toContain('authscheme: "l402+mpp"');
  expect((await paywalls('export')).code).toBe(exitCodes.usage);
  expect((await paywalls('export', '--format', 'apache')).code).toBe(exitCodes.usage);
});
