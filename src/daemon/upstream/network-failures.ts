import { ownValue } from '../../shared/json/json-object.ts';
import { NetworkFailure, type NetworkFailureKind, type NetworkFault } from '../base/world.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../features/upstreams/upstream.ts';

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

const reasons: Record<NetworkFailureKind, string> = {
  refused: 'no connection could be made',
  unresolved: 'the name could not be resolved',
  'connect-timeout': 'connecting took too long',
  'headers-timeout': 'no response in time',
  'idle-timeout': 'the response stalled',
  'total-timeout': 'the response took too long',
  reset: 'the connection broke',
  unreadable: 'the response cannot be read',
  'too-large': 'the response is larger than allowed',
  aborted: 'the call was canceled',
};

/** A failure described by kind, host and detail, never by a library's message, which may quote the request. */
export function networkFailure(kind: NetworkFailureKind, host: string, detail?: string): NetworkFailure {
  const reason = reasons[kind];
  const at: NetworkFault | undefined = detail?.startsWith('UND_ERR_PRX_') ? { part: 'proxy' } : undefined;
  return new NetworkFailure(kind, `${host}: ${reason}${detail ? ` (${detail})` : ''}`, { reason, at });
}

/** An answer that is compressed although that was not requested. */
export function compressedFailure(host: string): NetworkFailure {
  const reason = 'the response is compressed, which was not requested';
  return new NetworkFailure('unreadable', `${host}: ${reason}`, { reason });
}

/** Interprets an error of undici, a socket or TLS. */
export function networkFailureOf(error: unknown, host: string): NetworkFailure {
  if (error instanceof NetworkFailure) return error;
  if (isUnreadable(error)) return networkFailure('unreadable', host, error.name);
  const code = codeOf(error);
  if (code === undefined) return networkFailure('reset', host);
  const status = code === 'UND_ERR_ABORTED' ? statusOfProxy(error as Error) : undefined;
  if (status !== undefined) return refusedFailure(host, { part: 'proxy' }, `the proxy answered ${status}`);
  const tls = tlsFault(code);
  if (tls) {
    const [fault, remedy] = tls;
    const at: NetworkFault = { part: 'certificate', fault: `${host}: ${fault}`, remedy };
    return refusedFailure(host, at, `${fault}: ${remedy}`, `: ${code}`);
  }
  return networkFailure(
    kindByCode[code] ?? 'reset',
    host,
    [code, ...addressOf(error as Error, host)].join(' '),
  );
}

type TlsFault = readonly [fault: string, remedy: string];

const tlsFaults: Readonly<Record<string, TlsFault>> = {
  CERT_HAS_EXPIRED: [
    'its certificate has expired',
    'it has to be renewed there, if the clock of this machine is right',
  ],
  CERT_NOT_YET_VALID: ['its certificate is not valid yet', 'check the clock of this machine'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['its certificate is for another name', 'check its address'],
  ERR_SSL_WRONG_VERSION_NUMBER: ['it does not speak TLS there', 'write http:// in its address'],
};

/** Node reads both at the start. */
const untrusted: TlsFault = [
  'its certificate is not trusted',
  'start the daemon with NODE_EXTRA_CA_CERTS=FILE, or with NODE_USE_SYSTEM_CA=1',
];

function tlsFault(code: string): TlsFault | undefined {
  return ownValue(tlsFaults, code) ?? (isCertificateCode(code) ? untrusted : undefined);
}

function refusedFailure(host: string, at: NetworkFault, reason: string, detail = ''): NetworkFailure {
  return new NetworkFailure('refused', `${host}: ${reasons.refused} (${reason}${detail})`, { reason, at });
}

/**
 * Whether the response was not valid HTTP, or unexpected, such as a `100 Continue`, which undici never accepts. A parser
 * error without bytes only means that the connection broke.
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

/** The status with which a proxy refused CONNECT: undici only reports it in the message. */
function statusOfProxy({ message }: Error): string | undefined {
  return /^Proxy response \((\d{3})\)/.exec(message)?.[1];
}

/** The address or name that was tried, if it differs from the call's host: a resolved address, or a proxy's. */
function addressOf(
  error: Error & { address?: string; port?: number; hostname?: string },
  host: string,
): string[] {
  const address = error.address && error.port ? `${error.address}:${error.port}` : error.hostname;
  return address === undefined || host.startsWith(address) ? [] : [address];
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
  'total-timeout': 'timeout',
  reset: 'network',
  unreadable: 'broken',
  'too-large': 'broken',
  aborted: 'network',
};

/** Converts a network failure to an UpstreamFailure; other errors are returned unchanged. */
export function upstreamFailureOf(error: unknown, name: string): unknown {
  if (!(error instanceof NetworkFailure)) return error;
  return new UpstreamFailure(upstreamKinds[error.kind], `${name}: ${error.message}`, { cause: error });
}

/** The same in the middle of a stream, where a lost connection means a broken answer. */
export function midStreamFailureOf(error: unknown, name: string): unknown {
  if (error instanceof NetworkFailure && error.kind === 'reset') {
    return new UpstreamFailure('broken', `${name} broke off in the middle of its answer`, { cause: error });
  }
  return upstreamFailureOf(error, name);
}
