import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { restore } from '../../src/daemon/process/restore.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { phoenixdPassword, startFakePhoenixd } from '../support/lightning/fake-phoenixd.ts';
import { runCli } from '../support/run-cli.ts';
import { askDaemon } from '../support/users.ts';

const env = { GATEWAY_WALLET_SECRET: phoenixdPassword };
const amountSats = 100;
const count = 10;
/** Milliseconds after the start of a daemon at which it is killed. */
const moments = [0, 8, 25, 60, 150];

test('what a node received since a backup is credited once, whenever daemons that compare it are killed', async () => {
  const { node, url, close } = await startFakePhoenixd();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-killed-restore-'));
  let daemon: ChildDaemon = await startChildDaemon({
    env,
    config: `vault: {keychain: false, insecure_plain_file: true}\nwallet: {backend: phoenixd, network: regtest, url: "${url}"}\n`,
  });
  onTestFinished(async () => {
    await daemon.remove();
    await close();
    await rm(folder, { recursive: true });
  });
  const ask = (method: string, path: string, json?: object) =>
    askDaemon(daemon, method, path, { as: daemon.login, ...(json && { json }) });
  const newInvoices = async () => {
    const made: string[] = [];
    for (let number = 0; number < count; number += 1) {
      const { body } = await ask('POST', '/api/payments/invoice', { amountSats });
      made.push(body.data.invoice.paymentRequest);
    }
    return made;
  };
  await ask('POST', '/api/agents/me/wallet', {});
  const open = await newInvoices();
  const backup = join(folder, 'backup.db');
  expect(await runCli(['backup', backup], { env: { GATEWAY_HOME: daemon.home } })).toMatchObject({ code: 0 });
  const unknown = await newInvoices();
  for (const invoice of [...open, ...unknown]) node.receive(invoice);
  daemon.signal('SIGTERM');
  await daemon.ended;
  const { home } = daemon;
  const options = { backup, dataFolder: home, env: { GATEWAY_HOME: home }, onProgress: () => {} };
  expect(await restore(options)).not.toHaveProperty('problem');
  for (const ms of moments) {
    daemon = await startChildDaemon({ home, env });
    await wait(ms);
    daemon.signal('SIGKILL');
    await daemon.ended;
  }
  daemon = await startChildDaemon({ home, env });
  await eventually('the wallets are reconciled', async () => {
    const { body } = await ask('POST', '/v1/admin/wallet-backend/reconcile', {});
    return body.state === 'ended';
  });
  const { body } = await ask('GET', '/api/agents/me/balance');
  expect(body.data).toMatchObject({ balanceSats: 2 * count * amountSats, problem: null });
  expect((await ask('POST', '/v1/admin/ledger/verify')).body).toMatchObject({ ok: true, problems: [] });
});
