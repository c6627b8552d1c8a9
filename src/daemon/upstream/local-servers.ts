import { ownValue } from '../../shared/json/json-object.ts';
import type { LocalServerName } from '../../shared/known-providers.ts';
import { versionHeader } from '../../shared/version.ts';
import type { World } from '../base/world.ts';
import type { ListedModel } from '../features/catalog/index.ts';
import { isObject, type Json, textOf } from './json.ts';
import { readList } from './list-models.ts';
import { compatibleListing } from './providers/compatible-model.ts';

/** A model server running on this machine. */
export interface LocalServer {
  name: LocalServerName;
  /** Without a trailing slash. */
  baseUrl: string;
  models: ListedModel[];
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

/**
 * Where a server lists its models with the context that each has, or has once it is loaded: its list in OpenAI's format has only names.
 * Source: LM Studio's REST API, Ollama's API.
 */
const detailPaths: Partial<Record<LocalServerName, string>> = {
  lmstudio: '/api/v0/models',
  ollama: '/api/ps',
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
  const origin = `http://127.0.0.1:${port}`;
  const baseUrl = `${origin}/v1`;
  const listAt = async (url: string): Promise<Json[] | undefined> => {
    const answer = await send({
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    // A gateway that finds itself would route calls in circles.
    if (answer.headers[versionHeader] !== undefined) {
      answer.body.cancel();
      return undefined;
    }
    const list = compatibleListing.listIn(await readList(answer, { name: baseUrl, bytesMax }));
    return Array.isArray(list) ? list.filter(isObject) : undefined;
  };
  try {
    const entries = await listAt(`${baseUrl}/models`);
    if (entries === undefined) return undefined;
    const owner = entries.map((model) => textOf(model.owned_by)).find((each) => each !== undefined);
    const foundName = ownValue(serverByOwner, owner) ?? name;
    const path = detailPaths[foundName];
    const details = path === undefined ? [] : await listAt(origin + path).catch(() => undefined);
    return { name: foundName, baseUrl, models: modelsIn(entries, details ?? []) };
  } catch {
    return undefined;
  }
}

/** Without the times of their creation, which some servers give as that of the request. */
function modelsIn(entries: readonly Json[], details: readonly Json[]): ListedModel[] {
  const detailsOf = new Map(details.map((each) => [each.id ?? each.name, each]));
  return entries.flatMap((entry) => {
    const model = compatibleListing.read({ ...entry, ...detailsOf.get(entry.id), created: undefined });
    return model === undefined ? [] : [model];
  });
}
