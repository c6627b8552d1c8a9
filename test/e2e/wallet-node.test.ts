import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lndMacaroon, startFakeLnd } from '../support/lightning/fake-lnd.ts';
import { type RunOptions, runCli } from '../support/run-cli.ts';
import { expectNoSecrets } from '../support/secret-search.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { localhostCertificate } from '../support/test-certificate.ts';
import { addPerson, askDaemon, type Person } from '../support/users.ts';

const config = `vault: {keychain: false, insecure_plain_file: true}
log: {level: trace}
payments: {usd_per_btc: "100000"}
`;

let lnd: Awaited<ReturnType<typeof startFakeLnd>>;
let daemon: RunningDaemon;
let bob: Person;
/** Everything that was printed or answered, apart from what is secret by design. */
let seen = '';

const cli = async (argv: string[], options: Partial<RunOptions> = {}) => {
  const ran = await runCli(argv, { env: { GATEWAY_HOME: daemon.home }, ...options });
  seen += ran.stdout + ran.stderr;
  return ran;
};
const api = (as: string, method: string, path: string, json?: object) =>
  askDaemon(daemon, method, path, { as, ...(json && { json }) });
const pay = (as: string, invoice: string, more: object = {}) =>
  api(as, 'POST', '/api/payments/pay', { invoice, ...more });
const invoiceOf = async (as: string, amountSats: number) =>
  (await api(as, 'POST', '/api/payments/invoice', { amountSats, description: 'Tea' })).body.data.invoice;
const balanceOf = async (as: string) => (await api(as, 'GET', '/api/agents/me/balance')).body.data;
const paymentOf = async (as: string, id: string) =>
  (await api(as, 'GET', `/api/payments/${id}`)).body.data.payment;
/** A payment may time out before it has reached the node; one that the daemon has not sent when it stops is never sent. */
const isHeld = (invoice: string) => expect.poll(() => lnd.node.held()).toContain(invoice);
const problems = async () => (await api(daemon.login, 'POST', '/v1/admin/ledger/verify')).body.problems;

const certificateFile = () => join(daemon.home, 'tls.cert');
const connectLnd = () => [
  ...['wallet', 'connect', 'lnd', '--url', lnd.url],
  ...['--certificate', certificateFile(), '--network', 'regtest'],
];

/** A node with a million sats, connected by the command; the owner and Bob have wallets of it. */
beforeAll(async () => {
  lnd = await startFakeLnd();
  daemon = await startDaemon({ config, followUpMs: 100 });
  bob = await addPerson(daemon, 'bob');
  // Play money, which must not become real.
  await api(daemon.login, 'POST', '/api/agents/me/wallet', {});
  await api(daemon.login, 'POST', '/api/agents/me/wallet/faucet', { amountSats: 5000 });
  await writeFile(certificateFile(), localhostCertificate.cert);
  const connected = await cli([...connectLnd(), '--json'], { stdin: lndMacaroon });
  expect(connected.stderr).toContain('The daemon has reloaded it.');
  expect(JSON.parse(connected.stdout)).toMatchObject({
    backend: 'lnd',
    state: 'ready',
    problems: [],
    network: 'regtest',
    secret: 'vault',
    node_id: lnd.node.nodeId,
    balance_msats: 1_000_000_000,
    owed_msats: 0,
  });
  for (const { login } of [daemon, bob]) await api(login, 'POST', '/api/agents/me/wallet', {});
});

afterAll(async () => {
  await daemon.stop();
  await lnd.close();
});

