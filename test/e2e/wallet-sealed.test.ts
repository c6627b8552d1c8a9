import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PaywalledServer, startPaywalledServer } from '../support/paywalled-server.ts';
import { runCli } from '../support/run-cli.ts';
import { newToken } from '../support/site.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { addPerson, askDaemon } from '../support/users.ts';

const config = 'vault: {keychain: false, store: passphrase}\n';
const passphrase = 'correct horse battery';

let daemon: RunningDaemon;
let server: PaywalledServer;
let paywall: string;
let words: string;

const cli = (argv: string[], options: { tty?: boolean; columns?: number } = {}) =>
  runCli(argv, { env: { GATEWAY_HOME: daemon.home }, ...options });
const unlock = () =>
  askDaemon(daemon, 'POST', '/v1/admin/vault/unlock', { as: daemon.login, json: { passphrase } });

/** A seller's daemon that was restarted, so that its vault waits for the passphrase. */
beforeAll(async () => {
  server = await startPaywalledServer();
  daemon = await startDaemon({ config });
  expect(await unlock()).toMatchObject({ status: 200, body: { state: 'unlocked' } });
  const made = await askDaemon(daemon, 'POST', '/api/agents/me/wallet', { as: daemon.login, json: {} });
  words = made.body.data.mnemonic;
  const json = { priceSats: 10, match: { pathPrefix: '/sealed' }, upstream: { url: server.url } };
  await askDaemon(daemon, 'POST', '/api/l402/paywalls', { as: daemon.login, json });
  await daemon.stop({ keep: true });
  daemon = await startDaemon({ config, home: daemon.home });
  const list = await askDaemon(daemon, 'GET', '/api/l402/paywalls', { as: daemon.login });
  paywall = list.body.data[0].url;
});

afterAll(async () => {
  await daemon.stop();
  await server.close();
});

test('while the vault is locked, status and buyers are told how it opens', async () => {
  const { stdout } = await cli(['status', '--no-color'], { tty: true, columns: 200 });
  expect(stdout).toMatch(/^vault +sealed \(passphrase\): .*gateway vault unlock$/m);
  expect(stdout).toMatch(/^wallet +embedded \(play money\); .*gateway vault unlock$/m);
  const asked = await fetch(paywall);
  expect(asked.status).toBe(503);
  const message =
    "This service cannot be paid while its seller's wallet is locked. The seller can unlock it: gateway vault unlock";
  expect(await asked.json()).toMatchObject({ error: { code: 'unavailable', message } });
  for (const argv of [
    ['invoice', 'create', '5'],
    ['wallet', 'phrase'],
  ]) {
    const { code, stdout: printed, stderr } = await cli(argv);
    expect({ code, printed, stderr }).toMatchObject({
      code: 6,
      printed: '',
      stderr: expect.stringContaining('gateway vault unlock'),
    });
  }
});

test('once it is unlocked, the wallet is paid again', async () => {
  await unlock();
  const { stdout } = await cli(['status', '--no-color'], { tty: true, columns: 200 });
  expect(stdout).toMatch(/^wallet +embedded \(play money\)$/m);
  expect((await fetch(paywall)).status).toBe(402);
});

test('the words are shown again to the login of their wallet, and to nobody else', async () => {
  const shown = await cli(['wallet', 'phrase', '--quiet']);
  expect(shown.stdout).toBe(`${words}\n`);
  const ask = (as: string) => askDaemon(daemon, 'POST', '/api/agents/me/wallet/phrase', { as });
  expect(await ask(daemon.key)).toMatchObject({ status: 401 });
  const bob = await addPerson(daemon, 'bob');
  expect(await ask(bob.login)).toMatchObject({ status: 404 });
  const { secret } = await newToken(daemon, daemon.login, ['*']);
  expect(await ask(secret)).toMatchObject({ status: 401 });
  const { stdout, stderr } = daemon.printed();
  expect(stdout + stderr).not.toContain(words);
});
