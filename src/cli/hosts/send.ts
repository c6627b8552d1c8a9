import type { ClientAnswer, ClientRequest, Send } from '../../shared/client.ts';
import type { ConfigFault } from '../../shared/daemon-module.ts';
import { exitCodes } from '../../shared/errors.ts';
import { isLoopback } from '../../shared/http/loopback.ts';
import { bypassOf } from '../../shared/http/no-proxy.ts';
import { proxiesIn } from '../../shared/proxies.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { socketAddress, socketPathOf } from './host-address.ts';

/**
 * Why a host gave no complete answer: `refused` if nothing listens there, `forbidden` if this user may not use the Unix
 * socket, `cut` if the connection was lost in the middle.
 */
type UnreachableKind = 'refused' | 'forbidden' | 'unresolved' | 'timeout' | 'cut' | 'untrusted';

export class Unreachable extends Error {
  readonly kind: UnreachableKind;

  constructor(kind: UnreachableKind, address: string, cause: Error) {
    super(`${address} cannot be reached: ${unreachableReasons[kind]}${detailOf(kind, cause)}.`, { cause });
    this.name = 'Unreachable';
    this.kind = kind;
  }
}

export const unreachableReasons: Readonly<Record<UnreachableKind, string>> = {
  refused: 'nothing listens there',
  forbidden: 'this is not allowed',
  unresolved: 'the name is not known',
  timeout: 'it does not respond',
  cut: 'the connection was lost',
  untrusted: 'its certificate is not trusted',
};

/** What the reason does not say yet. */
function detailOf(kind: UnreachableKind, { message }: Error): string {
  return (kind === 'untrusted' || kind === 'cut') && message !== '' ? ` (${message})` : '';
}

const connectTimeoutMs = 10_000;
/** After so long, the daemon sends a comment on a stream without events. */
const heartbeatMs = 15_000;
const missedMax = 4;

interface Route {
  socketPath?: string;
  /** Proxies for the call. */
  proxyEnv?: ProxyEnvironment;
}

/** How to reach a host: the base URL of requests, and what sends them. */
export function routeTo(
  { url, socket }: { url: string; socket?: string | undefined },
  env: Record<string, string | undefined>,
): { baseUrl: string; send: Send } {
  const socketPath = socket ?? socketPathOf(url);
  if (socketPath !== undefined)
    return { baseUrl: 'http://localhost', send: (request) => sendOver(request, { socketPath }) };
  const proxyEnv = proxyEnvironment(new URL(url), env);
  if (proxyEnv === undefined) return { baseUrl: url, send };
  return { baseUrl: url, send: (request) => sendOver(request, { proxyEnv }) };
}

/** Sends with Node's own HTTP client, one connection per call. */
export const send: Send = (request) => sendOver(request, {});

const sendOver = (request: ClientRequest, route: Route): ReturnType<Send> =>
  new Promise((resolve, reject) => {
    const url = new URL(request.url);
    const { socketPath, proxyEnv } = route;
    const address = socketPath === undefined ? url.origin : socketAddress(socketPath);
    const { request: start, Agent } = transportOf(url.protocol);
    // Without an agent nothing keeps the process alive after the answer, but only an agent supports proxies.
    const agent = proxyEnv === undefined ? (false as const) : new Agent({ proxyEnv });
    const options = { ...optionsOf(request), agent, ...(socketPath && { socketPath }) };
    const call = start(url, options, (answer) => {
      resolve({
        status: answer.statusCode ?? 0,
        headers: flat(answer.headers),
        body: bodyOf(answer, request, address),
      });
    });
    const tooSlow = setTimeout(
      () => call.destroy(new Error('no connection within 10 seconds')),
      connectTimeoutMs,
    );
    call.once('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(tooSlow));
    });
    call.once('error', (error) => {
      clearTimeout(tooSlow);
      reject(reasonOf(error, request, address));
    });
    call.end(request.body);
  });

function optionsOf({ method, headers, body, signal }: ClientRequest) {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return { method, headers: { ...headers, ...length }, ...(signal && { signal }) };
}

/**
 * `import 'node:http'` evaluates all its exports, including lazy ones that load a second HTTP client, which takes 20 ms.
 * Getting the module itself does not.
 */
function transportOf(protocol: string): Pick<typeof import('node:http'), 'request' | 'Agent'> {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
}

async function* bodyOf(
  answer: import('node:http').IncomingMessage,
  request: ClientRequest,
  address: string,
): ClientAnswer['body'] & AsyncGenerator<Uint8Array> {
  const isStream = answer.headers['content-type']?.startsWith('text/event-stream') === true;
  const watch = isStream ? watchSilence(answer) : undefined;
  try {
    for await (const bytes of answer) yield bytes as Uint8Array;
  } catch (error) {
    throw reasonOf(error as Error, request, address);
  } finally {
    clearInterval(watch);
  }
}

/**
 * Ends a stream on which nothing comes for a minute: its connection was cut off without notice, as while a machine sleeps. A
 * program that was stopped counts once only, and one that reads slowly not at all.
 */
function watchSilence(answer: import('node:http').IncomingMessage): NodeJS.Timeout {
  let [known, missed] = [answer.socket.bytesRead, 0];
  return setInterval(() => {
    const { bytesRead } = answer.socket;
    missed = bytesRead > known || answer.readableLength > 0 ? 0 : missed + 1;
    known = bytesRead;
    if (missed < missedMax) return;
    const silence = new Error('nothing came for a minute');
    answer.destroy(Object.assign(silence, { code: 'ETIMEDOUT' }));
  }, heartbeatMs).unref();
}

function flat(headers: import('node:http').IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

const kinds: Record<string, UnreachableKind> = {
  ECONNREFUSED: 'refused',
  ENOENT: 'refused',
  EACCES: 'forbidden',
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'timeout',
  ENETUNREACH: 'timeout',
};

function reasonOf(error: NodeJS.ErrnoException, { signal }: ClientRequest, address: string): Error {
  if (signal?.aborted) return signal.reason instanceof Error ? signal.reason : error;
  const code = error.code ?? '';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return new Unreachable('untrusted', address, error);
  return new Unreachable(kinds[code] ?? (code ? 'cut' : 'timeout'), address, error);
}

/** The proxy settings of Node's HTTP agent. */
type ProxyEnvironment = { HTTP_PROXY: string; HTTPS_PROXY: string; NO_PROXY: string };

/**
 * The proxy settings for calls to a host; undefined without a proxy. Throws a CliError for a proxy that commands cannot
 * use, which Node would silently bypass.
 */
export function proxyEnvironment(
  url: URL,
  env: Record<string, string | undefined>,
): ProxyEnvironment | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const faults: ConfigFault[] = [];
  const proxies = proxiesIn(env, faults);
  const [fault] = faults;
  if (fault) throw new CliError(`${fault.place}: ${fault.message}.`, { exit: exitCodes.usage });
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  if (proxies === undefined || bypassOf(proxies.except)({ hostname: url.hostname, port })) return undefined;
  const { http, https } = proxies;
  const used = url.protocol === 'https:' ? https : http;
  if (!/^socks/i.test(used)) return { HTTP_PROXY: http, HTTPS_PROXY: https, NO_PROXY: '' };
  throw usageError(
    'Commands cannot go through a SOCKS proxy.',
    `Name another in HTTPS_PROXY, or the host in NO_PROXY: NO_PROXY=${url.hostname}`,
  );
}
