import type { IncomingAnswer, World } from '../base/world.ts';
import type { ListedModel } from '../features/catalog/index.ts';
import { UpstreamFailure } from '../features/upstreams/upstream.ts';
import type { ProviderApi, ProviderSettings } from './adapter.ts';
import { isObject, type Json, parseObject } from './json.ts';
import { upstreamFailureOf } from './network-failures.ts';

export interface ListModelsOptions extends ProviderSettings {
  api: Pick<ProviderApi, 'keyHeaders' | 'models'>;
  key: string | undefined;
}

const bytesMax = 16 * 1024 * 1024;
const timeoutMs = 15_000;
/** More than any provider has, so that pagination always ends. */
const pagesMax = 20;

/** The models that a provider lists for a key. Rejects with an UpstreamFailure. */
export async function listModels(send: World['send'], options: ListModelsOptions): Promise<ListedModel[]> {
  const { models: listing } = options.api;
  const models: ListedModel[] = [];
  let page: string | undefined;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const answer = await readPage(send, options, page);
    const entries = listing.listIn(answer);
    if (!Array.isArray(entries))
      throw new UpstreamFailure('broken', `${options.name} returned no list of models`);
    for (const entry of entries) {
      const model = isObject(entry) ? listing.read(entry) : undefined;
      if (model !== undefined) models.push(model);
    }
    page = listing.nextPage?.(answer);
    if (page === undefined) break;
  }
  return models;
}

async function readPage(
  send: World['send'],
  { api, name, baseUrl, key }: ListModelsOptions,
  page: string | undefined,
): Promise<Json> {
  try {
    const answer = await send({
      method: 'GET',
      url: api.models.url(baseUrl, page),
      headers: { accept: 'application/json', ...(key !== undefined && api.keyHeaders(key)) },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return await readList(answer, { name, bytesMax });
  } catch (error) {
    throw upstreamFailureOf(error, name);
  }
}

/** The JSON object of a successful response; throws an UpstreamFailure for another status. */
export async function readList(
  { status, body }: IncomingAnswer,
  { name, bytesMax }: { name: string; bytesMax: number },
): Promise<Json> {
  if (status !== 200) {
    body.cancel();
    const kind = status === 401 || status === 403 ? 'authentication' : 'server';
    throw new UpstreamFailure(kind, `${name} answered with status ${status}`, { status });
  }
  const text = Buffer.from(await body.bytes(bytesMax)).toString('utf8');
  // Together's is the list alone. Source: maximhq/bifrost#6711.
  return parseObject(text) ?? parseObject(`{"data":${text}}`) ?? {};
}
