import { readFileSync } from 'node:fs';
import type { ClientAnswer } from '../../../shared/client.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { isLoopback } from '../../../shared/http/loopback.ts';
import { version } from '../../../shared/version.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../failures/cli-error.ts';
import { routeTo, Unreachable, unreachableReasons } from '../../hosts/send.ts';

/** A request to any web server. */
export interface WebRequest {
  method: string;
  url: URL;
  /** By their names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

export interface WebAnswer {
  status: number;
  /** Names in lower case; repeated headers are joined by commas. */
  headers: Record<string, string>;
  body: ClientAnswer['body'];
}

export interface RequestFlags {
  method?: string | undefined;
  header?: string[] | undefined;
  data?: string | undefined;
}

/** The request of a command line. */
export async function readRequest(
  { io }: Pick<Context, 'io'>,
  address: string,
  flags: RequestFlags,
): Promise<WebRequest> {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw usageError(`"${address}" is not an http or https URL.`);
  url.hash = '';
  const body = await readData(io.stdin, flags.data);
  const method = (flags.method ?? (body ? 'POST' : 'GET')).toUpperCase();
  if (!/^[A-Z]{1,20}$/.test(method) || method === 'CONNECT')
    throw usageError(`"${flags.method}" is not a method that can be sent.`);
  const given = Object.fromEntries((flags.header ?? []).map(readHeader));
  const type = body && { 'content-type': isJson(body) ? 'application/json' : 'application/octet-stream' };
  return { method, url, headers: { 'user-agent': `gateway/${version}`, ...type, ...given }, body };
}

/** Sends a request as it is: no redirects, no compression. Fails with exit code 6 without an answer. */
export async function sendRequest(
  { env }: Pick<Context, 'env'>,
  { method, url, headers, body }: WebRequest,
  added: Readonly<Record<string, string>> = {},
): Promise<WebAnswer> {
  const { send } = routeTo({ url: url.href }, env);
  try {
    return await send({
      method,
      url: url.href,
      headers: { ...headers, ...added, 'accept-encoding': 'identity' },
      ...(body && { body }),
    });
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    throw new CliError(`${url.host} cannot be reached: ${unreachableReasons[error.kind]}.`, {
      exit: exitCodes.tryLater,
      cause: error,
    });
  }
}

/** Whether others on the network can read what is sent to a URL. */
export function isReadable({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && !isLoopback(hostname);
}

/** The bytes of a body, up to a maximum; the rest is not read. */
export async function bytesOf(body: WebAnswer['body'], max = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > max) break;
  }
  return Buffer.concat(chunks);
}

async function readData(
  stdin: Context['io']['stdin'],
  data: string | undefined,
): Promise<Uint8Array | undefined> {
  if (data === undefined) return undefined;
  if (data === '@-') return await stdin.read();
  if (!data.startsWith('@')) return Buffer.from(data);
  const path = data.slice(1);
  try {
    return readFileSync(path);
  } catch (error) {
    throw usageError(`Cannot read ${path} (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** Headers of the connection, which the request itself sets. */
const reserved =
  /^(connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|accept-encoding)$/;

function readHeader(line: string): [name: string, value: string] {
  const [, name = '', value = ''] =
    /^([!#$%&'*+.^_`|~\w-]+):[ \t]*((?:[\x21-\x7e\x80-\xff][\t\x20-\x7e\x80-\xff]*)?)$/.exec(line) ?? [];
  if (name === '') throw usageError(`"${line}" is not a header.`, 'Write it as --header "name: value".');
  if (reserved.test(name.toLowerCase())) throw usageError(`The header ${name} cannot be set.`);
  return [name.toLowerCase(), value];
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(bytes).toString());
    return true;
  } catch {
    return false;
  }
}
