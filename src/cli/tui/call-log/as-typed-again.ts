import { socketPathOf } from '../../hosts/host-address.ts';
import type { LoggedCall } from './call-log.ts';

/** A word as a POSIX shell reads it back unchanged. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

interface CurlOptions {
  baseUrl: string;
  workspace: string | undefined;
}

/** The call as curl makes it. The key is left to the environment, so that it is in no clipboard and no history. */
export function asCurl({ method, path, body }: LoggedCall, { baseUrl, workspace }: CurlOptions): string {
  const words = ['curl'];
  if (method !== 'GET') words.push('-X', method);
  const socket = socketPathOf(baseUrl);
  if (socket !== undefined) words.push('--unix-socket', shellWord(socket));
  const base = socket === undefined ? baseUrl.replace(/\/+$/, '') : 'http://localhost';
  words.push(shellWord(base + path));
  words.push('-H', '"authorization: Bearer $GATEWAY_KEY"');
  if (workspace !== undefined) words.push('-H', shellWord(`x-workspace-id: ${workspace}`));
  if (body !== undefined) {
    words.push('-H', shellWord('content-type: application/json'), '-d', shellWord(JSON.stringify(body)));
  }
  return words.join(' ');
}

type Words = (call: LoggedCall) => (string | undefined)[];

const param = ({ params }: LoggedCall, name: string) => String(params[name] ?? '');
const option = (flag: string, value: unknown) =>
  value === undefined || value === null ? [] : [flag, String(value)];

/** What a person types for the same. Calls that only the program makes have no command. */
const commandWords: Readonly<Record<string, Words>> = {
  'GET /v1/admin/status': () => ['status'],
  'GET /v1/key': () => ['key'],
  'GET /v1/sessions/current': () => ['whoami'],
  'GET /v1/events': () => ['tail'],
  'GET /v1/models': () => ['models', 'list'],
  'GET /v1/models/{model...}': (call) => ['models', 'show', param(call, 'model')],
  'GET /v1/rates': () => ['rates'],
  'GET /v1/traces': ({ query }) => ['traces', ...option('--limit', query.limit)],
  'GET /v1/traces/{request_id}': (call) => ['traces', param(call, 'request_id')],
  'GET /v1/usage': ({ query }) => [
    'usage',
    ...option('--group-by', query.group_by),
    ...option('--since', query.since),
  ],
  'GET /v1/usage/{request_id}': (call) => ['usage', param(call, 'request_id')],
  'GET /v1/workspaces/{workspace}/keys': () => ['keys', 'list'],
  'GET /v1/workspaces/{workspace}/keys/{key}': (call) => ['keys', 'show', param(call, 'key')],
  'DELETE /v1/workspaces/{workspace}/keys/{key}': (call) => ['keys', 'revoke', param(call, 'key')],
  'POST /v1/workspaces/{workspace}/keys': ({ body }) => [
    'keys',
    'issue',
    ...option('--name', (body as { name?: string } | undefined)?.name),
  ],
  'GET /v1/threads': () => ['threads', 'list'],
  'GET /v1/threads/{id}/messages': (call) => ['threads', 'show', param(call, 'id')],
  'DELETE /v1/threads/{id}': (call) => ['threads', 'delete', param(call, 'id')],
  'GET /api/whispers/threads': () => ['whispers', 'list'],
  'GET /api/whispers': ({ query }) => ['whispers', 'thread', String(query.with ?? '')],
  'GET /api/shouts': () => ['shouts', 'list'],
  'GET /v1/workspaces/{workspace}/provider-keys': () => ['provider-keys', 'list'],
};

/** The call as a `gateway` command; undefined where there is none. */
export function asCommand(call: LoggedCall): string | undefined {
  const words = commandWords[`${call.method} ${call.template}`]?.(call);
  return words && ['gateway', ...words.map((word) => shellWord(word ?? ''))].join(' ');
}
