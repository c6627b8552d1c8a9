import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { lndMacaroon, startFakeLnd } from '../support/lightning/fake-lnd.ts';
import { type PaywalledServer, startPaywalledServer } from '../support/paywalled-server.ts';
import { runCli } from '../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { localhostCertificate } from '../support/test-certificate.ts';
import { askDaemon } from '../support/users.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by path.
type Json = any;

let lnd: Awaited<ReturnType<typeof startFakeLnd>>;
let daemon: RunningDaemon;
let shop: PaywalledServer;

const data = async (method: string, path: string, json?: object): Promise<Json> => {
  const answer = await askDaemon(daemon, method, path, { as: daemon.login, ...(json && { json }) });
  expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
  return answer.body.data;
};

beforeAll(async () => {
  lnd = await startFakeLnd();
  shop = await startPaywalledServer();
  daemon = await startDaemon({
    config: 'vault: {keychain: false, insecure_plain_file: true}\n',
    simulate: `
rules:
  - when: { message: { matches: '^buy (\\S+)$' } }
    tool_calls: [{ name: paid_http_request, arguments: '{"url":"{{1}}","max_amount_sats":30}' }]
  - when: { tool_result: true }
    reply: '{{tool_result}}'
`,
  });
  const certificate = join(daemon.home, 'tls.cert');
  await writeFile(certificate, localhostCertificate.cert);
  const env = { GATEWAY_HOME: daemon.home };
  const options = ['--url', lnd.url, '--certificate', certificate, '--network', 'regtest'];
  const connected = await runCli(['wallet', 'connect', 'lnd', ...options], { env, stdin: lndMacaroon });
  expect(connected).toMatchObject({ code: 0 });
  await data('POST', '/api/agents/me/wallet', {});
  expect(await runCli(['wallet', 'fund', '--sats', '1000'], { env })).toMatchObject({ code: 0 });
});

afterAll(async () => {
  await daemon.stop();
  await lnd.close();
  await shop.close();
});

test('a run that is cancelled during a payment ends immediately, and the payment ends by itself', async () => {
  shop.on('/books', (_request, response) => {
    const challenge = `L402 macaroon="AgEB", invoice="${lnd.node.foreignInvoice(20_000)}"`;
    response.writeHead(402, { 'www-authenticate': challenge }).end();
  });
  const { id } = await data('POST', '/api/autopilots', {
    displayName: 'Reader',
    policy: {
      model: 'sim/assistant',
      l402AllowedHosts: ['127.0.0.1:*'],
      l402RequireApproval: false,
      l402MaxSpendMsatsPerCall: 30_000,
      l402MaxSpendMsatsPerDay: 30_000,
    },
  });
  const start = () => data('POST', `/api/autopilots/${id}/runs`, { input: `buy ${shop.url}/books` });
  lnd.node.next('hold');
  const run = await start();
  await eventually('the payment', async () => lnd.node.asked.length === 1);
  const cancelled = await data('POST', `/api/autopilots/${id}/runs/${run.id}/cancel`);
  expect(cancelled).toMatchObject({ status: 'cancelled' });
  const events: Json[] = await data('GET', `/api/chats/${run.chatId}/runs/${run.id}/events`);
  const pending = events.find(({ type }) => type === 'payment_pending');
  expect(pending.payload).toMatchObject({ amount_msats: 20_000 });
  const payment = async () => (await data('GET', `/api/payments/${pending.payload.payment_id}`)).payment;
  expect(await payment()).toMatchObject({ status: 'pending' });

  // What it may still cost counts against the day.
  const second = await start();
  const shown = await eventually('the end of the second run', async () => {
    const found = await data('GET', `/api/autopilots/${id}/runs/${second.id}`);
    return found.status !== 'running' && found;
  });
  expect(shown.output).toContain('more than `policy.l402MaxSpendMsatsPerDay` leaves for today');

  for (const invoice of lnd.node.held()) lnd.node.end(invoice, 'succeeded');
  await eventually('the end of the payment', async () => (await payment()).status === 'succeeded');
  expect(lnd.node.asked).toHaveLength(1);
  expect(
    (await askDaemon(daemon, 'POST', '/v1/admin/ledger/verify', { as: daemon.login })).body,
  ).toMatchObject({
    ok: true,
  });
});
