import * as addresses from '../addresses.ts';
import type { Context } from '../context.ts';
import { localName, readHostFile } from '../hosts/host-file.ts';
import * as siteAddresses from '../site-addresses.ts';
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
  if (placeholder === 'id') return ids.get(noun);
  if (placeholder === 'name') return names.get(noun);
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

const threads: Source = async (context, signal) => {
  const { data } = await context.client().call(addresses.listThreads, { query: { limit: 50 } }, { signal });
  return data.map(({ id, title }) => ({ value: id, meaning: title ?? undefined }));
};

const users: Source = async (context, signal) => {
  const { data } = await context.client().call(addresses.listUsers, { query: { limit: 100 } }, { signal });
  return data.map(({ handle, name }) => ({ value: handle, meaning: name }));
};

/** Those that the caller whispered with. */
const people: Source = async (context, signal) => {
  const { data } = await context.client().call(siteAddresses.listWhisperThreads, { query: {} }, { signal });
  return data.map(({ peer }) => ({ value: peer.handle, meaning: peer.name }));
};

const zones: Source = async (context, signal) => {
  const { data } = await context.client().call(siteAddresses.listZones, { query: {} }, { signal });
  return data.map(({ zone, count24h }) => ({ value: zone, meaning: `${count24h} in 24 hours` }));
};

const autopilots: Source = async (context, signal) => {
  const { data } = await context.client().call(siteAddresses.listAutopilots, { query: {} }, { signal });
  return data.map(({ handle, displayName }) => ({ value: handle, meaning: displayName }));
};

const tokens: Source = async (context, signal) => {
  const { data } = await context.client().call(siteAddresses.listTokens, {}, { signal });
  return data.map(({ id, name }) => ({ value: id, meaning: name }));
};

const settings: Source = async (context) => {
  const { env, platform, home } = context;
  const tools = await (await context.daemon()).loadConfigTools();
  const explained = await tools.explain({ env, platform, home });
  return explained.settings.map(({ name }) => ({ value: name }));
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
  ['thread', threads],
  ['user', users],
  ['person', people],
  ['zone', zones],
  ['autopilot', autopilots],
]);

/** Where the help says `id`, the noun tells of what. */
const ids = new Map<string, Source>([
  ['keys', keys],
  ['responses', responses],
  ['respond', responses],
  ['threads', threads],
  ['chats', threads],
  ['tokens', tokens],
]);

/** The same for `name`; elsewhere it is one that somebody makes up. */
const names = new Map<string, Source>([
  ['host', hosts],
  ['config', settings],
]);
