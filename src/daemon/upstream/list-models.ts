import type { ListedModel } from '../features/catalog/index.ts';
import { UpstreamFailure } from '../features/inference/upstream.ts';
import type { World } from '../world.ts';
import type { KnownApi } from './adapter.ts';
import { isObject, parseObject } from './json.ts';
import { upstreamFailureOf } from './network-failures.ts';

export interface ListingPlace {
  /** How it is asked, and how its answers are read. */
  api: Pick<KnownApi, 'keyHeaders' | 'models'>;
  /** Of the provider, for failures. */
  name: string;
  /** Without a slash at its end. */
  baseUrl: string;
  key: string | undefined;
}

const bytesMax = 16 * 1024 * 1024;
const timeoutMs = 15_000;
/** No provider has that many; one that always names a next page is not followed for ever. */
const pagesMax = 20;

/** The models that a provider lists for a key. Rejects with an UpstreamFailure. */
export async function listModels(send: World['send'], place: ListingPlace): Promise<ListedModel[]> {
  const { models: listing } = place.api;
  const models: ListedModel[] = [];
  let page: string | undefined;
  for (let read = 0; read < pagesMax; read += 1) {
    const answer = await readPage(send, place, page);
    const listed = listing.listIn(answer);
    if (!Array.isArray(listed)) throw new UpstreamFailure('broken', `${place.name} listed no models`);
    for (const each of listed) {
      const model = isObject(each) ? listing.read(each) : undefined;
      if (model !== undefined) models.push(model);
    }
    page = listing.nextPage?.(answer);
    if (page === undefined) break;
  }
  return models;
}

async function readPage(
  send: World['send'],
  { api, name, baseUrl, key }: ListingPlace,
  page: string | undefined,
): Promise<Record<string, unknown>> {
  try {
    const answer = await send({
      method: 'GET',
      url: api.models.url(baseUrl, page),
      headers: { accept: 'application/json', ...(key !== undefined && api.keyHeaders(key)) },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.status !== 200) {
      answer.body.cancel();
      const kind = answer.status === 401 || answer.status === 403 ? 'authentication' : 'server';
      const { status } = answer;
      throw new UpstreamFailure(kind, `${name} answered with status ${status}`, { status });
    }
    return parseObject(Buffer.from(await answer.body.bytes(bytesMax)).toString('utf8')) ?? {};
  } catch (error) {
    throw upstreamFailureOf(error, name);
  }
}
