import { trimEnd } from '../../../shared/text/trim-text.ts';
import type { CommandIndex } from '../../context.ts';
import { socketPathOf } from '../../hosts/host-address.ts';
import type { LoggedCall } from '../services/api-call-log.ts';

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
  const base = socket === undefined ? trimEnd(baseUrl, '/') : 'http://localhost';
  words.push(shellWord(base + path));
  words.push('-H', '"authorization: Bearer $GATEWAY_KEY"');
  if (workspace !== undefined) words.push('-H', shellWord(`x-workspace-id: ${workspace}`));
  if (body !== undefined) {
    words.push('-H', shellWord('content-type: application/json'), '-d', shellWord(JSON.stringify(body)));
  }
  return words.join(' ');
}

/** The call as a `gateway` command; undefined if there is none. */
export function asCommand(call: LoggedCall, commands: CommandIndex): string | undefined {
  return commands.commandLine(call)?.map(shellWord).join(' ');
}
