import { ownValue } from '../../shared/json/json-object.ts';
import type { LocalServerName } from '../../shared/known-providers.ts';
import { versionHeader } from '../../shared/version.ts';
import type { World } from '../base/world.ts';
import { objectsOf, textOf } from './json.ts';
import { readList } from './list-models.ts';

/** A model server running on this machine. */
export interface LocalServer {
  name: LocalServerName;
  /** Without a trailing slash. */
  baseUrl: string;
  models: string[];
}

/** The port on which a server listens by default. */
export interface LocalServerPort {
  name: LocalServerName;
  port: number;
}

const defaultPorts: readonly LocalServerPort[] = [
  { name: 'ollama', port: 11434 },
  { name: 'lmstudio', port: 1234 },
  { name: 'llamacpp', port: 8080 },
  { name: 'vllm', port: 8000 },
];

/** Servers by `owned_by` of their models, since any program may use the last two ports. */
const serverByOwner: Record<string, LocalServerName> = {
  library: 'ollama',
  organization_owner: 'lmstudio',
  llamacpp: 'llamacpp',
  vllm: 'vllm',
};

const bytesMax = 8 * 1024 * 1024;

/** The model servers on this machine that answer within the timeout. Never rejects. */
export async function findLocalServers(
  send: World['send'],
  { timeoutMs, ports = defaultPorts }: { timeoutMs: number; ports?: readonly LocalServerPort[] },
): Promise<LocalServer[]> {
  const servers = await Promise.all(ports.map((port) => probe(send, port, timeoutMs)));
  return servers.filter((server) => server !== undefined);
}

async function probe(
  send: World['send'],
  { name, port }: LocalServerPort,
  timeoutMs: number,
): Promise<LocalServer | undefined> {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  try {
    const answer = await send({
      method: 'GET',
      url: `${baseUrl}/models`,
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    // A gateway that finds itself would route calls in circles.
    if (answer.headers[versionHeader] !== undefined) {
      answer.body.cancel();
      return undefined;
    }
    const { data } = await readList(answer, { name: baseUrl, bytesMax });
    if (!Array.isArray(data)) return undefined;
    const models = objectsOf(data).filter(({ id }) => typeof id === 'string');
    const owner = models.map((model) => textOf(model.owned_by)).find((each) => each !== undefined);
    return {
      name: ownValue(serverByOwner, owner) ?? name,
      baseUrl,
      models: models.map(({ id }) => String(id)),
    };
  } catch {
    return undefined;
  }
}