describe('a connected node', () => {
  test('is shown by status and doctor', async () => {
    const status = await cli(['status', '--json']);
    expect(JSON.parse(status.stdout).wallet).toEqual({ backend: 'lnd', state: 'ready', problems: [] });
    const doctor = await cli(['doctor', '--json']);
    expect(JSON.parse(doctor.stdout)).toContainEqual(
      expect.objectContaining({ check: 'wallet', state: 'ok', message: 'lnd: ready' }),
    );
    lnd.node.isSynced = false;
    const warned = await cli(['doctor', '--json']);
    lnd.node.isSynced = true;
    expect(JSON.parse(warned.stdout)).toContainEqual(
      expect.objectContaining({
        check: 'wallet',
        state: 'warning',
        message: 'lnd: LND is not synced to the chain yet.',
      }),
    );
  });

  test('gives each user another wallet, and no play money', async () => {
    expect(await balanceOf(daemon.login)).toMatchObject({
      backend: 'lnd',
      network: 'regtest',
      balanceSats: 0,
    });
    const faucet = await api(daemon.login, 'POST', '/api/agents/me/wallet/faucet', { amountSats: 1 });
    expect(faucet).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('without a Lightning node') },
    });
  });

  test('funds wallets with what no wallet holds, and no more', async () => {
    const funded = await cli(['wallet', 'fund', '--sats', '600000', '--json']);
    expect(JSON.parse(funded.stdout)).toMatchObject({ balance_msats: 600_000_000 });
    const more = await api(daemon.login, 'POST', '/v1/admin/wallet-backend/fund', { amount_sats: 400_001 });
    expect(more).toMatchObject({
      status: 409,
      body: { error: { message: 'The node has only 400,000 sats that no wallet holds.' } },
    });
    expect(await problems()).toEqual([]);
  });
});

