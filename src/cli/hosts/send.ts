import type { ClientAnswer, ClientRequest, Send } from '../../shared/client.ts';

/** Why a host gave no (whole) answer: `refused` when nobody listens, `cut` when it broke off in the middle. */
export type UnreachableKind = 'refused' | 'unresolved' | 'timeout' | 'cut' | 'untrusted';

export class Unreachable extends Error {
  readonly kind: UnreachableKind;
  readonly url: string;

  constructor(kind: UnreachableKind, url: string, cause: Error) {
    super(`${new URL(url).origin}: ${cause.message || kind}`, { cause });
    this.name = 'Unreachable';
    this.kind = kind;
    this.url = url;
  }
}

const connectTimeoutMs = 10_000;

/** Sends over Node's own HTTP client, a connection a call. */
export const send: Send = (request) =>
  new Promise((resolve, reject) => {
    const url = new URL(request.url);
    const call = transportOf(url.protocol).request(url, optionsOf(request), (answer) => {
      resolve({
        status: answer.statusCode ?? 0,
        headers: flat(answer.headers),
        body: bodyOf(answer, request),
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
      reject(reasonOf(error, request));
    });
    call.end(request.body);
  });

function optionsOf({ method, headers, body, signal }: ClientRequest) {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  // Without an agent nothing keeps the process alive once the answer is read.
  return { method, headers: { ...headers, ...length }, agent: false as const, ...(signal && { signal }) };
}

/**
 * `import 'node:http'` evaluates every export of it, among them lazy ones that load a whole second HTTP client: 20 ms. Asking for the
 * module itself does not.
 */
function transportOf(protocol: string): Pick<typeof import('node:http'), 'request'> {
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http');
}

async function* bodyOf(
  answer: import('node:http').IncomingMessage,
  request: ClientRequest,
): ClientAnswer['body'] & AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of answer) yield bytes as Uint8Array;
  } catch (error) {
    throw reasonOf(error as Error, request);
  }
}

function flat(headers: import('node:http').IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

const kinds: Record<string, UnreachableKind> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'timeout',
  ENETUNREACH: 'timeout',
};

function reasonOf(error: NodeJS.ErrnoException, { signal, url }: ClientRequest): Error {
  if (signal?.aborted) return signal.reason instanceof Error ? signal.reason : error;
  const code = error.code ?? '';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return new Unreachable('untrusted', url, error);
  return new Unreachable(kinds[code] ?? (code ? 'cut' : 'timeout'), url, error);
}
