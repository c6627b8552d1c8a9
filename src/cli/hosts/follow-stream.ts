import type { SseEvent } from '../../shared/http/sse.ts';
import { isTransient } from './is-transient.ts';

/** Opens a stream, after the event with that id if given. */
export type OpenStream = (
  lastId: string | undefined,
  options: { signal: AbortSignal; onOpen: () => void },
) => AsyncIterable<SseEvent>;

/** Why a stream was interrupted, and when it is retried. */
interface LostStream {
  /** Undefined if the server closed it normally. */
  error: unknown;
  /** Whether the failure is likely a restart of the daemon. */
  isTransient: boolean;
  /** Milliseconds until the next attempt. */
  waitMs: number;
}

interface StreamFollowing {
  open: OpenStream;
  /** The event id to start after; without one, the stream's own start. */
  after?: string | undefined;
  signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** If it throws, the stream is resumed before this event. */
  onEvent(event: SseEvent): Promise<void> | void;
  /** Called each time the stream opens, including the first. */
  onOpen(): void;
  /** Throws to stop following. */
  onLost(lost: LostStream): void;
  /** Called before each new attempt. */
  beforeRetry(): void;
}

const firstWaitMs = 250;
const longestWaitMs = 5000;

/** Follows a stream until the signal, reconnecting after the last event whenever it is interrupted. */
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
    const isRetryable = error === undefined || isTransient(error);
    // A refusal may be lifted later, so retry, but rarely.
    if (!isRetryable) waitMs = longestWaitMs;
    onLost({ error, isTransient: isRetryable, waitMs });
    await following.sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
    following.beforeRetry();
  }
}
