import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';

/** Why real Lightning nodes are unavailable; undefined if they are available. */
export const noElectrum = missing();

if (noElectrum !== undefined)
  process.stderr.write(`Tests with real Lightning nodes are skipped: ${noElectrum}\n`);

function missing(): string | undefined {
  const { status } = spawnSync('electrum', ['version', '--offline'], { stdio: 'ignore' });
  return status === 0 ? undefined : 'electrum is not installed (apt-get install electrum)';
}

/** An Electrum daemon with a new wallet, on the regression test network. */
export interface ElectrumNode {
  /** Where its JSON-RPC is served. */
  url: string;
  user: string;
  password: string;
  /** Calls a command by JSON-RPC. Fails with the node's message. */
  // biome-ignore lint/suspicious/noExplicitAny: the commands' answers are what Electrum documents.
  call(method: string, params?: object): Promise<any>;
  /** Ends the process as a crash would, and starts it with the same wallet. */
  crashAndRestart(): Promise<void>;
  close(): Promise<void>;
}

interface ElectrumNodeOptions {
  /** Where the Electrum server listens. */
  serverPort: number;
  /** Where the node listens for its peers; by default it does not. */
  lightningPort?: number;
}

const user = 'gateway';
const password = 'test';

export async function startElectrumNode(options: ElectrumNodeOptions): Promise<ElectrumNode> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-electrum-'));
  await mkdir(join(folder, 'regtest'));
  await writeFile(join(folder, 'regtest', 'config'), JSON.stringify(configOf(options)));
  let child: ChildProcess;
  let url = '';

  const call = async (method: string, params: object = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` },
      body: JSON.stringify({ id: 1, method, params }),
    });
    if (!response.ok) throw new Error(`${method}: ${response.status} ${await response.text()}`);
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const start = async () => {
    await rm(join(folder, 'regtest', 'daemon'), { force: true });
    child = spawn('electrum', ['--regtest', '-D', folder, 'daemon'], { stdio: 'ignore' });
    url = await eventually('the JSON-RPC of Electrum', () => addressIn(join(folder, 'regtest', 'daemon')));
    await eventually('Electrum answers', () =>
      call('ping').then(
        () => true,
        () => false,
      ),
    );
  };
  const kill = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };

  await start();
  await call('create');
  await call('load_wallet');
  return {
    get url() {
      return url;
    },
    user,
    password,
    call,
    async crashAndRestart() {
      await kill();
      await start();
      await call('load_wallet');
    },
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configOf({ serverPort, lightningPort }: ElectrumNodeOptions) {
  return {
    config_version: 3,
    server: `127.0.0.1:${serverPort}:t`,
    oneserver: true,
    auto_connect: false,
    use_gossip: true,
    check_updates: false,
    bolt11_fallback: false,
    lightning_to_self_delay: 144,
    rpcsock: 'tcp',
    rpchost: '127.0.0.1',
    rpcport: 0,
    rpcuser: user,
    rpcpassword: password,
    ...(lightningPort !== undefined && { lightning_listen: `127.0.0.1:${lightningPort}` }),
  };
}

/** The address in the lock file of a running Electrum daemon. */
async function addressIn(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const found = /\('tcp', \('127\.0\.0\.1', (\d+)\)/.exec(text);
  return found === null ? undefined : `http://127.0.0.1:${found[1]}`;
}
