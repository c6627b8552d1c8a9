import type { Key } from '../../shared/contract/keys.ts';
import {
  getModel,
  listAutopilots,
  listCredit,
  listKeys,
  listMembers,
  listSessions,
  listThreads,
  listTokens,
  listUsers,
  listWorkspaces,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { isInUse } from '../../view/key-names.ts';
import type { Context } from '../context.ts';
import { CliError } from '../failures/cli-error.ts';
import { collectPages } from '../hosts/pages.ts';
import { escapeControls } from '../output/escape-controls.ts';
import { loginsOf } from './key-names.ts';

const rowsMax = 1000;

interface Named {
  id: string;
  /** A name that no other row has, which the daemon accepts as well: a slug or a handle. */
  handle?: string | undefined;
  name: string | null;
}

/**
 * The id of what the user gave by its name. What is already an id or a handle, what the daemon alone can judge, and what the
 * caller may not list is returned as it was given. Fails if several rows have the name.
 */
async function resolve(given: string, noun: string, list: () => Promise<Named[]>): Promise<string> {
  const rows = await list().catch((error: unknown) => {
    if (error instanceof ReceivedError) return [];
    throw error;
  });
  return idIn(rows, given, noun) ?? given;
}

/** What the user gave for a row, with its id if it was a name: `my-app (key_01jd…)`. */
export function asGiven(given: string, id: string): string {
  return given === id ? id : `${given} (${id})`;
}

/** The input itself if it is the id or handle of a row, else the id of the row with this name; undefined if there is none. */
function idIn(rows: Named[], given: string, noun: string): string | undefined {
  if (rows.some(({ id, handle }) => id === given || handle === given)) return given;
  return uniqueId(given, noun, named(given, rows));
}

/** The rows with this name; if there are none, in any letter case, or the one that lists show by the end of its id. */
function named<Row extends { id: string; name: string | null }>(given: string, rows: Row[]): Row[] {
  const exact = rows.filter(({ name }) => name === given);
  if (exact.length > 0) return exact;
  const shown = rows.filter(({ id, name }) => given === `${name} (…${id.slice(-4)})`);
  if (shown.length > 0) return shown;
  return rows.filter(({ name }) => name?.toLowerCase() === given.toLowerCase());
}

function uniqueId(given: string, noun: string, rows: { id: string }[]): string | undefined {
  if (rows.length < 2) return rows[0]?.id;
  const ids = rows.map(({ id }) => id).join(', ');
  throw new CliError(`${rows.length} ${noun}s are named "${escapeControls(given)}": ${ids}.`, {
    exit: exitCodes.failed,
    next: 'Use the id instead of the name.',
  });
}

/** Resolves one of the caller's workspaces, given by id, slug or name. */
export async function resolveWorkspace(context: Context, given: string): Promise<string> {
  if (given === 'me' || given.startsWith('ws_')) return given;
  // Without the workspace in use, which the user may have left.
  const client = context.clientFor({ ...context.host(), workspace: undefined });
  return resolve(given, 'workspace', async () => {
    const rows = await collectPages(rowsMax, (query) => client.call(listWorkspaces, { query }));
    return rows.map(({ id, slug, name }) => ({ id, handle: slug, name }));
  });
}

/** Resolves any workspace of the host, for its owner. */
export async function resolveAnyWorkspace(context: Context, given: string): Promise<string> {
  if (given === 'me' || given.startsWith('ws_')) return given;
  return resolve(given, 'workspace', async () => {
    const { data } = await context.client().call(listCredit, { query: {} });
    return data.map(({ workspace: id, slug, name }) => ({ id, handle: slug, name }));
  });
}

/** Resolves a member of a workspace, given by id, handle or name. */
export async function resolveMember(context: Context, workspace: string, given: string): Promise<string> {
  if (given === 'me' || given.startsWith('usr_')) return given;
  return resolve(given, 'member', async () => {
    const params = { workspace };
    const rows = await collectPages(rowsMax, (query) =>
      context.client().call(listMembers, { params, query }),
    );
    return rows.map(({ user }) => user);
  });
}

/** Resolves a user of the host, given by id, handle or name. */
export async function resolveUser(context: Context, given: string): Promise<string> {
  if (given === 'me' || given.startsWith('usr_')) return given;
  return resolve(given, 'user', () =>
    collectPages(rowsMax, (query) => context.client().call(listUsers, { query })),
  );
}

/** Resolves a thread, given by id or title. */
export async function resolveThread(context: Context, given: string): Promise<string> {
  if (given.startsWith('th_')) return given;
  return resolve(given, 'thread', async () => {
    const rows = await collectPages(rowsMax, (query) => context.client().call(listThreads, { query }));
    return rows.map(({ id, title }) => ({ id, name: title }));
  });
}

/** Resolves one of the caller's autopilots, given by id, handle or name. Fails if there is none. */
export async function resolveAutopilot(context: Context, given: string): Promise<string> {
  const limit = 200;
  const { data } = await context.client().call(listAutopilots, { query: { limit } });
  const rows = data.map(({ id, handle, displayName }) => ({ id, handle, name: displayName }));
  const id = idIn(rows, given, 'autopilot');
  if (id !== undefined) return id;
  if (data.length === limit) return given;
  throw new CliError(`You have no autopilot "${escapeControls(given)}".`, {
    exit: exitCodes.failed,
    next: 'List what exists: gateway autopilots list',
  });
}

/** Resolves one of the caller's access tokens, given by id or name. */
export async function resolveToken(context: Context, given: string): Promise<string> {
  if (given.startsWith('tok_')) return given;
  return resolve(given, 'access token', async () => (await context.client().call(listTokens, {})).data);
}

/** Resolves one of the caller's logins, given by id or name. */
export async function resolveSession(context: Context, given: string): Promise<string> {
  if (given.startsWith('key_')) return given;
  return resolve(given, 'login', () =>
    collectPages(rowsMax, (query) => context.client().call(listSessions, { query })),
  );
}

/** Resolves a model, given by any name that a call can use; one that is no longer offered is returned as it was given. */
async function resolveModel(context: Context, given: string): Promise<string> {
  const found = await context
    .client()
    .call(getModel, { params: { model: given } })
    .catch((error: unknown) => {
      if (error instanceof ReceivedError) return undefined;
      throw error;
    });
  return found?.id ?? given;
}

interface KeyReference {
  workspace: string;
  key: string;
}

/** Resolves a key given by its id, or by the name of exactly one active key; or else of a revoked one, if that `canBeRevoked`. */
export async function resolveKey(
  context: Context,
  reference: KeyReference,
  { canBeRevoked = false } = {},
): Promise<string> {
  const { key } = reference;
  if (key.startsWith('key_')) return key;
  const keys = await keysOf(context, reference);
  const active = named(key, keys.filter(isInUse));
  const id =
    uniqueId(key, 'active key', active) ??
    (canBeRevoked ? uniqueId(key, 'key', named(key, keys)) : undefined);
  if (id !== undefined) return id;
  throw new CliError(`No active key is named "${escapeControls(key)}".`, {
    exit: exitCodes.failed,
    next: 'List the keys: gateway keys list',
  });
}

/** Resolves the key or login of past calls, which may be revoked by now; an active one of the name is preferred. */
async function resolvePastKey(context: Context, key: string): Promise<string> {
  if (key.startsWith('key_')) return key;
  const logins = (await loginsOf(context.client())).map(({ id, name }) => ({
    id,
    name,
    status: 'active' as const,
  }));
  const all = named(key, [...(await keysOf(context, { workspace: 'me', key })), ...logins]);
  const active = all.filter(isInUse);
  const id = uniqueId(key, 'key', active.length > 0 ? active : all);
  if (id !== undefined) return id;
  throw new CliError(`No key is named "${escapeControls(key)}".`, {
    exit: exitCodes.failed,
    next: 'List the keys: gateway keys list',
  });
}

interface CallFilter {
  key?: string | undefined;
  model?: string | undefined;
}

/** A filter of past calls with the ids of its key and model. */
export async function resolveFilter<F extends CallFilter>(context: Context, filter: F): Promise<F> {
  const { key, model } = filter;
  return {
    ...filter,
    ...(key !== undefined && { key: await resolvePastKey(context, key) }),
    ...(model !== undefined && { model: await resolveModel(context, model) }),
  };
}

function keysOf(context: Context, { workspace }: KeyReference): Promise<Key[]> {
  return collectPages(rowsMax, (query) => context.client().call(listKeys, { params: { workspace }, query }));
}
