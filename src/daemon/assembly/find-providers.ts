import { readFile } from 'node:fs/promises';
import type { MakeId } from '../../shared/ids.ts';
import { type Config, ConfigInvalid } from '../config/config.ts';
import { findLocalServers } from '../upstream/local-servers.ts';
import type { SimulatorScript } from '../upstream/simulator/script/script.ts';
import type { World } from '../world.ts';
import {
  configuredProvider,
  knownProvider,
  localProvider,
  type Provider,
  simulatorProvider,
} from './providers.ts';

/** A server on this machine answers at once or is not there. */
const localTimeoutMs = 400;

interface FindNeeds {
  world: World;
  makeId: MakeId;
}

/** The providers that the configuration and the environment name, and the simulator. */
export async function makeProviders(config: Config, { world, makeId }: FindNeeds): Promise<Provider[]> {
  const needs = { world, timeouts: config.timeouts, makeCallId: () => makeId('call') };
  const script = config.simulatorScript === undefined ? undefined : await readScript(config.simulatorScript);
  return [
    ...config.providers.map((account) => knownProvider(account, needs)),
    ...config.upstreams.map((upstream) => configuredProvider(upstream, needs)),
    simulatorProvider(needs, script),
  ];
}

/** Ollama, LM Studio, llama.cpp and vLLM, where they listen; nothing when the configuration does not want it. */
export async function findProviders(config: Config, { world, makeId }: FindNeeds): Promise<Provider[]> {
  if (!config.findsLocalServers) return [];
  const needs = { world, timeouts: config.timeouts, makeCallId: () => makeId('call') };
  const servers = await findLocalServers(world.send, { timeoutMs: localTimeoutMs });
  const configured = new Set(config.upstreams.map((upstream) => upstream.name));
  return servers.filter(({ name }) => !configured.has(name)).map((server) => localProvider(server, needs));
}

async function readScript(path: string): Promise<SimulatorScript> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) throw new ConfigInvalid([{ place: path, message: 'There is no such file.' }]);
  const { parseSimulatorScript } = await import('../upstream/simulator/script/parse-script.ts');
  const parsed = parseSimulatorScript(text, path);
  if ('script' in parsed) return parsed.script;
  throw new ConfigInvalid(
    parsed.faults.map(({ file, line, column, message }) => ({ place: `${file}:${line}:${column}`, message })),
  );
}
