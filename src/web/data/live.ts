import { effect, signal } from '@preact/signals';
import { whenAborted } from '../../shared/async/when-aborted.ts';
import type { EventView } from '../../shared/contract/events.ts';
import { streamEvents } from '../../shared/endpoints.ts';
import { ReceivedError } from '../../shared/faults/received-error.ts';
import { CallPace, digestQuery } from '../../view/call-pace.ts';
import { stream } from './api.ts';
import { login } from './login.ts';

/**
 * The events of the workspace, read by one stream for all tabs of the browser: a browser opens only six connections to a host.
 * The tab that holds a lock reads them and passes them on; when it goes, another one continues after the last event.
 */

/** `lost`: the stream is opened again at `retryAt`, in milliseconds since 1970. `refused`: the key may not read events. */
export type Connection =
  | { state: 'off' | 'connecting' | 'open' | 'refused' }
  | { state: 'lost'; retryAt: number };

export const connection = signal<Connection>({ state: 'off' });

/** How often events were missed, after which the page reloads what it shows. */
export const gaps = signal(0);

type Listener = (events: readonly EventView[]) => void;

type Message =
  | { type: 'events'; events: readonly EventView[] }
  | { type: 'connection'; connection: Connection }
  | { type: 'gap' }
  /** Of a tab that has just opened. */
  | { type: 'ask' }
  | { type: 'retry' };

const listeners = new Set<Listener>();
/** Events are passed on in batches, as each of them draws what shows it. */
const batchMs = 100;
const hiddenMaxMs = 5 * 60_000;
/** A stream that was closed for longer is not resumed. */
const resumedMaxMs = 60_000;
const retriesMs = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000];

let tabs: BroadcastChannel | undefined;
/** Of the last event that has one. */
let sequence: number | undefined;
/** When the stream was last known to be open. */
let followedAt: number | undefined;
let retryNow = () => {};

/** Calls a function with the events as they come, in all tabs, until the returned function is called. */
export function onEvents(listener: Listener): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/** Opens a lost stream without waiting. */
export function reconnect(): void {
  retryNow();
  tabs?.postMessage({ type: 'retry' } satisfies Message);
}

/** Follows the events as long as someone is signed in and a tab was visible in the last minutes. */
export function followEvents(): void {
  let stop: (() => void) | undefined;
  const update = () => {
    stop?.();
    stop = undefined;
    const known = login.value;
    sequence = undefined;
    followedAt = undefined;
    connection.value = { state: 'off' };
    if (known !== undefined && known !== 'unknown')
      stop = followAs(`${known.secret} ${known.workspace ?? ''}`);
  };
  effect(update);
}

/** `identity`: the key and the workspace, which decide what events there are. */
function followAs(identity: string): () => void {
  const ended = new AbortController();
  let competing: AbortController | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const compete = () => {
    clearTimeout(hiding);
    if (competing && !competing.signal.aborted) return;
    competing = new AbortController();
    void takeTurn(identity, AbortSignal.any([competing.signal, ended.signal]));
  };
  const watch = () => {
    if (document.visibilityState === 'visible') compete();
    else hiding = setTimeout(() => competing?.abort(), hiddenMaxMs);
  };
  document.addEventListener('visibilitychange', watch, { signal: ended.signal });
  watch();
  return () => {
    ended.abort();
    clearTimeout(hiding);
    tabs?.close();
    tabs = undefined;
  };
}

/** Tabs with the same key and workspace share a stream: they find each other by a hash of both. */
async function takeTurn(identity: string, signal: AbortSignal): Promise<void> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(identity));
  const name = `gateway.events.${hexOf(digest)}`;
  if (signal.aborted) return;
  openChannel(name);
  await navigator.locks.request(name, { signal }, () => lead(signal)).catch(() => {});
  if (!signal.aborted) return;
  show({ state: 'off' });
}

