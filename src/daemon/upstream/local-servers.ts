import { ownValue } from '../../shared/json/json-object.ts';
import type { LocalServerName } from '../../shared/known-providers.ts';
import { bareValue } from '../../shared/text/bare-value.ts';
import { trimEnd } from '../../shared/text/trim-text.ts';
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

/** Where a server may listen. */
export interface LocalServerPlace {
  name: LocalServerName;
  /** Without a trailing slash, and without `/v1`. */
  origin: string;
}

/** The ports on which the servers listen by default. */
const ports: Readonly<Record<LocalServerName, number>> = {
  ollama: 11434,
  lmstudio: 1234,
  llamacpp: 8080,
  vllm: 8000,
};

/** Where the servers listen, Ollama as its variable `OLLAMA_HOST` says. */
export function localServerPlaces(ollamaHost: string | undefined): LocalServerPlace[] {
  const ollama = ollamaHost === undefined ? undefined : ollamaOrigin(ollamaHost);
  return Object.entries(ports).map(([name, port]) => ({
    name: name as LocalServerName,
    origin: (name === 'ollama' ? ollama : undefined) ?? `http://127.0.0.1:${port}`,
  }));
}

/**
 * Reads `OLLAMA_HOST`, in which all parts are optional, and which also tells the server on which addresses to listen; undefined for what is
 * no address, and for Ollama's own service, which needs a key. Source: Ollama's FAQ.
 */
function ollamaOrigin(written: string): string | undefined {
  const [, scheme, place = '', path = ''] =
    /^(?:(https?):\/\/)?([^/]*)(\/.*)?$/i.exec(bareValue(written)) ?? [];
  const host = /^[\da-f]*(:[\da-f]*){2,}$/i.test(place)
    ? `[${place}]`
    : place.replace(/^(?=:|$)/, '127.0.0.1');
  const url = URL.parse(
    `${scheme ?? 'http'}://${host}${scheme || /:\d+$/.test(host) ? '' : `:${ports.ollama}`}`,
  );
  if (!url || /(^|\.)ollama\.com$/.test(url.hostname)) return undefined;
  // On all addresses: it is reached at its own.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  return url.origin + trimEnd(path, '/');
}

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

/** The model servers at these places that answer within the timeout. Never rejects. */
export async function findLocalServers(
  send: World['send'],
  { timeoutMs, places }: { timeoutMs: number; places: readonly LocalServerPlace[] },
): Promise<LocalServer[]> {
  const servers = await Promise.all(places.map((place) => probe(send, place, timeoutMs)));
  return servers.filter((server) => server !== undefined);
}

async function probe(
  send: World['send'],
  { name, origin }: LocalServerPlace,
  timeoutMs: number,
): Promise<LocalServer | undefined> {
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
