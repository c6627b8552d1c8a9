import {
  type IncomingMessage,
  type RequestOptions,
  request as sendHttp,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import { request as sendHttps } from 'node:https';
import type { WebAnswer, WebRequest } from '../features/autopilots/index.ts';
import {
  AddressRefused,
  type AddressRules,
  guardedLookup,
  portOf,
  upstreamProblem,
} from './address-guard.ts';

/** Why there is no answer; the message is for the one who chose the address. */
export class RequestFailed extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RequestFailed';
  }
}

interface Limits {
  /** For the whole exchange, in milliseconds. */
  timeoutMs: number;
  /** The longest body that is read, in bytes. */
  bytesMax: number;
}

/**
 * Sends a request over a connection of its own, to an address that the rules allow. Redirects are not followed. Fails with
 * RequestFailed.
 */
export async function sendGuarded(
  { method, url, headers, body, mayBePrivate, signal }: WebRequest,
  { rules, timeoutMs, bytesMax }: Limits & { rules: AddressRules },
): Promise<WebAnswer> {
  const problem = upstreamProblem(url.href, { mayBePrivate, rules });
  if (problem !== undefined) throw new RequestFailed(`The address of ${url.host} ${problem}.`);
  const invalid = Object.entries(headers).find(([name, value]) => !isHeader(name, value));
  if (invalid) throw new RequestFailed(`\`headers\` has an invalid name or value: \`${invalid[0]}\`.`);
  const timeout = AbortSignal.timeout(timeoutMs);
  const options: RequestOptions = {
    method,
    agent: false,
    signal: AbortSignal.any([signal, timeout]),
    lookup: guardedLookup({ port: portOf(url), mayBePrivate, rules }),
  };
  const { promise, resolve, reject } = Promise.withResolvers<WebAnswer>();
  try {
    const content = body === undefined ? undefined : Buffer.from(body);
    options.headers = {
      ...headers,
      'accept-encoding': 'identity',
      ...(content && { 'content-length': content.byteLength }),
    };
    const asked = (url.protocol === 'https:' ? sendHttps : sendHttp)(url, options);
    asked.on('response', (answer) => {
      readAnswer(answer, bytesMax).then(resolve, reject);
    });
    // An upgrade would leave the request without an end.
    asked.on('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(new RequestFailed(`${url.host} switched to another protocol.`));
    });
    asked.on('error', reject);
    asked.end(content);
    return await promise;
  } catch (error) {
    throw failure(url, error, { hasTimedOut: timeout.aborted, timeoutMs });
  }
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

async function readAnswer(answer: IncomingMessage, bytesMax: number): Promise<WebAnswer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early closes the connection.
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > bytesMax) break;
  }
  return {
    status: answer.statusCode ?? 0,
    headers: Object.fromEntries(
      Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    ),
    body: Buffer.concat(chunks).subarray(0, bytesMax),
    isCut: bytes > bytesMax,
  };
}

function failure(
  url: URL,
  error: unknown,
  { hasTimedOut, timeoutMs }: { hasTimedOut: boolean; timeoutMs: number },
): RequestFailed {
  if (error instanceof RequestFailed) return error;
  if (error instanceof AddressRefused)
    return new RequestFailed(`The address of ${url.host} ${error.message}.`);
  if (hasTimedOut) return new RequestFailed(`${url.host} did not answer within ${timeoutMs / 1000} seconds.`);
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'an error';
  return new RequestFailed(`The request to ${url.host} failed with ${code}.`);
}