function hexOf(digest: ArrayBuffer): string {
  return [...new Uint8Array(digest).slice(0, 12)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function openChannel(name: string): void {
  if (tabs?.name === name) return;
  tabs?.close();
  tabs = new BroadcastChannel(name);
  tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.type === 'events') deliver(data.events);
    else if (data.type === 'connection') connection.value = data.connection;
    else if (data.type === 'gap') gaps.value += 1;
    else if (data.type === 'retry') retryNow();
    else if (isLeading) announce();
  });
  tabs.postMessage({ type: 'ask' } satisfies Message);
}

let isLeading = false;

/** Reads the stream for all tabs, until the signal is aborted or the daemon refuses it. */
async function lead(signal: AbortSignal): Promise<void> {
  isLeading = true;
  try {
    for (let failures = 0; !signal.aborted; ) {
      const end = await read(signal, () => {
        failures = 0;
      });
      if (end === 'refused') {
        show({ state: 'refused' });
        // Another tab would be refused as well.
        await new Promise<void>((resolve) => {
          whenAborted(signal, resolve);
        });
        return;
      }
      if (signal.aborted || end === 'switched') continue;
      const waitMs = retriesMs[Math.min(failures, retriesMs.length - 1)] ?? 0;
      failures += 1;
      show({ state: 'lost', retryAt: Date.now() + waitMs });
      await waitOrRetry(waitMs, signal);
    }
  } finally {
    isLeading = false;
  }
}

function waitOrRetry(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let release = () => {};
    const done = () => {
      clearTimeout(timer);
      release();
      retryNow = () => {};
      resolve();
    };
    const timer = setTimeout(done, ms);
    release = whenAborted(signal, done);
    retryNow = done;
  });
}

/** Decides whether digests of calls are read in place of their events. */
const pace = new CallPace();

/** Reads one stream; `switched` if the next one is to have digests, or events, in place of the other. */
async function read(signal: AbortSignal, onOpen: () => void): Promise<'ended' | 'switched' | 'refused'> {
  const own = new AbortController();
  const batch = startBatch();
  if (connection.value.state !== 'open') show({ state: 'connecting' });
  try {
    forgetOldPosition();
    const query = {
      ...(sequence !== undefined && { after: sequence }),
      ...(pace.isDigest && digestQuery),
    };
    const options = {
      signal: AbortSignal.any([signal, own.signal]),
      onOpen: () => {
        onOpen();
        show({ state: 'open' });
      },
    };
    for await (const { data } of stream(streamEvents, { query, headers: {} }, options)) {
      const event = JSON.parse(data) as EventView;
      if (event.sequence !== null) sequence = event.sequence;
      batch.add(event);
      if (event.type === 'events.gap' || event.type === 'events.dropped') miss();
      if (pace.changes(event, performance.now())) return 'switched';
    }
    return 'ended';
  } catch (error) {
    return error instanceof ReceivedError && error.status >= 400 && error.status < 429 ? 'refused' : 'ended';
  } finally {
    followedAt = Date.now();
    batch.flush();
    own.abort();
  }
}

/** After a while, what is shown is loaded again rather than brought up to date by thousands of events. */
function forgetOldPosition(): void {
  const isFirst = followedAt === undefined;
  const isOld = !isFirst && Date.now() - (followedAt ?? 0) > resumedMaxMs;
  if (isOld) sequence = undefined;
  if (!isFirst && sequence === undefined) miss();
  followedAt = Date.now();
}

function startBatch() {
  let events: EventView[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (events.length === 0) return;
    const batch = events;
    events = [];
    tabs?.postMessage({ type: 'events', events: batch } satisfies Message);
    deliver(batch);
  };
  return {
    add(event: EventView) {
      events.push(event);
      timer ??= setTimeout(flush, batchMs);
    },
    flush,
  };
}

function deliver(events: readonly EventView[]): void {
  followedAt = Date.now();
  const last = events.findLast((event) => event.sequence !== null)?.sequence;
  if (typeof last === 'number') sequence = last;
  for (const listener of listeners) listener(events);
}

function show(next: Connection): void {
  connection.value = next;
  announce();
}

function announce(): void {
  tabs?.postMessage({ type: 'connection', connection: connection.value } satisfies Message);
}

function miss(): void {
  gaps.value += 1;
  tabs?.postMessage({ type: 'gap' } satisfies Message);
}
