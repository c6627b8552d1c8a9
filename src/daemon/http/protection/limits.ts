import { readFileSync } from 'node:fs';

/** Bounds in bytes, milliseconds and numbers. Source of the defaults: those of HAProxy and Envoy, tightened by tests. */
export interface HttpLimits {
  /** Of endpoints that name no bound of their own. */
  bodyBytesMax: number;
  jsonDepthMax: number;
  headerBytesMax: number;
  headersMax: number;
  pathParameterCharsMax: number;
  headersTimeoutMs: number;
  /** Until the whole request has arrived. */
  requestTimeoutMs: number;
  /** How often connections are looked at for the two times above. */
  connectionCheckMs: number;
  keepAliveTimeoutMs: number;
  requestsPerConnectionMax: number;
  /** Undefined: what the limit of open files leaves context for. */
  connectionsMax: number | undefined;
  /** How long the rest of a refused body is read and thrown away, so that its sender can read the refusal. */
  lingerMs: number;
  /** A stream that is silent for so long carries a comment, so that nothing between takes it for dead. */
  heartbeatMs: number;
  /** A reader who takes nothing for so long is cut off. */
  stalledReaderMs: number;
  /** What a stream may hold back for a slow reader before its source is paused. */
  streamBufferBytesMax: number;
  /** Messages that may wait on one socket while another is answered. */
  socketMessagesWaitingMax: number;
  /** How long a socket may be open. */
  socketLifetimeMs: number;
  /** After the deadline of a drain, for streams to write their last event. */
  drainGraceMs: number;
  /** Requests without a credential, of one address. */
  publicBurst: number;
  publicPerSecond: number;
  /** Streams of one address that are open without a credential. */
  publicStreamsMax: number;
}

export const httpLimits: HttpLimits = {
  bodyBytesMax: 1024 * 1024,
  jsonDepthMax: 64,
  headerBytesMax: 16_384,
  headersMax: 100,
  pathParameterCharsMax: 512,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  connectionCheckMs: 1_000,
  keepAliveTimeoutMs: 5_000,
  requestsPerConnectionMax: 1_000,
  connectionsMax: undefined,
  lingerMs: 1_000,
  heartbeatMs: 15_000,
  stalledReaderMs: 60_000,
  streamBufferBytesMax: 192 * 1024,
  socketMessagesWaitingMax: 16,
  socketLifetimeMs: 60 * 60 * 1000,
  drainGraceMs: 3_000,
  publicBurst: 100,
  publicPerSecond: 20,
  publicStreamsMax: 100,
};

/** Each streamed call may need a second descriptor for its provider, and some stay free for files. */
export function connectionsMaxFor(openFilesMax: number): number {
  return Math.max(16, Math.floor((openFilesMax - 256) / 2));
}

/** How many files this process may have open; undefined where the system does not tell it in a file. */
export function openFilesMax(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
