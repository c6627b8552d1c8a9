/** One call to another host. Times in milliseconds; a time that is left out is not limited. */
export interface OutgoingRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers: Record<string, string>;
  /** What the configuration adds to them; never recorded, as it may be secret. */
  addedHeaders?: Record<string, string>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
  /** The name of the provider, for records of the call. */
  provider?: string;
  /** Refuses names that resolve to addresses of private networks: for addresses that not only the owner of the host sets. */
  publicOnly?: boolean;
  /** Until the status line and headers are there, however many interim responses come before them. */
  headersTimeoutMs?: number;
  /** How long a reader of the body waits for more bytes. */
  idleTimeoutMs?: number;
  /** The same for the first bytes; `idleTimeoutMs` where it is left out. */
  firstReadTimeoutMs?: number;
  /** For the whole body when it is read with `bytes`. */
  bodyTimeoutMs?: number;
  /** From the start of the call to its last byte. */
  totalTimeoutMs?: number;
}

export interface IncomingAnswer {
  status: number;
  /** Names in lower case; of a repeated header the last value, of `www-authenticate` all. */
  headers: Record<string, string>;
  body: IncomingBody;
}

/**
 * The bytes of an answer as they come. Leaving the iteration early, or `cancel`, ends the call to the other host, and a
 * read that waits for it.
 */
export interface IncomingBody extends AsyncIterable<Uint8Array> {
  /** All bytes at once; fails with a NetworkFailure of kind `too-large` past `bytesMax`. */
  bytes(bytesMax: number): Promise<Uint8Array>;
  cancel(): void;
}

export type NetworkFailureKind =
  | 'refused'
  | 'unresolved'
  | 'connect-timeout'
  | 'headers-timeout'
  | 'idle-timeout'
  | 'total-timeout'
  | 'reset'
  /** The answer is not valid HTTP; a retry would get the same. */
  | 'unreadable'
  | 'too-large'
  | 'aborted';

/** The fault of a certificate names the host. Its remedy is a sentence without a capital letter and a full stop. */
export type NetworkFault = { part: 'certificate'; fault: string; remedy: string } | { part: 'proxy' };

/** Why a call to another host gave no (whole) answer. The message names the host and what was tried, for the operator. */
export class NetworkFailure extends Error {
  readonly kind: NetworkFailureKind;
  /** The same for the caller, without hosts and addresses. */
  readonly reason: string | undefined;
  /** What between this host and the other one is at fault. */
  readonly at: NetworkFault | undefined;

  constructor(
    kind: NetworkFailureKind,
    message: string,
    { reason, at, cause }: { reason?: string; at?: NetworkFault | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.name = 'NetworkFailure';
    this.kind = kind;
    this.reason = reason;
    this.at = at;
  }
}

export interface Clock {
  /** Wall clock, milliseconds since 1970. For people and for expiry. */
  now(): number;
  /** Milliseconds of a clock that only goes forward. For durations and rates. */
  elapsed(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** All that is not computation: made once in main.ts and handed to constructors, so that tests can hold it still. */
export interface World extends Clock {
  randomBytes(count: number): Uint8Array;
  send(request: OutgoingRequest): Promise<IncomingAnswer>;
}

/** Runs `work` every `everyMs` milliseconds until aborted. A failure is reported and does not stop later runs. */
export async function repeatedly(
  world: Pick<World, 'sleep'>,
  options: { everyMs: number; signal: AbortSignal; onFailure: (error: unknown) => void },
  work: () => Promise<unknown>,
): Promise<void> {
  const { everyMs, signal, onFailure } = options;
  while (!signal.aborted) {
    await world.sleep(everyMs, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) return;
    await work().catch(onFailure);
  }
}

/** The same, and at once. */
export async function fromNowOn(...[world, options, work]: Parameters<typeof repeatedly>): Promise<void> {
  await work().catch(options.onFailure);
  await repeatedly(world, options, work);
}

/** Resolves when the work is done, however it ends, when it has taken so long, or when the signal is aborted. */
export async function within(
  world: Pick<World, 'sleep'>,
  work: Promise<unknown>,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const ended = signal ? AbortSignal.any([over.signal, signal]) : over.signal;
  const late = world.sleep(ms, ended).catch(() => {});
  await Promise.race([work.catch(() => {}), late]);
  over.abort();
}

const pollMs = 250;

/**
 * Looks every 250 ms whether something is done that another daemon does; resolves to false if it is not in time, or when the signal is
 * aborted.
 */
export async function pollUntil(
  world: Pick<World, 'sleep'>,
  { withinMs, signal }: { withinMs: number; signal?: AbortSignal },
  isDone: () => Promise<boolean>,
): Promise<boolean> {
  for (let leftMs = withinMs; !signal?.aborted; leftMs -= pollMs) {
    if (await isDone()) return true;
    if (leftMs <= 0) return false;
    await world.sleep(Math.min(pollMs, leftMs), signal).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
    });
  }
  return false;
}

/** A signal that is aborted after `ms` milliseconds, with a reason if one is given; `clear` ends the wait. */
export function timeLimit(
  world: Pick<World, 'sleep'>,
  ms: number,
  reason?: () => unknown,
): { signal: AbortSignal; clear: () => void } {
  const late = new AbortController();
  const over = new AbortController();
  world.sleep(ms, over.signal).then(
    () => late.abort(reason?.()),
    () => {},
  );
  return { signal: late.signal, clear: () => over.abort() };
}
