import { bypassOf } from '../../shared/http/no-proxy.ts';
import type { Proxies } from '../../shared/proxies.ts';
import type { Log } from '../base/log.ts';
import type { World } from '../base/world.ts';
import { type Config, ConfigInvalid } from '../config/config.ts';
import type { ConfiguredUpstream, ProviderAccount } from '../config/settings/calls.ts';
import { publicLookup } from '../reverse-proxy/address-guard.ts';
import { createNetwork, type Network, type NetworkSettings } from './network.ts';

export interface ProviderNetwork {
  send: World['send'];
  /** The configuration to use: with a replay, recorded providers need no key. */
  config: Config;
  /** Adapts a reloaded configuration in the same way. */
  adaptConfigForReplay: (config: Config) => Config;
  /** Resolves when all requests have ended and all recordings are written. */
  close(): Promise<void>;
}

interface ProviderNetworkDeps {
  elapsed: () => number;
  log: Pick<Log, 'warn'>;
  stderr: { write(text: string): unknown };
}

/** Creates the way to the providers: the network, optionally recorded, or recordings instead of it. */
export async function createProviderNetwork(
  config: Config,
  deps: ProviderNetworkDeps,
): Promise<ProviderNetwork> {
  const { record, replay } = config.recordings;
  if (record === undefined && replay === undefined)
    return { ...(await networkOf(config)), config, adaptConfigForReplay: unchanged };
  return await withRecordings(config, deps);
}

async function networkOf({ timeouts, proxies }: Config) {
  return await createProxiedNetwork(
    { connectTimeoutMs: timeouts.connectMs, publicLookup: publicLookup() },
    proxies,
  );
}

/** The network, through the proxies that are configured. */
export async function createProxiedNetwork(
  settings: Omit<NetworkSettings, 'proxied' | 'bypasses'>,
  proxies: Proxies | undefined,
): Promise<Network> {
  if (proxies === undefined) return createNetwork(settings);
  const bypasses = bypassOf(proxies.except);
  return createNetwork({ ...settings, proxied: await proxiedBy(proxies), bypasses });
}

/** Loaded only if a proxy is configured. */
async function proxiedBy(proxies: Proxies): Promise<NetworkSettings['proxied']> {
  const { throughProxies } = await import('./network-proxies.ts');
  return (options) => throughProxies(proxies, options);
}

async function withRecordings(
  config: Config,
  { elapsed, log, stderr }: ProviderNetworkDeps,
): Promise<ProviderNetwork> {
  const { record, replay, replaySpeed } = config.recordings;
  const { createRecorder, createReplayer, readRecordings, recordedProviders } = await import(
    './recordings/index.ts'
  );
  // A replay has nothing that could reach another host.
  const network = record === undefined ? undefined : await networkOf(config);
  const recorder =
    network &&
    (await createRecorder({
      folder: record as string,
      send: network.send,
      now: () => Date.now(),
      elapsed,
      onFailure: (error) => log.warn({ err: error }, 'a call could not be recorded'),
    }).catch((error) => folderUnusable(record as string, error)));
  const close = async () => {
    await network?.close();
    await recorder?.written();
  };
  if (replay === undefined)
    return { send: recorder?.send as World['send'], config, adaptConfigForReplay: unchanged, close };
  const read = await readRecordings(replay).catch((error: NodeJS.ErrnoException) => {
    // With `--record` and `--replay` of the same folder, it need not exist yet.
    if (error.code === 'ENOENT' && replay === record) return { recordings: [] };
    return folderUnusable(replay, error);
  });
  if ('faults' in read) {
    throw new ConfigInvalid(
      read.faults.map(({ file, line, column, message }) => ({ place: `${file}:${line}:${column}`, message })),
    );
  }
  const { recordings } = read;
  const send = createReplayer({
    recordings,
    speed: replaySpeed,
    world: { sleep: sleepFor, elapsed },
    fallback: recorder?.send,
    onMissing: (message) => stderr.write(`${message}\n`),
  });
  const adaptConfigForReplay = (other: Config) => withStandInKeys(other, recordedProviders(recordings));
  return { send, config: adaptConfigForReplay(config), adaptConfigForReplay, close };
}

/** Explains an error of the file system about a folder of recordings. */
function folderUnusable(folder: string, error: NodeJS.ErrnoException): never {
  const { code = '', syscall } = error;
  if (syscall === undefined) throw error;
  const known: Record<string, string> = {
    ENOENT: 'The folder does not exist.',
    ENOTDIR: 'It is not a folder.',
    EEXIST: 'It is not a folder.',
  };
  const unknown = `The folder cannot be ${syscall === 'mkdir' ? 'created' : 'read'} (${code}).`;
  throw new ConfigInvalid([{ place: folder, message: known[code] ?? unknown }]);
}

const unchanged = (config: Config) => config;

const standIn = 'replayed';

type Keyed = Pick<ProviderAccount | ConfiguredUpstream, 'name' | 'key' | 'headers'>;

/** Recorded providers need neither keys nor headers. */
function withStandInKeys(config: Config, recorded: ReadonlySet<string>): Config {
  const keyed = <T extends Keyed>(account: T): T =>
    recorded.has(account.name)
      ? { ...account, key: account.key ?? standIn, headers: { ...account.headers, lacking: undefined } }
      : account;
  return { ...config, providers: config.providers.map(keyed), upstreams: config.upstreams.map(keyed) };
}

async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  const { setTimeout: sleep } = await import('node:timers/promises');
  await sleep(ms, undefined, { signal });
}
