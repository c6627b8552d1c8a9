import { UpstreamFailure, type UpstreamFailureKind } from '../features/inference/upstream.ts';
import { NetworkFailure, type NetworkFailureKind } from '../world.ts';

const kindByCode: Record<string, NetworkFailureKind> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EADDRNOTAVAIL: 'refused',
  EACCES: 'refused',
  EMFILE: 'refused',
  UND_ERR_INVALID_ARG: 'refused',
  UND_ERR_PRX_CONN: 'refused',
  UND_ERR_PRX_TLS: 'refused',
  ENOTFOUND: 'unresolved',
  EAI_AGAIN: 'unresolved',
  EAI_FAIL: 'unresolved',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  ETIMEDOUT: 'connect-timeout',
  UND_ERR_HEADERS_TIMEOUT: 'headers-timeout',
  UND_ERR_BODY_TIMEOUT: 'idle-timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too-large',
  UND_ERR_CLOSED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
};

const sentences: Record<NetworkFailureKind, string> = {
  refused: 'no connection could be made',
  unresolved: 'the name could not be resolved',
  'connect-timeout': 'connecting took too long',
  'headers-timeout': 'no answer began in time',
  'idle-timeout': 'the answer stalled',
  reset: 'the connection broke',
  unreadable: 'the answer cannot be read',
  'too-large': 'the answer is larger than allowed',
  aborted: 'the call was ended here',
};

/** A failure told by its kind, the host and a code: never by the words of a library, which may quote what was sent. */
export function networkFailure(kind: NetworkFailureKind, host: string, detail?: string): NetworkFailure {
  const reason = sentences[kind];
  return new NetworkFailure(kind, `${host}: ${reason}${detail ? ` (${detail})` : ''}`, { reason });
}

/** What an error of undici, of a socket or of TLS means. */
export function networkFailureOf(error: unknown, host: string): NetworkFailure {
  if (error instanceof NetworkFailure) return error;
  if (isUnreadable(error)) return networkFailure('unreadable', host, error.name);
  const code = codeOf(error);
  if (code === undefined) return networkFailure('reset', host);
  const status = code === 'UND_ERR_ABORTED' ? statusOfProxy(error as Error) : undefined;
  if (status !== undefined) return refused(host, `the proxy answered ${status}`);
  if (isCertificateCode(code)) return refused(host, 'its certificate is not trusted', `: ${code}`);
  return networkFailure(
    kindByCode[code] ?? 'reset',
    host,
    [code, ...placeOf(error as Error, host)].join(' '),
  );
}

function refused(host: string, reason: string, detail = ''): NetworkFailure {
  return new NetworkFailure('refused', `${host}: ${sentences.refused} (${reason}${detail})`, { reason });
}

/**
 * Whether bytes came that are no HTTP, or an answer that nobody asked for, such as a `100 Continue`, which undici takes
 * from nobody. At the end of a connection its parser finds fault with no bytes: that one has only broken.
 */
function isUnreadable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error.name === 'HTTPParserError') return 'data' in error && error.data !== '';
  return /^bad (response|upgrade)$/.test(error.message) && codeOf(error) === 'UND_ERR_SOCKET';
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  const { code } = error;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined;
}

/** What a proxy answered to CONNECT, where that was not 200: undici tells it in words alone. */
function statusOfProxy({ message }: Error): string | undefined {
  return /^Proxy response \((\d{3})\)/.exec(message)?.[1];
}

/** The address or the name that was tried, where the call's host does not say it: behind a name, or a proxy's. */
function placeOf(
  error: Error & { address?: string; port?: number; hostname?: string },
  host: string,
): string[] {
  const place = error.address && error.port ? `${error.address}:${error.port}` : error.hostname;
  return place === undefined || host.startsWith(place) ? [] : [place];
}

function isCertificateCode(code: string): boolean {
  return code.includes('CERT') || code.startsWith('ERR_TLS') || code.startsWith('UNABLE_TO_');
}

const upstreamKinds: Record<NetworkFailureKind, UpstreamFailureKind> = {
  refused: 'network',
  unresolved: 'network',
  'connect-timeout': 'timeout',
  'headers-timeout': 'timeout',
  'idle-timeout': 'timeout',
  reset: 'network',
  unreadable: 'broken',
  'too-large': 'broken',
  aborted: 'network',
};

/** What a failure of the network means for the call; other errors are passed through. */
export function upstreamFailureOf(error: unknown, name: string): unknown {
  if (!(error instanceof NetworkFailure)) return error;
  return new UpstreamFailure(upstreamKinds[error.kind], `${name}: ${error.message}`, { cause: error });
}

/** The same in the middle of a stream, where a lost connection is a broken answer. */
export function midStreamFailureOf(error: unknown, name: string): unknown {
  if (error instanceof NetworkFailure && error.kind === 'reset') {
    return new UpstreamFailure('broken', `${name} broke off in the middle of its answer`, { cause: error });
  }
  return upstreamFailureOf(error, name);
}
