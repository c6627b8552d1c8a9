import type { SseEvent } from '../../../shared/sse.ts';
import { followStream, type OpenStream } from '../../follow-stream.ts';

/** How a line to the daemon is. `refused`: it answers, and does not let this key watch. */
export type Connection =
  | { state: 'connecting' | 'live' }
  | { state: 'lost'; retryAt: number }
  | { state: 'refused'; why: string };

export interface Followed {
  open: OpenStream;
  /** The id to begin after. */
  after?: string;
  signal: AbortSignal;
  onEvent(event: SseEvent): void;
  /** `live` each time that the stream is open: what it does not tell can be asked for now. */
  onState(connection: Connection): void;
}

/** Follows a stream until the signal, over every restart of the daemon, from the last event that was seen. */
export type Follow = (followed: Followed) => Promise<void>;

interface FollowerOptions {
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** A daemon that was started again may be elsewhere. */
  forgetHost(): void;
}

/** What follows streams for the whole program. */
export function follower({ now, sleep, forgetHost }: FollowerOptions): Follow {
  return (followed) => {
    const { onState } = followed;
    onState({ state: 'connecting' });
    return followStream({
      ...followed,
      sleep,
      onOpen: () => onState({ state: 'live' }),
      onLost({ error, mayPass, waitMs }) {
        onState(
          mayPass
            ? { state: 'lost', retryAt: now() + waitMs }
            : { state: 'refused', why: error instanceof Error ? error.message : String(error) },
        );
      },
      beforeRetry: forgetHost,
    });
  };
}
