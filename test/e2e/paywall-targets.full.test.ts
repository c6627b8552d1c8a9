import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { type PaywalledServer, startPaywalledServer } from '../support/paywalled-server.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { askDaemon } from '../support/users.ts';
import { hasCaddy, hasNginx } from '../support/web-proxies.ts';

if (!hasCaddy) process.stdout.write('Caddy is not installed: its tests are skipped.\n');
if (!hasNginx) process.stdout.write('nginx is not installed: its tests are skipped.\n');

const patience = { timeout: 120_000, interval: 20 };

let folder: string;
let server: PaywalledServer;
let daemon: RunningDaemon;

const api = (method: string, path: string, json?: object) =>
  askDaemon(daemon, method, `/api/l402/paywalls${path}`, { as: daemon.login, ...(json && { json }) });
const start = async (paywalls: object) => {
  const vault = 'vault: {keychain: false, insecure_plain_file: true}\n';
  daemon = await startDaemon({
    config: `${vault}paywalls: ${JSON.stringify(paywalls)}\n`,
  });
  await askDaemon(daemon, 'POST', '/api/agents/me/wallet', { as: daemon.login, json: {} });
};
const create = async (name: string) => {
  const json = { name, priceSats: 5, match: { pathPrefix: `/${name}` }, upstream: { url: server.url } };
  const { status, body } = await api('POST', '', json);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.data;
};
const answers = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, l402: response.headers.get('www-authenticate')?.slice(0, 15) };
};
const asked = { status: 402, l402: 'L402 macaroon="' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-proxies-'));
  server = await startPaywalledServer();
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(!hasCaddy)('Caddy', () => {
  let caddy: ChildProcess | undefined;
  let admin: string;
  let site: string;

  const runCaddy = async () => {
    const config = {
      admin: { listen: new URL(admin).host },
      apps: {
        http: {
          servers: {
            srv0: {
              listen: [new URL(site).host],
              automatic_https: { disable: true },
              routes: [{ handle: [{ handler: 'static_response', status_code: 204 }] }],
            },
          },
        },
      },
    };
    await writeFile(join(folder, 'caddy.json'), JSON.stringify(config));
    caddy = spawn('caddy', ['run', '--config', join(folder, 'caddy.json')], {
      stdio: 'ignore',
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    });
    await vi.waitFor(async () => expect((await fetch(`${site}/`)).status).toBe(204), patience);
  };
  const stopCaddy = async () => {
    const running = caddy;
    caddy = undefined;
    if (!running || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill();
    await ended;
  };

  beforeAll(async () => {
    admin = `http://127.0.0.1:${await freePort()}`;
    site = `http://127.0.0.1:${await freePort()}`;
    await runCaddy();
    await start({ caddy: { admin } });
  });

  afterAll(async () => {
    await stopCaddy();
    await daemon.stop();
  });

  test('serves paywalls while they exist, and its own routes as before', async () => {
    const paywall = await create('weather');
    expect(paywall.proxy).toMatchObject({ state: 'applied', lastError: null });
    expect(paywall.proxy.targets).toMatchObject([{ name: 'embedded' }, { name: 'caddy', state: 'applied' }]);
    expect(await answers(`${site}/weather/today`)).toEqual(asked);
    expect((await fetch(`${site}/other`)).status).toBe(204);
    const { body } = await api('DELETE', '/weather');
    expect(body.data.proxy.state).toBe('applied');
    expect((await fetch(`${site}/weather/today`)).status).toBe(204);
  });

  test('that was changed by others is repaired, and one that is down is reported and healed', async () => {
    await create('lasting');
    await fetch(`${admin}/id/gateway-paywalls`, { method: 'DELETE' });
    expect((await fetch(`${site}/lasting`)).status).toBe(204);
    await api('PATCH', '/lasting', { priceSats: 6 });
    expect(await answers(`${site}/lasting`)).toEqual(asked);

    await stopCaddy();
    const { status, body } = await api('PATCH', '/lasting', { priceSats: 7 });
    expect(status).toBe(200);
    expect(body.data.proxy).toMatchObject({
      state: 'failed',
      lastError: expect.stringContaining('caddy: the admin API'),
    });
    await runCaddy();
    await api('PATCH', '/lasting', { priceSats: 8 });
    expect((await api('GET', '/lasting')).body.data.proxy).toMatchObject({
      state: 'applied',
      lastError: null,
    });
    expect(await answers(`${site}/lasting`)).toEqual(asked);
  });

  test('accepts the exported Caddyfile', async () => {
    await create('exported');
    const { text } = (await api('GET', '/export?format=caddy')).body.data;
    await writeFile(join(folder, 'Caddyfile'), text);
    const args = ['adapt', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
    const adapted = execFileSync('caddy', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
    expect(adapted).toContain('/exported/*');
    expect(adapted).toContain('"handler":"reverse_proxy"');
  });
});

describe.skipIf(!hasNginx)('nginx', () => {
  let nginx: ChildProcess;
  let site: string;
  let included: string;
  let command: string[];

  beforeAll(async () => {
    const port = await freePort();
    site = `http://127.0.0.1:${port}`;
    included = join(folder, 'paywalls.conf');
    await writeFile(included, '');
    const file = join(folder, 'nginx.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((kind) => `${kind}_temp_path ${folder}/${kind};`)
      .join(' ');
    await writeFile(
      file,
      `pid ${folder}/nginx.pid; error_log ${folder}/nginx.log; worker_processes 1; daemon off;
       events {}
       http { access_log off; ${temporary}
         server { listen 127.0.0.1:${port}; include ${included}; location = /own { return 204; } } }`,
    );
    command = ['nginx', '-c', file, '-e', join(folder, 'nginx.log')];
    nginx = spawn(command[0] as string, command.slice(1), { stdio: 'ignore' });
    await vi.waitFor(async () => expect((await fetch(`${site}/own`)).status).toBe(204), patience);
    await start({ nginx: { file: included, command } });
  });

  afterAll(async () => {
    const ended = new Promise((resolve) => nginx.once('exit', resolve));
    nginx.kill();
    await ended;
    await daemon.stop();
  });

  test('serves paywalls while they exist, with its own locations', async () => {
    const { proxy } = await create('rain');
    expect(proxy).toMatchObject({ state: 'applied', lastError: null });
    expect(await answers(`${site}/rain/now`)).toEqual(asked);
    expect((await fetch(`${site}/own`)).status).toBe(204);
    expect((await api('DELETE', '/rain')).body.data.proxy.state).toBe('applied');
    expect((await fetch(`${site}/rain/now`)).status).toBe(404);
  });

  test('keeps its configuration if it rejects the new one, which is reported and healed', async () => {
    await create('snow');
    const before = await readFile(included, 'utf8');
    const { body } = await api('POST', '', {
      name: 'clash',
      priceSats: 5,
      match: { pathPrefix: '/own' },
      upstream: { url: server.url },
    });
    expect(body.data.proxy).toMatchObject({
      state: 'failed',
      lastError: expect.stringContaining('duplicate location "/own"'),
    });
    expect(await readFile(included, 'utf8')).toBe(before);
    await vi.waitFor(async () => expect(await answers(`${site}/snow`)).toEqual(asked), patience);
    expect((await api('DELETE', '/clash')).body.data.proxy).toMatchObject({
      state: 'applied',
      lastError: null,
    });
    await writeFile(included, '# changed by hand\n');
    await api('PATCH', '/snow', { priceSats: 6 });
    expect(await readFile(included, 'utf8')).toBe(before);
  });

  test('passes streams on as they come', async () => {
    await create('hail');
    await api('PATCH', '/hail', { freePaths: ['/hail/events'] });
    server.on('/hail/events', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
    });
    const leaving = new AbortController();
    // During a reload, workers with the earlier configuration still accept connections.
    const response = await vi.waitFor(async () => {
      const answer = await fetch(`${site}/hail/events`, { signal: leaving.signal });
      expect(answer.status).toBe(200);
      return answer;
    }, patience);
    const first = await response.body?.getReader().read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe('data: one\n\n');
    leaving.abort();
  });
});

test('an export for Aperture has a service for each paywall', async () => {
  await start({});
  await create('sun');
  const { text } = (await api('GET', '/export?format=aperture')).body.data;
  expect(text).toContain('  - name: "sun"\n    hostregexp: ".*"\n    pathregexp: "^/sun(/.*)?$"');
  expect(text).toContain(`    address: "127.0.0.1:${server.port}"`);
  await daemon.stop();
});
