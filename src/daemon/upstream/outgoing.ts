import type { Proxies } from '../../shared/proxies.ts';
import {
  type Config,
  ConfigInvalid,
  type ConfiguredUpstream,
  type ProviderAccount,
} from '../config/config.ts';
import type { World } from '../world.ts';
import { createNetwork, type NetworkSettings } from './network.ts';

export interface Outgoing {
  send: World['send'];
  /** The configuration as it holds for this way out: recorded providers need no key. */
  config: Config;
  /** Another configuration, so that it holds for this way out. */
  adaptConfigForReplay: (config: Config) => Config;
  /** Resolves when nothing is under way any more and everything is written. */
  close(): Promise<void>;
}

interface OutgoingDeps {
  elapsed: () => number;
  log: { warn(details: object, message: string): void };
  stderr: { write(text: string): unknown };
}

/** The way to the providers: the network, a recorder before it, or recordings in its place. */
export async function createOutgoing(config: Config, deps: OutgoingDeps): Promise<Outgoing> {
  const { record, replay } = config.recordings;
  if (record === undefined && replay === undefined)
    return { ...(await networkOf(config)), config, adaptConfigForReplay: same };
  return await withRecordings(config, deps);
}

async function networkOf({ timeouts, proxies }: Config) {
  return createNetwork({
    connectTimeoutMs: timeouts.connectMs,
    proxied: proxies && (await proxiedBy(proxies)),
  });
}

/** Most machines have no proxy, and need not load what speaks to one. */
async function proxiedBy(proxies: Proxies): Promise<NetworkSettings['proxied']> {
  const { throughProxies } = await import('./network-proxies.ts');
  return (options) => throughProxies(proxies, options);
}

async function withRecordings(config: Config, { elapsed, log, stderr }: OutgoingDeps): Promise<Outgoing> {
  const { record, replay, replaySpeed } = config.recordings;
  const { createRecorder, createReplayer, readRecordings, recordedProviders } = await import(
    './recordings/index.ts'
  );
  // In a replay there is nothing that could reach another host.
  const network = record === undefined ? undefined : await networkOf(config);
  const recorder =
    network &&
    (await createRecorder({
      folder: record as string,
      send: network.send,
      now: () => Date.now(),
      elapsed,
      onFailure: (error) => log.warn({ err: error }, 'a call could not be recorded'),
    }));
  const close = async () => {
    await network?.close();
    await recorder?.written();
  };
  if (replay === undefined)
    return { send: recorder?.send as World['send'], config, adaptConfigForReplay: same, close };
  const read = await readRecordings(replay).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return folderMissing(replay, record);
    throw error;
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

/** A folder that is about to be recorded into may be replayed from before it is there. */
function folderMissing(folder: string, record: string | undefined): { recordings: [] } {
  if (folder === record) return { recordings: [] };
  throw new ConfigInvalid([{ place: folder, message: 'There is no such folder to replay from.' }]);
}

const same = (config: Config) => config;

const standIn = 'replayed';

type Keyed = Pick<ProviderAccount | ConfiguredUpstream, 'name' | 'key' | 'headers'>;

/** Who answers from recordings asks for neither key nor header. */
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
