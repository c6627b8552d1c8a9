import type { ListedModel } from '../features/catalog/index.ts';
import { UpstreamFailure } from '../features/inference/upstream.ts';
import type { World } from '../world.ts';
import { isObject, parseObject } from './answer-bodies.ts';
import { upstreamFailureOf } from './upstream-failures.ts';

export type ListingKind = 'openai' | 'anthropic' | 'google' | 'openrouter' | 'vercel' | 'compatible';

export interface ListingPlace {
  kind: ListingKind;
  /** Of the provider, for failures. */
  name: string;
  /** Without a slash at its end. */
  baseUrl: string;
  key: string | undefined;
}

type Json = Record<string, unknown>;

const bytesMax = 16 * 1024 * 1024;
const timeoutMs = 15_000;
/** No provider has that many; one that always names a next page is not followed for ever. */
const pagesMax = 20;

/**
 * The models that a provider lists for a key. Sources: the providers' references of `GET /models`. Rejects with an
 * UpstreamFailure.
 */
export async function listModels(send: World['send'], place: ListingPlace): Promise<ListedModel[]> {
  const models: ListedModel[] = [];
  let page: string | undefined;
  for (let read = 0; read < pagesMax; read += 1) {
    const json = await readPage(send, place, page);
    const listed = place.kind === 'google' ? json.models : json.data;
    if (!Array.isArray(listed)) throw new UpstreamFailure('broken', `${place.name} listed no models`);
    models.push(...listed.filter(isObject).flatMap((model) => readers[place.kind](model) ?? []));
    page = nextPage(place.kind, json);
    if (page === undefined) break;
  }
  return models;
}

async function readPage(
  send: World['send'],
  { kind, name, baseUrl, key }: ListingPlace,
  page: string | undefined,
): Promise<Json> {
  try {
    const answer = await send({
      method: 'GET',
      url: `${baseUrl}${pathOf(kind, page)}`,
      headers: { accept: 'application/json', ...authorization(kind, key) },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.status !== 200) {
      answer.body.cancel();
      const kindOfFailure = answer.status === 401 || answer.status === 403 ? 'authentication' : 'server';
      throw new UpstreamFailure(kindOfFailure, `${name} answered with status ${answer.status}`, {
        status: answer.status,
      });
    }
    return parseObject(Buffer.from(await answer.body.bytes(bytesMax)).toString('utf8')) ?? {};
  } catch (error) {
    throw upstreamFailureOf(error, name);
  }
}

function pathOf(kind: ListingKind, page: string | undefined): string {
  const next = page === undefined ? '' : encodeURIComponent(page);
  if (kind === 'anthropic') return `/v1/models?limit=1000${next && `&after_id=${next}`}`;
  if (kind === 'google') return `/models?pageSize=1000${next && `&pageToken=${next}`}`;
  return '/models';
}

function authorization(kind: ListingKind, key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  if (kind === 'anthropic') return { 'x-api-key': key, 'anthropic-version': '2023-06-01' };
  if (kind === 'google') return { 'x-goog-api-key': key };
  return { authorization: `Bearer ${key}` };
}

function nextPage(kind: ListingKind, json: Json): string | undefined {
  if (kind === 'google') return text(json.nextPageToken);
  if (kind === 'anthropic' && json.has_more === true) return text(json.last_id);
  return undefined;
}

/** One model of each provider's list; undefined for those that answer on other endpoints than these. */
const readers: Record<ListingKind, (model: Json) => ListedModel | undefined> = {
  openai: ({ id, created }) => named(id, { createdAt: count(created) }),
  compatible: ({ id, created }) => named(id, { createdAt: count(created) }),
  anthropic: ({ id, display_name: title, created_at: createdAt }) =>
    named(id, { title: text(title), createdAt: secondsOf(createdAt) }),
  google({ name, displayName, description, inputTokenLimit, outputTokenLimit, supportedGenerationMethods }) {
    const answers = Array.isArray(supportedGenerationMethods)
      ? supportedGenerationMethods.includes('generateContent')
      : true;
    if (!answers) return undefined;
    return named(text(name)?.replace(/^models\//, ''), {
      title: text(displayName),
      description: text(description),
      contextLength: count(inputTokenLimit),
      outputTokensMax: count(outputTokenLimit),
    });
  },
  openrouter(model) {
    const { input_modalities: read, output_modalities: written } = objectOf(model.architecture);
    const {
      prompt,
      completion,
      input_cache_read: cached,
      input_cache_write: write,
    } = objectOf(model.pricing);
    const parameters = Array.isArray(model.supported_parameters) ? model.supported_parameters : undefined;
    if (Array.isArray(written) && !written.includes('text')) return undefined;
    return named(model.id, {
      title: text(model.name),
      description: text(model.description),
      createdAt: count(model.created),
      contextLength: count(model.context_length),
      outputTokensMax: count(objectOf(model.top_provider).max_completion_tokens),
      inputModalities: Array.isArray(read) ? read.filter((kind) => typeof kind === 'string') : undefined,
      ...(parameters && {
        tools: parameters.includes('tools'),
        structuredOutput: parameters.includes('structured_outputs'),
        reasoning: parameters.includes('reasoning'),
        logprobs: parameters.includes('logprobs'),
      }),
      usdPerToken: pricing(prompt, completion, cached, write),
    });
  },
  vercel(model) {
    const { input, output, input_cache_read: cached, input_cache_write: write } = objectOf(model.pricing);
    if (model.type !== undefined && model.type !== 'language') return undefined;
    return named(model.id, {
      title: text(model.name),
      description: text(model.description),
      createdAt: count(model.created),
      contextLength: count(model.context_window),
      outputTokensMax: count(model.max_tokens),
      usdPerToken: pricing(input, output, cached, write),
    });
  },
};

function named(id: unknown, rest: Omit<ListedModel, 'name'>): ListedModel | undefined {
  const name = text(id);
  return name === undefined ? undefined : { name, ...rest };
}

function pricing(input: unknown, output: unknown, cachedInput: unknown, cacheWrite: unknown) {
  const [inputUsd, outputUsd] = [text(input), text(output)];
  if (inputUsd === undefined || outputUsd === undefined) return undefined;
  return { input: inputUsd, output: outputUsd, cachedInput: text(cachedInput), cacheWrite: text(cacheWrite) };
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** What is too long to be a name or a description is none. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= 20_000 ? value : undefined;
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : undefined;
}

function secondsOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return ms > 0 ? Math.floor(ms / 1000) : undefined;
}
