import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeInvoice, encodeInvoice } from '../../src/daemon/features/lightning/bolt11.ts';
import { configTools } from '../../src/daemon/wiring/config-tools.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { runCli } from '../support/run-cli.ts';
import { addPerson, askDaemon, type Person } from '../support/users.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** The daemon's day begins with the tests, so that its limits are not reset between them. */
const env = { CLOCK_AHEAD_MS: String(dayMs - (Date.now() % dayMs)) };

let daemon: ChildDaemon;
let bob: Person;
let client: Client;

const ask = (as: string, path: string, json: object) => askDaemon(daemon, 'POST', path, { as, json });
/** An invoice of Bob's wallet. */
const invoiceOf = async (amountSats: number): Promise<string> =>
  (await ask(bob.login, '/api/payments/invoice', { amountSats })).body.data.invoice.paymentRequest;
const balanceOf = async ({ login }: { login: string }): Promise<number> =>
  (await askDaemon(daemon, 'GET', '/api/agents/me/balance', { as: login })).body.data.balanceSats;
const setSetting = async (name: string, value: string) => {
  const options = { env: { GATEWAY_HOME: daemon.home }, loadConfigTools: async () => configTools };
  for (const command of [['config', 'set', name, value], ['reload']])
    expect(await runCli(command, options)).toMatchObject({ code: 0 });
};

async function connect(credential: string): Promise<Client> {
  const connected = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${credential}` } };
  await connected.connect(new StreamableHTTPClientTransport(new URL(`${daemon.url}/mcp`), { requestInit }));
  return connected;
}

async function use(name: string, given: Record<string, unknown> = {}, by = client) {
  const result = await by.callTool({ name, arguments: given });
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect in it.
  const data = result.structuredContent as any;
  return result.isError ? { error: data.error } : data.data;
}

beforeAll(async () => {
  daemon = await startChildDaemon({ config: 'vault: {keychain: false, insecure_plain_file: true}\n', env });
  bob = await addPerson(daemon, 'bob');
  for (const login of [daemon.login, bob.login]) await ask(login, '/api/agents/me/wallet', {});
  await ask(daemon.login, '/api/agents/me/wallet/faucet', { amountSats: 100_000 });
  client = await connect(daemon.login);
});

afterAll(async () => {
  await client.close();
  await daemon.remove();
});

test('a tool shows the balance, and creates invoices that others pay', async () => {
  expect(await use('wallet_balance')).toMatchObject({ balanceSats: 100_000, pendingMsats: 0 });
  const { invoice } = await use('create_invoice', { amountSats: 5, description: 'Tea' });
  expect(decodeInvoice(invoice.paymentRequest)).toMatchObject({ amountMsat: 5000, description: 'Tea' });
  expect((await use('get_invoice', { invoiceId: invoice.id })).invoice.status).toBe('open');
});

test('a tool pays nothing until the user sets limits', async () => {
  const { error } = await use('pay_invoice', { invoice: await invoiceOf(1) });
  expect(error).toMatchObject({
    code: 'permission',
    message: 'Payments are not allowed until `mcp.max_payment_sats` and `mcp.max_daily_sats` are set.',
  });
  await setSetting('mcp.max_payment_sats', '100');
  expect((await use('pay_invoice', { invoice: await invoiceOf(1) })).error.code).toBe('permission');
  expect(await balanceOf(daemon)).toBe(100_000);
});

test('no paid tool path bypasses the limits, and no invoice without an amount slips through', async () => {
  await setSetting('mcp.max_daily_sats', '1000');
  const tooMuch = await invoiceOf(101);
  expect((await use('pay_invoice', { invoice: tooMuch })).error).toMatchObject({
    code: 'permission',
    param: 'invoice',
    message: 'The invoice asks for 101 sats, more than `mcp.max_payment_sats` allows: 100 sats.',
  });
  // A maximum of the model's own does not raise the limit, and lowers it.
  expect((await use('pay_invoice', { invoice: tooMuch, maxAmountSats: 500 })).error.code).toBe('permission');
  const { error } = await use('pay_invoice', { invoice: await invoiceOf(50), maxAmountSats: 49 });
  expect(error).toMatchObject({ code: 'invalid_request', param: 'maxAmountSats' });
  const amountless = encodeInvoice(
    {
      network: 'regtest',
      amountMsat: null,
      timestamp: Math.floor(Date.now() / 1000),
      paymentHash: new Uint8Array(32).fill(1),
      paymentSecret: new Uint8Array(32),
      description: 'As you like',
      features: [8, 14],
    },
    new Uint8Array(32).fill(7),
  );
  expect((await use('pay_invoice', { invoice: amountless })).error.message).toMatch(/has no amount/);
  expect(await balanceOf(daemon)).toBe(100_000);
  // What the user pays without a tool is not limited.
  const invoice = await invoiceOf(2000);
  expect((await ask(daemon.login, '/api/payments/pay', { invoice })).status).toBe(200);
  expect(await balanceOf(daemon)).toBe(98_000);
});

test('parallel calls share the limit of the day, which a restart does not reset', async () => {
  const first = await use('pay_invoice', { invoice: await invoiceOf(60) });
  expect(first.payment).toMatchObject({ status: 'succeeded', quotedAmountMsats: 60_000 });
  expect(await use('get_payment', { paymentId: first.payment.paymentId })).toEqual(first);
  const invoices = await Promise.all(Array.from({ length: 20 }, () => invoiceOf(90)));
  const answers = await Promise.all(invoices.map((invoice) => use('pay_invoice', { invoice })));
  expect(answers.filter(({ payment }) => payment?.status === 'succeeded')).toHaveLength(10);
  const refusal = {
    code: 'permission',
    message:
      'The payment needs up to 90 sats, fees included, more than `mcp.max_daily_sats` leaves for today: 40 sats.',
  };
  for (const { error } of answers.filter((answer) => 'error' in answer)) expect(error).toMatchObject(refusal);
  expect(await balanceOf(daemon)).toBe(97_040);

  daemon.signal('SIGKILL');
  await daemon.ended;
  daemon = await startChildDaemon({ home: daemon.home, env });
  client = await connect(daemon.login);
  expect((await use('pay_invoice', { invoice: await invoiceOf(90) })).error).toMatchObject(refusal);
  expect((await use('pay_invoice', { invoice: await invoiceOf(40) })).payment.status).toBe('succeeded');
  expect((await use('pay_invoice', { invoice: await invoiceOf(1) })).error.code).toBe('permission');
});

test('a key needs the scope `billing`, and a failed payment can be read by the model', async () => {
  const json = { scopes: ['plugins', 'models:read'] };
  const { secret } = (await ask(daemon.login, '/v1/workspaces/me/keys', json)).body;
  const limited = await connect(secret);
  const { tools } = await limited.listTools();
  expect(tools.map(({ name }) => name)).not.toContain('pay_invoice');
  expect((await use('pay_invoice', { invoice: await invoiceOf(1) }, limited)).error.code).toBe(
    'out_of_scope',
  );
  await limited.close();
  expect((await use('pay_invoice', { invoice: `lnbcrt${'1'.repeat(60)}` })).error).toMatchObject({
    code: 'invalid_request',
    param: 'invoice',
  });
});
