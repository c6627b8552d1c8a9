import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NetworkFailure, type World } from '../../../src/daemon/base/world.ts';
import {
  caddyRoute,
  caddyRouteId,
  nginxLocations,
  type PaywallRecord,
  type ProxyTarget,
  Reconciler,
} from '../../../src/daemon/features/paywalls/index.ts';
import { applyToCaddy } from '../../../src/daemon/reverse-proxy/caddy-target.ts';
import { nginxTarget } from '../../../src/daemon/reverse-proxy/nginx-target.ts';
import { LocalChanges } from '../../../src/daemon/storage/local-changes.ts';
import { eventually } from '../../support/eventually.ts';
import { type FakeWorld, fakeWorld } from '../../support/fake-world.ts';

const minuteMs = 60_000;
const embedded = '127.0.0.1:4101';
const paywall: PaywallRecord = {
  id: 'pw_1',
  ownerId: 'usr_1',
  owner: 1,
  name: 'weather',
  status: 'active',
  revision: 1,
  host: null,
  pathPrefix: '/weather',
  methods: [],
  headers: null,
  mayBePrivate: false,
  upstream: { url: 'https://example.com', rewritePrefix: null, timeoutMs: 1000 },
  priceSats: 1,
  authScheme: 'l402',
  token: { timeoutSeconds: 60, maxUses: 1, capabilities: [], constraints: {} },
  freePaths: [],
  freeRequestsPerDay: 0,
  rateLimit: null,
  allowedOrigins: [],
  createdAt: 0,
  updatedAt: 0,
  deletedAt: null,
  challenges: 0,
  paid: 0,
  revenue: 0,
};
const config = { revision: 1, paywalls: [paywall] };
const expectedRoute = caddyRoute({ paywalls: [paywall], embedded });
const expectedFile = nginxLocations({ paywalls: [paywall], embedded });

let folder: string;
let included: string;
let broken: string;
let caddy: ReturnType<typeof fakeCaddy>;
let world: FakeWorld;
let stop: AbortController;
let running: Promise<void>;
let warned: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-repair-'));
  included = join(folder, 'paywalls.conf');
  broken = join(folder, 'broken');
  caddy = fakeCaddy();
  world = fakeWorld({ send: caddy.send });
  warned = [];
});

afterEach(async () => {
  stop.abort();
  await running;
  await rm(folder, { recursive: true, force: true });
});

/** A reconciler of Caddy and nginx, as a daemon starts it. */
async function start(): Promise<Reconciler> {
  const applyToNginx = nginxTarget({
    file: included,
    // In place of nginx: rejects any configuration while a file exists.
    command: [
      process.execPath,
      '-e',
      `if (fs.existsSync(${JSON.stringify(broken)})) { console.error('nginx: [emerg] broken'); process.exit(1); }`,
      '--',
    ],
  });
  const targets: ProxyTarget[] = [
    {
      name: 'caddy',
      apply: ({ paywalls }) =>
        applyToCaddy({ admin: 'http://caddy', server: 'srv0' }, caddyRoute({ paywalls, embedded }), {
          id: caddyRouteId,
          send: world.send,
        }),
    },
    { name: 'nginx', apply: ({ paywalls }) => applyToNginx(nginxLocations({ paywalls, embedded })) },
  ];
  const reconciler = new Reconciler({
    changes: new LocalChanges(),
    targets,
    world,
    store: { serving: async () => config },
    log: { warn: (details) => warned.push(JSON.stringify(details)) },
  });
  await reconciler.update();
  stop = new AbortController();
  running = reconciler.runBackground(stop.signal, (error) => {
    throw error;
  });
  return reconciler;
}

/** Waits for what the targets do outside of the clock: a process, a file. */
const soon = (what: string, look: () => boolean | Promise<boolean>) => eventually(what, look);
const fileIs = async (text: string) => (await readFile(included, 'utf8').catch(() => '')) === text;
const stateOf = (reconciler: Reconciler, name: string) =>
  reconciler.view().targets.find((target) => target.name === name)?.state;

