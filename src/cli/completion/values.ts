import * as addresses from '../addresses.ts';
import type { Context } from '../context.ts';
import { localName, readHostFile } from '../host-file.ts';
import type { Suggestion } from './suggest.ts';

/** A shell waits for the answer, and its user for the shell. */
const patienceMs = 1500;

type Source = (context: Context, signal: AbortSignal) => Promise<Suggestion[]> | Suggestion[];

/**
 * What can stand for a word of a command's help, such as `model`. Nothing where that cannot be told: no daemon runs, it takes too
 * long or refuses.
 */
export async function valuesOf(placeholder: string, noun: string, context: Context): Promise<Suggestion[]> {
  const source = sourceOf(placeholder, noun);
  if (!source) return [];
  try {
    return await source(context, AbortSignal.timeout(patienceMs));
  } catch {
    return [];
  }
}

function sourceOf(placeholder: string, noun: string): Source | undefined {
  if (placeholder === 'file' || placeholder === 'path') return () => [{ value: ':files' }];
  if (placeholder === 'folder') return () => [{ value: ':folders' }];
  if (placeholder === 'id' || placeholder === 'name') return ofNoun.get(noun);
  return named.get(placeholder);
}

const models: Source = async (context, signal) => {
  const { data } = await context.client().call(addresses.listModels, { query: {} }, { signal });
  return data.map(({ id }) => ({ value: id }));
};

const keys: Source = async (context, signal) => {
  const input = { params: { workspace: 'me' }, query: { limit: 100 } };
  const { data } = await context.client().call(addresses.listKeys, input, { signal });
  return data
    .filter(({ status }) => status === 'active')
    .map(({ id, name }) => ({ value: id, meaning: name }));
};

const responses: Source = async (context, signal) => {
  const { data } = await context.client().call(addresses.listResponses, { query: { limit: 50 } }, { signal });
  return data.map(({ id, model, status }) => ({ value: id, meaning: `${model}, ${status}` }));
};

const requests: Source = async (context, signal) => {
  const { data } = await context.client().call(addresses.listTraces, { query: { limit: 50 } }, { signal });
  return data.map(({ request_id, model, status }) => ({ value: request_id, meaning: `${model}, ${status}` }));
};

const workspaces: Source = async (context, signal) => {
  const { data } = await context
    .client()
    .call(addresses.listWorkspaces, { query: { limit: 100 } }, { signal });
  return data.map(({ slug, name }) => ({ value: slug, meaning: name }));
};

const hosts: Source = (context) => [
  { value: localName, meaning: 'the daemon of this machine' },
  ...Object.entries(readHostFile(context).hosts).map(([value, { url }]) => ({ value, meaning: url })),
];

const named = new Map<string, Source>([
  ['model', models],
  ['pattern', models],
  ['key', keys],
  ['response', responses],
  ['request', requests],
  ['workspace', workspaces],
  ['host', hosts],
]);

/** Where the help says `id` or `name`, the noun tells of what. */
const ofNoun = new Map<string, Source>([
  ['keys', keys],
  ['responses', responses],
  ['respond', responses],
  ['host', hosts],
]);