describe('over Lightning', () => {
  test('a payment charges the amount and the real fee', async () => {
    const before = (await balanceOf(daemon.login)).balanceMsats;
    lnd.node.feeMsat = 1234;
    const { body } = await pay(daemon.login, lnd.node.foreignInvoice(200_000_000));
    lnd.node.feeMsat = 1000;
    expect(body.data.payment).toMatchObject({ status: 'succeeded', feeMsats: 1234, maxFeeMsats: 2_000_000 });
    expect((await balanceOf(daemon.login)).balanceMsats).toBe(before - 200_001_234);
    expect(await problems()).toEqual([]);
  });

  test('an invoice that is paid from outside is credited once', async () => {
    const { id, paymentRequest } = await invoiceOf(bob.login, 700);
    lnd.node.receive(paymentRequest);
    const invoice = () => api(bob.login, 'GET', `/api/payments/invoices/${id}`);
    await expect
      .poll(async () => (await invoice()).body.data.invoice)
      .toMatchObject({ status: 'paid', receivedMsats: 700_000 });
    expect((await balanceOf(bob.login)).balanceSats).toBe(700);
    expect(await problems()).toEqual([]);
  });

  test('an invoice that is paid within the host cannot be paid from outside', async () => {
    const { paymentRequest } = await invoiceOf(bob.login, 300);
    const { body } = await pay(daemon.login, paymentRequest);
    expect(body.data.payment).toMatchObject({ status: 'succeeded', feeMsats: 0 });
    expect(() => lnd.node.receive(paymentRequest)).toThrow('canceled');
    expect(lnd.node.asked).not.toContain(paymentRequest);
    const { paymentRequest: other } = await invoiceOf(bob.login, 300);
    lnd.node.receive(other);
    expect((await pay(daemon.login, other)).body.data?.payment.status ?? 'refused').not.toBe('succeeded');
    await expect.poll(async () => (await balanceOf(bob.login)).balanceSats).toBe(1300);
    expect(await problems()).toEqual([]);
  });

  test('a payment whose fee exceeds the limit fails, and costs nothing', async () => {
    const before = await balanceOf(daemon.login);
    lnd.node.feeMsat = 2001;
    const { body } = await pay(daemon.login, lnd.node.foreignInvoice(100_000));
    lnd.node.feeMsat = 1000;
    expect(body.data.payment).toMatchObject({ status: 'failed', failureReason: 'no_route' });
    expect(await balanceOf(daemon.login)).toEqual(before);
  });

  test('a payment that times out stays pending, also after a restart, and is debited once', async () => {
    const before = (await balanceOf(daemon.login)).balanceMsats;
    const invoice = lnd.node.foreignInvoice(100_000);
    lnd.node.next('hold');
    const { body } = await pay(daemon.login, invoice, { timeoutMs: 1000 });
    const { paymentId } = body.data.payment;
    expect(body.data.payment).toMatchObject({ status: 'pending', preimage: null });
    await isHeld(invoice);
    expect(await balanceOf(daemon.login)).toMatchObject({
      balanceMsats: before - 102_000,
      pendingMsats: 102_000,
    });
    // Past failure 6: the same invoice is not paid again.
    expect((await pay(daemon.login, invoice)).status).toBe(409);
    await daemon.stop({ keep: true });
    daemon = await startDaemon({ home: daemon.home, config: await readConfig(), followUpMs: 100 });
    expect((await paymentOf(daemon.login, paymentId)).status).toBe('pending');
    lnd.node.end(invoice, 'succeeded');
    await expect.poll(async () => (await paymentOf(daemon.login, paymentId)).status).toBe('succeeded');
    expect(await balanceOf(daemon.login)).toMatchObject({ balanceMsats: before - 101_000, pendingMsats: 0 });
    expect(await problems()).toEqual([]);
  });

  test('a payment that no node knows is resolved by the owner of the host', async () => {
    const before = (await balanceOf(bob.login)).balanceMsats;
    const invoice = lnd.node.foreignInvoice(100_000);
    lnd.node.next('hold');
    const { body } = await pay(bob.login, invoice, { timeoutMs: 1000 });
    const { paymentId, paymentHash } = body.data.payment;
    await isHeld(invoice);
    const resolve = (flag: string) => cli(['payments', 'resolve', paymentId, flag, '--yes', '--json']);
    expect((await resolve('--failed')).stderr).toContain('is being sent');
    const unknown = await cli(['payments', 'resolve', 'pay_none', '--failed', '--yes']);
    expect(unknown.stderr).toContain('No wallet of this host has such a payment.');
    // The next daemon has not sent it, and the node has lost its record.
    await daemon.stop({ keep: true });
    lnd.node.outgoing.delete(paymentHash);
    daemon = await startDaemon({ home: daemon.home, config: await readConfig(), followUpMs: 100 });
    expect((await paymentOf(bob.login, paymentId)).status).toBe('pending');
    const path = `/v1/admin/payments/${paymentId}/resolve`;
    expect((await api(bob.login, 'POST', path, { outcome: 'failed' })).status).toBe(403);
    const { code, stdout } = await resolve('--failed');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: paymentId, status: 'failed', fee_msats: null });
    const resolved = await paymentOf(bob.login, paymentId);
    expect(resolved).toMatchObject({ status: 'failed', resolvedBy: expect.stringMatching(/^usr_/) });
    expect((await balanceOf(bob.login)).balanceMsats).toBe(before);
    expect(await problems()).toEqual([]);
  });

  test('nothing is recorded while the node cannot be used', async () => {
    lnd.node.isLocked = true;
    const invoice = lnd.node.foreignInvoice(100_000);
    const refused = { status: 503, body: { error: { code: 'unavailable' } } };
    const before = (await api(daemon.login, 'GET', '/api/payments')).body.data.length;
    expect((await pay(daemon.login, invoice)).status).toBe(refused.status);
    expect((await api(daemon.login, 'POST', '/api/payments/invoice', { amountSats: 5 })).status).toBe(503);
    expect((await api(daemon.login, 'GET', '/api/payments')).body.data).toHaveLength(before);
    expect(await api(bob.login, 'POST', '/v1/credit/purchases', { sats: 5 })).toMatchObject({
      status: 503,
      body: { error: { message: expect.stringContaining('node of this host is not ready') } },
    });
    const shown = await cli(['wallet', 'backend', '--json']);
    expect(shown.code).toBe(6);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      state: 'unavailable',
      problems: ['The wallet of LND is locked. Unlock it: lncli unlock'],
    });
    lnd.node.isLocked = false;
    expect((await pay(daemon.login, invoice)).body.data.payment.status).toBe('succeeded');
  });
});