test('proxies that were changed by hand are repaired at the start', async () => {
  await writeFile(included, '# changed by hand\n');
  caddy.route = { handle: 'something else' };
  const reconciler = await start();
  expect(caddy.route).toEqual(expectedRoute);
  expect(await fileIs(expectedFile)).toBe(true);
  expect(reconciler.view()).toMatchObject({ state: 'applied', lastError: null });
});

test('a proxy that is changed by hand is repaired within a minute', async () => {
  await start();
  caddy.route = undefined;
  await writeFile(included, '# changed by hand\n');
  await world.advance(minuteMs - 1);
  expect(caddy.route).toBeUndefined();
  expect(await fileIs('# changed by hand\n')).toBe(true);
  await world.advance(1);
  await soon('the repair of Caddy', () => caddy.route !== undefined);
  expect(caddy.route).toEqual(expectedRoute);
  await soon('the repair of nginx', () => fileIs(expectedFile));
  // Again, and also for a change that is not a removal.
  caddy.route = { ...expectedRoute, handle: [] };
  await soon('another repair', async () => {
    await world.advance(minuteMs);
    return JSON.stringify(caddy.route) === JSON.stringify(expectedRoute);
  });
});

test('a proxy that cannot be configured is reported, does not hold up others, and heals', async () => {
  caddy.isDown = true;
  await writeFile(broken, '');
  const reconciler = await start();
  expect(reconciler.view()).toMatchObject({
    state: 'failed',
    lastError: expect.stringMatching(/^caddy: the admin API at http:\/\/caddy cannot be reached/),
    targets: [
      { name: 'caddy', state: 'failed', appliedAt: null },
      { name: 'nginx', state: 'failed', lastError: expect.stringContaining('[emerg] broken') },
    ],
  });
  // What nginx rejected is taken back.
  await expect(access(included)).rejects.toThrow();
  expect(reconciler.table.has('pw_1')).toBe(true);

  await rm(broken);
  await soon('nginx', async () => {
    await world.advance(minuteMs);
    return stateOf(reconciler, 'nginx') === 'applied';
  });
  expect(reconciler.view()).toMatchObject({ state: 'failed' });
  caddy.isDown = false;
  await soon('Caddy', async () => {
    await world.advance(minuteMs);
    return reconciler.view().state === 'applied';
  });
  expect(reconciler.view()).toMatchObject({ lastError: null, appliedAt: expect.any(String) });
  expect(caddy.route).toEqual(expectedRoute);
  // A failure that lasts is logged once.
  expect(warned).toHaveLength(2);
});

/** The admin API of a Caddy with one server, whose first route may be ours. */
function fakeCaddy() {
  const state = {
    isDown: false,
    route: undefined as unknown,
    send: (async ({ method, url, body }) => {
      if (state.isDown) throw new NetworkFailure('refused', 'refused');
      const { pathname } = new URL(url);
      if (pathname === `/id/${caddyRouteId}`) {
        if (state.route === undefined) return answer(404, { error: 'unknown object ID' });
        if (method === 'GET') return answer(200, state.route);
        state.route = method === 'DELETE' ? undefined : JSON.parse(String(body));
        return answer(200, null);
      }
      if (method === 'GET') return answer(200, { listen: [':80'], routes: [{}] });
      if (method === 'PUT' && pathname.endsWith('/routes/0')) state.route = JSON.parse(String(body));
      return answer(200, null);
    }) as World['send'],
  };
  return state;
}

function answer(status: number, json: unknown): Awaited<ReturnType<World['send']>> {
  const bytes = Buffer.from(JSON.stringify(json));
  return {
    status,
    headers: {},
    body: {
      bytes: async () => bytes,
      cancel() {},
      async *[Symbol.asyncIterator]() {
        yield bytes;
      },
    },
  };
}
