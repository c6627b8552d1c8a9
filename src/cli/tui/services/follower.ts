import { messageOf } from '../../../shared/faults/message-of.ts';
import type { SseEvent } from '../../../shared/http/sse.ts';
import { followStream, type OpenStream } from '../../hosts/follow-stream.ts';

/** The state of a stream. `refused`: the daemon does not allow this key to follow it. */
export type Connection =
  | { state: 'connecting' | 'live' }
  | { state: 'lost'; retryAt: number }
  | { state: 'refused'; why: string };

export interface FollowOptions {
  open: OpenStream;
  /** The ID of the event to start after. */
  after?: string;
  signal: AbortSignal;
  onEvent(event: SseEvent): void;
  /** `live` each time the stream opens: missed changes can be fetched then. */
  onState(connection: Connection): void;
}

/** Follows a stream until the signal aborts, across restarts of the daemon, resuming after the last event. */
export type Follow = (options: FollowOptions) => Promise<void>;

interface FollowerOptions {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** A restarted daemon may have a new address. */
  forgetHost(): void;
}

/** Creates the function that follows streams for the whole program. */
export function createFollower({ now, sleep, forgetHost }: FollowerOptions): Follow {
  return (options) => {
    const { onState } = options;
    onState({ state: 'connecting' });
    return followStream({
      ...options,
      sleep,
      onOpen: () => onState({ state: 'live' }),
      onLost({ error, isTransient, waitMs }) {
        onState(
          isTransient
            ? { state: 'lost', retryAt: now() + waitMs }
            : { state: 'refused', why: messageOf(error) },
        );
      },
      beforeRetry: forgetHost,
    });
  };
}
