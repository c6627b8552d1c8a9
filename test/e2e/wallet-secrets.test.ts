import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FakeNode } from '../support/lightning/fake-node.ts';
import { startFakeNwc } from '../support/lightning/fake-nwc.ts';
import { phoenixdPassword, startFakePhoenixd } from '../support/lightning/fake-phoenixd.ts';
import { runCli } from '../support/run-cli.ts';
import { expectNoSecrets } from '../support/secret-search.ts';
import { startDaemon } from '../support/start-daemon.ts';

interface Backend {
  node: FakeNode;
  /** The arguments of `wallet connect`, and what it reads. */
  connect: string[];
  stdin: string;
  /** What must not be found. */
  secret: Uint8Array;
  close(): Promise<void>;
}

const backends: Record<string, () => Promise<Backend>> = {
  async phoenixd() {
    const { node, url, close } = await startFakePhoenixd();
    const secret = Buffer.from(phoenixdPassword);
    return { node, close, secret, stdin: phoenixdPassword, connect: ['phoenixd', '--url', url] };
  },
  async nwc() {
    const { node, secret: stdin, close } = await startFakeNwc();
    const secret = Buffer.from(new URL(stdin).searchParams.get('secret') ?? '', 'hex');
    expect(secret).toHaveLength(32);
    return { node, close, secret, stdin, connect: ['nwc'] };
  },
};

const config = 'vault: {keychain: false, insecure_plain_file: true}\nlog: {level: trace}\n';

test.each(Object.entries(backends))(
  'no secret of %s is in files, logs, output or backups, also when it fails',
  async (_name, start) => {
    const backend = await start();
    const daemon = await startDaemon({ config });
    let seen = '';
    const cli = async (args: string[], stdin?: string) => {
      const env = { GATEWAY_HOME: daemon.home };
      const ran = await runCli(args, { env, ...(stdin !== undefined && { stdin }) });
      seen += ran.stdout + ran.stderr;
      return ran;
    };
    try {
      const connect = ['wallet', 'connect', ...backend.connect, '--network', 'regtest'];
      expect((await cli(connect, backend.stdin)).code).toBe(0);
      // The phrase of the wallet is printed once, by design.
      const created = await runCli(['wallet', 'create', '--json'], { env: { GATEWAY_HOME: daemon.home } });
      const { mnemonic } = JSON.parse(created.stdout);
      expect((await cli(['wallet', 'fund', '--sats', '5000'])).code).toBe(0);
      expect((await cli(['invoice', 'create', '20', '--json'])).code).toBe(0);
      const pay = (sats: number) =>
        cli(['pay', backend.node.foreignInvoice(sats * 1000), '--max-sats', '100']);
      expect((await pay(10)).code).toBe(0);
      backend.node.next('fail');
      expect((await pay(11)).code).not.toBe(0);
      await backend.close();
      await pay(12);
      for (const args of [['wallet', 'backend', '--json'], ['doctor'], ['status', '--json']]) await cli(args);
      await cli(['config', 'get', '--json']);
      expect((await cli(['backup', join(daemon.home, 'copy')])).code).toBe(0);
      const paid = [...backend.node.outgoing.values()].filter(({ state }) => state === 'succeeded');
      expect(paid).toHaveLength(1);
      const preimages = paid.map(({ preimage }) => preimage);
      await expectNoSecrets(daemon, seen, [backend.secret, Buffer.from(mnemonic), ...preimages]);
    } finally {
      await daemon.stop();
      await backend.close();
    }
  },
);
