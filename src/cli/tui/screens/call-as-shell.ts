import type { Address } from '../../../shared/client.ts';
import * as addresses from '../../addresses.ts';
import { socketPathOf } from '../../hosts/host-address.ts';
import * as siteAddresses from '../../site-addresses.ts';
import type { LoggedCall } from '../services/call-log.ts';

/** Quotes a word for a POSIX shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

interface CurlOptions {
  baseUrl: string;
  workspace: string | undefined;
}

/** The call as a curl command. The key stays in an environment variable, so that it reaches neither clipboard nor history. */
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

type Route = Pick<Address, 'method' | 'path'>;
type Words = (call: LoggedCall) => (string | undefined)[];

const param = ({ params }: LoggedCall, name: string) => String(params[name] ?? '');
const option = (flag: string, value: unknown) =>
  value === undefined || value === null ? [] : [flag, String(value)];

/** Endpoints without a command are left out. */
const commandWords: readonly (readonly [Route, Words])[] = [
  [addresses.getStatus, () => ['status']],
  [addresses.getKey, () => ['key']],
  [addresses.getSession, () => ['whoami']],
  [addresses.streamEvents, () => ['tail']],
  [addresses.listModels, () => ['models', 'list']],
  [addresses.getModel, (call) => ['models', 'show', param(call, 'model')]],
  [addresses.listRates, () => ['rates']],
  [addresses.listTraces, ({ query }) => ['traces', ...option('--limit', query.limit)]],
  [addresses.getTrace, (call) => ['traces', param(call, 'request_id')]],
  [
    addresses.listUsage,
    ({ query }) => ['usage', ...option('--group-by', query.group_by), ...option('--since', query.since)],
  ],
  [addresses.getUsage, (call) => ['usage', param(call, 'request_id')]],
  [addresses.listKeys, () => ['keys', 'list']],
  [addresses.showKey, (call) => ['keys', 'show', param(call, 'key')]],
  [addresses.revokeKey, (call) => ['keys', 'revoke', param(call, 'key')]],
  [
    addresses.issueKey,
    ({ body }) => ['keys', 'issue', ...option('--name', (body as { name?: string } | undefined)?.name)],
  ],
  [addresses.listThreads, () => ['threads', 'list']],
  [addresses.listThreadMessages, (call) => ['threads', 'show', param(call, 'id')]],
  [addresses.deleteThread, (call) => ['threads', 'delete', param(call, 'id')]],
  [siteAddresses.listWhisperThreads, () => ['whispers', 'list']],
  [siteAddresses.listWhispers, ({ query }) => ['whispers', 'thread', String(query.with ?? '')]],
  [siteAddresses.listShouts, () => ['shouts', 'list']],
  [addresses.listProviderKeys, () => ['provider-keys', 'list']],
];

const wordsByRoute = new Map(commandWords.map(([route, words]) => [nameOf(route.method, route.path), words]));

function nameOf(method: string, path: string): string {
  return `${method} ${path}`;
}

/** The call as a `gateway` command; undefined if there is none. */
export function asCommand(call: LoggedCall): string | undefined {
  const words = wordsByRoute.get(nameOf(call.method, call.template))?.(call);
  return words && ['gateway', ...words.map((word) => shellWord(word ?? ''))].join(' ');
}
