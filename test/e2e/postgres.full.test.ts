import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { restore, serve } from '../../src/daemon/main.ts';
import { drips, words } from '../support/chaos-behaviours.ts';
import { chaosConfig, nanoUsdPerToken } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { callModel, completeCall } from '../support/model-client.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { runWhenAvailable } from '../support/run-cli.ts';
import { whenAvailable } from '../support/when-available.ts';

const missing = missingPostgres();
if (missing) process.stderr.write(`PostgreSQL is not tested: ${missing}\n`);

const usage = { input: 100, output: 50 };
const price = usage.input * nanoUsdPerToken.input + usage.output * nanoUsdPerToken.output;
/** Found again wherever it must not be. The server trusts everybody and ignores it. */
const password = 'DATABASECANARY0123456789';

let server: PostgresServer;
let chaos: ChaosUpstream;
let daemon: ChildDaemon;
let url: string;

describe.skipIf(missing !== undefined)('a daemon on PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres({ hasTcp: true });
    chaos = await startChaosUpstream(drips(2, { text: words, usage }));
    url = await server.newDatabase();
    daemon = await startChildDaemon({ config: chaosConfig(chaos.baseUrl), env: environmentOf(url) });
  });

  afterAll(async () => {
    await daemon?.remove();
    await chaos?.close();
    await server?.stop();
  });

  const environmentOf = (address: string) => ({
    GATEWAY_STORAGE_URL: address.replace('gateway@', `gateway:${password}@`),
    GATEWAY_LOG_LEVEL: 'trace',
  });
  const cli = (...args: string[]) => runWhenAvailable(args, { env: { GATEWAY_HOME: daemon.home } });
  const call = (key = daemon.key) =>
    completeCall({ url: daemon.url, key }, { wire: 'chat', model: 'chat/any', stream: false });
  const expectSound = async () => {
    const { stderr, code } = await cli('ledger', 'verify');
    expect(stderr).toMatch(/^The ledger balances: .* 0 running calls\.\n$/);
    expect(code).toBe(0);
  };
  const spent = async (condition = 'true') => {
    const [row] = await server.query(
      `SELECT count(*)::int AS calls, coalesce(sum(charged), 0)::bigint AS charged FROM gateway.usage WHERE ${condition}`,
      new URL(url).pathname.slice(1),
    );
    return { calls: Number(row?.calls), charged: Number(row?.charged) };
  };

  test.each([
    ['chat', false],
    ['chat', true],
    ['responses', false],
    ['responses', true],
    ['messages', false],
    ['messages', true],
  ] as const)('charges a call in the format %s, streamed: %s', async (wire, stream) => {
    const before = await spent();
    const answer = await whenAvailable(() => completeCall(daemon, { wire, model: 'chat/any', stream }));
    expect(answer.status).toBe(200);
    await eventually('the call is charged', async () => (await spent()).calls === before.calls + 1);
    expect((await spent()).charged - before.charged).toBe(price);
  });

  test('stops exactly at the cap of a key', async () => {
    const cap = (price * 3) / 1e9;
    const issued = await cli(
      'keys',
      'issue',
      '--name',
      'capped',
      '--spend-cap',
      `${cap.toFixed(9)}/day`,
      '--json',
    );
    const { secret } = JSON.parse(issued.stdout) as { secret: string };
    const answers = await Promise.all(Array.from({ length: 12 }, () => call(secret)));
    const served = answers.filter(({ status }) => status === 200).length;
    expect(served).toBeGreaterThan(0);
    expect(served).toBeLessThanOrEqual(3);
    await expectSound();
  });

  test('answers an idempotent call once', async () => {
    const before = await spent();
    const headers = {
      authorization: `Bearer ${daemon.key}`,
      'content-type': 'application/json',
      'idempotency-key': 'once',
    };
    const body = JSON.stringify({ model: 'chat/any', messages: [{ role: 'user', content: 'Hi' }] });
    const ask = () =>
      whenAvailable(() => fetch(`${daemon.url}/v1/chat/completions`, { method: 'POST', headers, body }));
    const texts = [await (await ask()).text(), await (await ask()).text()];
    expect(texts[0]).toBe(texts[1]);
    expect((await spent()).calls).toBe(before.calls + 1);
  });

  test('shows the server, and what makes it lose data, without the password', async () => {
    const status = await cli('status', '--json');
    expect(JSON.parse(status.stdout)).toMatchObject({
      storage: {
        engine: 'postgresql',
        writable: true,
        server: { address: url, warnings: expect.arrayContaining([expect.stringMatching(/^fsync is off/)]) },
      },
    });
    const doctor = await cli('doctor');
    expect(doctor.stdout).toMatch(/storage.*writable: PostgreSQL \d+.*schema \d+/);
    expect(doctor.stdout).toMatch(/warning.*storage.*fsync is off/);
    const backup = await cli('backup', '--quiet');
    expect(backup).toMatchObject({ code: 0, stderr: '' });
    const restored = await restore({
      backup: join(daemon.home, 'config.yaml'),
      env: { GATEWAY_HOME: daemon.home, ...environmentOf(url) },
      onProgress: () => {},
    });
    expect(restored).toMatchObject({ problem: expect.stringMatching(/copy that to an empty database/) });
    const config = await cli('config', 'get', 'storage');
    const log = await readFile(join(daemon.home, 'gateway.log'), 'utf8');
    const { stdout, stderr } = daemon.printed();
    for (const text of [status, doctor, backup, config].map(({ stdout: a, stderr: b }) => a + b))
      expect(text).not.toContain(password);
    for (const text of [log, stdout, stderr]) expect(text).not.toContain(password);
    expect(await readdir(daemon.home)).not.toContain('gateway.db');
  });

  test('works again after the server was killed and restarted under load; nothing is charged twice', async () => {
    const before = await spent();
    let isOver = false;
    let served = 0;
    const statuses = new Set<number>();
    const client = async () => {
      while (!isOver) {
        const { status } = await call();
        statuses.add(status);
        if (status === 200) served += 1;
        // Calls that are refused would take all of the processor that the server needs for its start.
        await pause(20);
      }
    };
    const clients = Array.from({ length: 6 }, client);
    await eventually('calls are served', async () => served > 5);
    await server.halt('kill');
    await server.restart();
    const soFar = served;
    await eventually('calls are served again', async () => served > soFar + 5);
    isOver = true;
    await Promise.all(clients);
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    await eventually('all are settled', async () => (await spent()).calls >= before.calls + served);
    const after = await spent();
    expect(after.charged - before.charged).toBe((after.calls - before.calls) * price);
    await expectSound();
  });

  describe('that cannot use its database', () => {
    /** What a daemon says that ends at its start. */
    const failureOf = async (address: string) => {
      const home = await mkdtemp(join(tmpdir(), 'gateway-refused-'));
      onTestFinished(() => rm(home, { recursive: true, force: true }));
      await writeFile(
        join(home, 'config.yaml'),
        'local_servers: false\nstorage: {url_file: database-url}\nlisten: {port: 0}\n',
      );
      await writeFile(join(home, 'database-url'), address, { mode: 0o600 });
      let said = '';
      const started = Promise.withResolvers<string>();
      const ended = serve({
        env: { GATEWAY_HOME: home },
        stdout: { write: (text: string) => started.resolve(`started: ${text}`) },
        stderr: { write: (text: string) => (said += text) },
      });
      const outcome = await Promise.race([
        started.promise,
        ended.then((code) => `ended with ${code}: ${said}`),
      ]);
      expect(outcome).not.toContain(password);
      return outcome;
    };
    const isRefused = async (address: string) => {
      const client = new pg.Client({ connectionString: address });
      const refused = await client.connect().then(
        () => false,
        () => true,
      );
      await client.end();
      return refused;
    };
    const as = (user: string, address: string) => address.replace('gateway@', `${user}:${password}@`);

    test('explains a wrong password, and a missing right', async () => {
      await server.query(`CREATE USER locked PASSWORD 'another'; CREATE USER guest;
        COPY (SELECT * FROM unnest(ARRAY['local all all trust', 'host all locked 127.0.0.1/32 scram-sha-256',
          'host all all 127.0.0.1/32 trust']))
        TO '${((await server.query('SHOW hba_file'))[0] as { hba_file: string }).hba_file}'`);
      await server.query('SELECT pg_reload_conf()');
      const address = await server.newDatabase();
      await eventually('the password is checked', () => isRefused(as('locked', address)));
      expect(await failureOf(as('locked', address))).toMatch(
        /ended with 1: .*\nCheck the user and the password/,
      );
      expect(await failureOf(as('guest', address))).toMatch(
        /ended with 1: .*permission denied for database.*\nMake its user the owner/,
      );
    });

    test('explains a missing database, and one that is read-only', async () => {
      expect(await failureOf(as('gateway', server.url('nowhere')))).toMatch(
        /ended with 1: .*"nowhere" does not exist\.\nCreate the database/,
      );
      const address = await server.newDatabase();
      const name = new URL(address).pathname.slice(1);
      await server.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      expect(await failureOf(as('gateway', address))).toMatch(
        /ended with 1: .*read-only.*\nThe server accepts no writes/,
      );
    });

    test('explains an address where nothing listens, and a file without one', async () => {
      expect(await failureOf(`postgres://gateway:${password}@127.0.0.1:9/gateway`)).toMatch(
        /ended with 1: .*ECONNREFUSED.*\nCheck that the server runs/,
      );
      expect(await failureOf(`gateway:${password}@db.lan/gateway`)).toMatch(
        /ended with 2: .*\n.*database-url must be an address like postgres:/,
      );
    });
  });

  test('settles what a killed daemon left', async () => {
    const before = await spent();
    const stream = callModel(daemon, { wire: 'chat', model: 'chat/any', stream: true });
    await eventually('the call runs', async () => stream.text !== '');
    daemon.signal('SIGKILL');
    await daemon.ended;
    daemon = await startChildDaemon({ home: daemon.home, env: environmentOf(url) });
    // On a busy machine, the server notices late that the first daemon is gone: then its term ends first.
    await eventually('the call is settled', async () => (await spent()).calls > before.calls);
    expect((await spent()).calls).toBe(before.calls + 1);
    await expectSound();
  });
});

