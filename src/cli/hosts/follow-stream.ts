import type { SseEvent } from '../../shared/sse.ts';
import { mayPass } from '../failures/is-transient.ts';

/** Opens a stream, after the event of that id where one was seen. */
export type OpenStream = (
  lastId: string | undefined,
  options: { signal: AbortSignal; onOpen: () => void },
) => AsyncIterable<SseEvent>;

/** Why a stream is not followed for now, and when it is tried again. */
export interface LostStream {
  /** Undefined where the other side ended it as usual. */
  error: unknown;
  /** Whether the failure is one that a restart of the daemon brings and ends. */
  mayPass: boolean;
  /** Milliseconds until the next try. */
  waitMs: number;
}

interface StreamFollowing {
  open: OpenStream;
  /** The id to begin after; without one, wherever the stream begins by itself. */
  after?: string | undefined;
  signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** An event that it fails at is not seen: the stream is resumed before it. */
  onEvent(event: SseEvent): Promise<void> | void;
  /** Each time that the stream is open, the first time too. */
  onOpen(): void;
  /** Throws what is to end it all. */
  onLost(lost: LostStream): void;
  /** Before another try. */
  beforeRetry(): void;
}

const firstWaitMs = 250;
const longestWaitMs = 5000;

/** Follows a stream until the signal, over every restart of the daemon, each time from the last event that was seen. */
export async function followStream(following: StreamFollowing): Promise<void> {
  const { signal, open, onEvent, onLost } = following;
  let lastId = following.after;
  let waitMs = firstWaitMs;
  const onOpen = () => {
    waitMs = firstWaitMs;
    following.onOpen();
  };
  while (!signal.aborted) {
    let error: unknown;
    try {
      for await (const event of open(lastId, { signal, onOpen })) {
        await onEvent(event);
        lastId = event.id ?? lastId;
      }
    } catch (thrown) {
      error = thrown;
    }
    if (signal.aborted) return;
    const passes = error === undefined || mayPass(error);
    // What is refused now may be allowed later; it is asked seldom.
    if (!passes) waitMs = longestWaitMs;
    onLost({ error, mayPass: passes, waitMs });
    await following.sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
    following.beforeRetry();
  }
}
