import { isObject, type JsonObject as Json } from '../../shared/json/json-object.ts';
import { parseExactly } from '../../shared/json/json-text.ts';
import type { BodyEdits } from '../features/providers/index.ts';
import type { Dropped } from '../features/upstreams/upstream.ts';
import type { Adapter, EmbeddingsAdapter, ProviderRequest } from './adapter.ts';

/** An adapter whose requests are changed as the configuration says. */
export function withEdits(adapter: Adapter, edits: BodyEdits): Adapter {
  if (!hasAny(edits)) return adapter;
  const { countRequest } = adapter;
  return {
    ...adapter,
    request: (call) => edited(adapter.request(call), edits),
    ...(countRequest && {
      countRequest(call) {
        const request = countRequest(call);
        return request && { ...request, body: edit(request.body, edits).body };
      },
    }),
  };
}

/** The same for embeddings. */
export function withEmbeddingEdits(adapter: EmbeddingsAdapter, edits: BodyEdits): EmbeddingsAdapter {
  if (!hasAny(edits)) return adapter;
  return { ...adapter, request: (call, inputs) => edited(adapter.request(call, inputs), edits) };
}

function hasAny({ drop = [], rename = {} }: BodyEdits): boolean {
  return drop.length > 0 || Object.keys(rename).length > 0;
}

function edited(request: ProviderRequest, edits: BodyEdits): ProviderRequest {
  const { body, dropped } = edit(request.body, edits);
  if (dropped.length === 0) return { ...request, body };
  return { ...request, body, dropped: [...(request.dropped ?? []), ...dropped] };
}

function edit(text: string, { drop = [], rename = {} }: BodyEdits): { body: string; dropped: Dropped[] } {
  const body = parseExactly(text);
  if (!isObject(body)) return { body: text, dropped: [] };
  const dropped = drop.filter((path) => remove(body, path.split('.'))).map((param) => ({ param }));
  for (const [from, to] of Object.entries(rename)) move(body, from.split('.'), to.split('.'));
  return { body: JSON.stringify(body), dropped };
}

/** Whether there was something to remove. */
function remove(value: unknown, [name = '', ...rest]: readonly string[]): boolean {
  if (Array.isArray(value)) return value.filter((one) => remove(one, [name, ...rest])).length > 0;
  if (!isObject(value) || !Object.hasOwn(value, name)) return false;
  if (rest.length > 0) return remove(value[name], rest);
  delete value[name];
  return true;
}

function move(body: Json, from: readonly string[], to: readonly string[]): void {
  const source = objectAt(body, from.slice(0, -1));
  const name = from.at(-1) ?? '';
  if (source === undefined || !Object.hasOwn(source, name)) return;
  const value = source[name];
  delete source[name];
  let place: Json = body;
  for (const step of to.slice(0, -1)) {
    const next = Object.hasOwn(place, step) ? place[step] : undefined;
    const object: Json = isObject(next) ? next : {};
    place[step] = object;
    place = object;
  }
  place[to.at(-1) ?? ''] = value;
}

function objectAt(body: Json, path: readonly string[]): Json | undefined {
  let place: unknown = body;
  for (const name of path) place = isObject(place) && Object.hasOwn(place, name) ? place[name] : undefined;
  return isObject(place) ? place : undefined;
}