describe('the code of PostgreSQL', () => {
  test('is loaded only with an address', async () => {
    const coverage = await mkdtemp(join(tmpdir(), 'gateway-coverage-'));
    onTestFinished(() => rm(coverage, { recursive: true, force: true }));
    const plain = await startChildDaemon({ config: '', env: { NODE_V8_COVERAGE: coverage } });
    onTestFinished(() => plain.remove());
    plain.signal('SIGTERM');
    await plain.ended;
    const files = await Promise.all(
      (await readdir(coverage)).map((name) => readFile(join(coverage, name), 'utf8')),
    );
    const scripts = files.flatMap((text) =>
      (JSON.parse(text) as { result: { url: string }[] }).result.map((script) => script.url),
    );
    expect(scripts.some((script) => script.endsWith('/serve-child.js'))).toBe(true);
    // The folder of the repository may have any name.
    const paths = scripts.map((script) => script.replace(pathToFileURL('.').href, ''));
    expect(paths.filter((path) => /postgres|server-worker|node_modules\/pg/.test(path))).toEqual([]);
    const chunks = await Promise.all(
      scripts
        .filter((script) => script.startsWith('file:') && !script.includes('/node_modules/'))
        .map((script) => readFile(new URL(script), 'utf8')),
    );
    expect(chunks.filter((text) => text.includes('pg_advisory'))).toEqual([]);
  });
});
