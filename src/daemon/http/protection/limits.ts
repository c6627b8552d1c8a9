import { readFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

/** Limits in bytes, milliseconds and counts. Defaults are based on those of HAProxy and Envoy, tightened by tests. */
export interface HttpLimits {
  /** For endpoints without a limit of their own. */
  bodyBytesMax: number;
  jsonDepthMax: number;
  /** Large compressed bodies that are read at a time: of tens of megabytes each, whatever was sent. */
  largeBodiesMax: number;
  /** All bodies of 16 KiB and more of running requests together. */
  largeBodiesBytesMax: number;
  /** Those of 4 MiB and more. */
  hugeBodiesBytesMax: number;
  headerBytesMax: number;
  headersMax: number;
  pathParameterCharsMax: number;
  headersTimeoutMs: number;
  /** Until the whole request has arrived. */
  requestTimeoutMs: number;
  /** How often connections are checked for the two timeouts above. */
  connectionCheckMs: number;
  /** How long a connection may be idle: longer than in the pools of most clients and proxies. */
  keepAliveTimeoutMs: number;
  /** Behind trusted proxies, once the daemon stops. */
  leavingIdleMs: number;
  requestsPerConnectionMax: number;
  /** Undefined: derived from the limit of open files. */
  connectionsMax: number | undefined;
  /** The rest of a rejected body is discarded, so that its sender can read the response: how long it may send nothing. */
  lingerMs: number;
  /** How long that takes at most. */
  lingerTotalMs: number;
  /** An idle stream sends a comment after this time, so that proxies keep it open. */
  heartbeatMs: number;
  /** A client that reads nothing for this long is disconnected. */
  stalledReaderMs: number;
  /** The amount a stream buffers for a slow reader before its source is paused. */
  streamBufferBytesMax: number;
  /** Messages queued on a socket while another is processed. */
  socketMessagesWaitingMax: number;
  /** Maximum lifetime of a socket. */
  socketLifetimeMs: number;
  /** How long trusted proxies may still connect while `/readyz` says that the daemon stops. */
  proxyNoticeMs: number;
  /** After the deadline of a drain, for streams to write their last event. */
  drainGraceMs: number;
  /** Requests without a credential, per address. */
  publicBurst: number;
  publicPerSecond: number;
  /** Open streams without a credential, per address. */
  publicStreamsMax: number;
}

/** Of the limit of the heap: the young generation, and what the daemon needs without calls. */
const ownHeapBytes = 256 * 1024 * 1024;

export const httpLimits: HttpLimits = {
  bodyBytesMax: 1024 * 1024,
  jsonDepthMax: 64,
  largeBodiesMax: 2,
  // Of the bytes of a body, the heap contains its text, the parsed request and the one to the provider, with two bytes a character.
  largeBodiesBytesMax: Math.max(
    8 * 1024 * 1024,
    Math.floor((getHeapStatistics().heap_size_limit - ownHeapBytes) / 8),
  ),
  // They take up to ten times their bytes while they are read and sent on.
  hugeBodiesBytesMax: 48 * 1024 * 1024,
  headerBytesMax: 16_384,
  headersMax: 100,
  pathParameterCharsMax: 512,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  connectionCheckMs: 1_000,
  keepAliveTimeoutMs: 125_000,
  leavingIdleMs: 5_000,
  requestsPerConnectionMax: 1_000,
  connectionsMax: undefined,
  lingerMs: 3_000,
  lingerTotalMs: 10_000,
  heartbeatMs: 15_000,
  stalledReaderMs: 60_000,
  streamBufferBytesMax: 192 * 1024,
  socketMessagesWaitingMax: 16,
  socketLifetimeMs: 60 * 60 * 1000,
  proxyNoticeMs: 2_000,
  drainGraceMs: 3_000,
  publicBurst: 100,
  publicPerSecond: 20,
  publicStreamsMax: 100,
};

/** A streamed call may need a second descriptor for its provider, and some are reserved for files. */
export function connectionsMaxFor(openFilesMax: number): number {
  return Math.max(16, Math.floor((openFilesMax - 256) / 2));
}

/** The process's limit of open files; undefined if the system does not expose it. */
export function openFilesMax(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