describe('another node at the same address', () => {
  const other = '03'.padEnd(66, 'b');

  test('is not used, until the owner of the host trusts it', async () => {
    const { nodeId: first } = lnd.node;
    const before = await balanceOf(daemon.login);
    const invoice = lnd.node.foreignInvoice(100_000);
    lnd.node.nodeId = other;
    expect((await pay(daemon.login, invoice)).status).toBe(503);
    expect((await api(bob.login, 'POST', '/api/payments/invoice', { amountSats: 5 })).status).toBe(503);
    expect(lnd.node.asked).not.toContain(invoice);
    const shown = await cli(['wallet', 'backend', '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      state: 'unavailable',
      problems: [expect.stringMatching(`${other} instead of ${first}.*gateway wallet trust-node ${other}`)],
    });
    expect((await cli(['wallet', 'trust-node', first, '--yes'])).code).not.toBe(0);
    expect((await cli(['wallet', 'trust-node', other, '--yes'])).code).toBe(0);
    expect((await pay(daemon.login, invoice)).body.data.payment.status).toBe('succeeded');
    lnd.node.nodeId = first;
    expect((await cli(['wallet', 'trust-node', first, '--yes'])).code).toBe(0);
    expect((await balanceOf(daemon.login)).balanceMsats).toBe(before.balanceMsats - 101_000);
  });
});

test('wallet connect changes nothing if the node cannot be used, unless it is forced to', async () => {
  const before = await readConfig();
  const connect = ['wallet', 'connect', 'phoenixd', '--url', 'http://127.0.0.1:1', '--network', 'regtest'];
  const refused = await cli(connect, { stdin: 'password0123456789' });
  expect(refused.code).toBe(6);
  expect(refused.stderr).toMatch(/Not connected: .*--force/s);
  expect(await readConfig()).toBe(before);
  expect((await cli(['wallet', 'backend', '--json=backend'])).stdout).toContain('lnd');
});

test('a wrong secret is rejected, and names the field', async () => {
  const put = await api(daemon.login, 'PUT', '/v1/admin/wallet-backend/lnd/secret', { secret: 'hunter2' });
  expect(put).toMatchObject({
    status: 400,
    body: {
      error: { code: 'invalid_request', param: 'secret', message: expect.stringContaining('macaroon') },
    },
  });
});

test('neither the macaroon nor a preimage is in files, logs, output or backups', async () => {
  expect((await cli(['backup', join(daemon.home, 'copy')])).code).toBe(0);
  const settings = await cli(['config', 'get', '--json']);
  const preimages = [...lnd.node.outgoing.values(), ...lnd.node.incoming.values()]
    .map(({ preimage }) => Buffer.from(preimage))
    // Payments that failed have none.
    .filter((preimage) => preimage.some((byte) => byte !== 0));
  expect(preimages.length).toBeGreaterThan(5);
  await expectNoSecrets(daemon, seen + settings.stdout, [Buffer.from(lndMacaroon, 'hex'), ...preimages]);
});

test('a disconnected node leaves the wallets of play money, and is found again', async () => {
  const real = await balanceOf(daemon.login);
  // An address that is not given again stays.
  const rotated = await cli(['wallet', 'connect', 'lnd', '--json'], { stdin: lndMacaroon });
  expect(JSON.parse(rotated.stdout).state).toBe('ready');
  await cli(['wallet', 'disconnect', '--yes']);
  expect(await balanceOf(daemon.login)).toMatchObject({ backend: 'embedded', balanceSats: 5000 });
  // The next node does not get the address, the certificate or the network of this one.
  expect(await readConfig()).not.toMatch(/wallet|tls\.cert|regtest/);
  const { stdout } = await cli([...connectLnd(), '--json'], { stdin: lndMacaroon });
  expect(JSON.parse(stdout).state).toBe('ready');
  expect(await balanceOf(daemon.login)).toEqual(real);
});

/** The file without the line that the test's daemons add. */
const readConfig = async () =>
  (await readFile(join(daemon.home, 'config.yaml'), 'utf8')).replace(/^shed_load:.*\n/m, '');
