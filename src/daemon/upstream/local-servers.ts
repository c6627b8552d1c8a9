import { versionHeader } from '../../shared/version.ts';
import { UpstreamFailure } from '../features/inference/upstream.ts';
import type { World } from '../world.ts';
import { isObject, parseObject } from './json.ts';
import { bearerHeaders } from './providers/openai-chat/adapter.ts';

export type LocalServerName = 'ollama' | 'lmstudio' | 'llamacpp' | 'vllm';

/** A model server that runs on this machine. */
export interface LocalServer {
  name: LocalServerName;
  /** Without a slash at the end. */
  baseUrl: string;
  models: string[];
}

export interface LocalPlace {
  name: LocalServerName;
  port: number;
}

/** Where the servers listen unless they are told otherwise. */
const localPlaces: readonly LocalPlace[] = [
  { name: 'ollama', port: 11434 },
  { name: 'lmstudio', port: 1234 },
  { name: 'llamacpp', port: 8080 },
  { name: 'vllm', port: 8000 },
];

/** By `owned_by` of its models, since the last two ports are everybody's. */
const owners: Record<string, LocalServerName> = {
  library: 'ollama',
  organization_owner: 'lmstudio',
  llamacpp: 'llamacpp',
  vllm: 'vllm',
};

const listBytesMax = 8 * 1024 * 1024;

interface ListedModel {
  id: string;
  owner: string | undefined;
}

/** The model servers of this machine that answer in time; never fails. */
export async function findLocalServers(
  send: World['send'],
  { timeoutMs, places = localPlaces }: { timeoutMs: number; places?: readonly LocalPlace[] },
): Promise<LocalServer[]> {
  const found = await Promise.all(places.map((place) => probe(send, place, timeoutMs)));
  return found.filter((server) => server !== undefined);
}

async function probe(
  send: World['send'],
  { name, port }: LocalPlace,
  timeoutMs: number,
): Promise<LocalServer | undefined> {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  try {
    const models = await list(send, baseUrl, timeoutMs);
    const owner = models.find((model) => model.owner !== undefined)?.owner ?? '';
    const told = Object.hasOwn(owners, owner) ? owners[owner] : undefined;
    return { name: told ?? name, baseUrl, models: models.map(({ id }) => id) };
  } catch {
    return undefined;
  }
}

async function list(send: World['send'], baseUrl: string, timeoutMs: number): Promise<ListedModel[]> {
  const answer = await send({
    method: 'GET',
    url: `${baseUrl}/models`,
    headers: bearerHeaders(undefined, undefined),
    signal: AbortSignal.timeout(timeoutMs),
  });
  // A gateway that finds itself would route calls in circles.
  const isModelServer = answer.status === 200 && answer.headers[versionHeader] === undefined;
  if (!isModelServer) {
    answer.body.cancel();
    const kind = answer.status === 401 || answer.status === 403 ? 'authentication' : 'server';
    throw new UpstreamFailure(kind, `${baseUrl} listed no models`, { status: answer.status });
  }
  const json = parseObject(Buffer.from(await answer.body.bytes(listBytesMax)).toString('utf8'));
  if (!Array.isArray(json?.data)) throw new UpstreamFailure('broken', `${baseUrl} listed no models`);
  return json.data.flatMap((model: unknown) =>
    isObject(model) && typeof model.id === 'string'
      ? [{ id: model.id, owner: typeof model.owned_by === 'string' ? model.owned_by : undefined }]
      : [],
  );
}
