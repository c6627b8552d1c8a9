import type { Client } from '../../../shared/client.ts';
import type { EventView } from '../../../shared/contract/events.ts';
import { streamEvents } from '../../addresses.ts';
import { mayPass } from '../../commands/may-pass.ts';

/** How the line to the daemon is. `refused`: it answers, and does not let this key watch. */
export type Connection =
  | { state: 'connecting' | 'live' }
  | { state: 'lost'; retryAt: number }
  | { state: 'refused'; why: string };

interface FollowOptions {
  /** Asked anew for each try: a daemon that was started again may be elsewhere. */
  client: () => Client;
  signal: AbortSignal;
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  onEvent(event: EventView): void;
  /** Each time that the stream is open, the first time too: what it missed can be asked for now. */
  onOpen(): void;
  onState(connection: Connection): void;
  /** Before another try. */
  onRetry(): void;
}

const firstWaitMs = 250;
const longestWaitMs = 5000;

/** Follows the events of the workspace until the signal, over every restart of the daemon, from the last one that was seen. */
export async function followEvents(options: FollowOptions): Promise<void> {
  const { signal, onState, onOpen } = options;
  let lastId: string | undefined;
  let waitMs = firstWaitMs;
  onState({ state: 'connecting' });
  while (!signal.aborted) {
    let refusal: Error | undefined;
    try {
      const events = options.client().stream(
        streamEvents,
        { query: {}, headers: { 'last-event-id': lastId } },
        {
          signal,
          onOpen() {
            waitMs = firstWaitMs;
            onState({ state: 'live' });
            onOpen();
          },
        },
      );
      for await (const { id, data } of events) {
        lastId = id ?? lastId;
        options.onEvent(JSON.parse(data) as EventView);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!mayPass(error)) refusal = error as Error;
    }
    if (signal.aborted) return;
    // A key that may not watch now may be allowed to later; it is asked seldom.
    if (refusal) waitMs = longestWaitMs;
    onState(
      refusal
        ? { state: 'refused', why: refusal.message }
        : { state: 'lost', retryAt: options.now() + waitMs },
    );
    await options.sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
    options.onRetry();
  }
}
