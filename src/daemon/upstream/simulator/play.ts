import type { Batch, InferenceEvent } from '../../features/inference/neutral.ts';
import type { World } from '../../world.ts';
import type { Pace } from './answer.ts';
import type { Composition } from './compose.ts';

/** Enough to make few batches of most answers, few enough to notice early that nobody listens. */
const eventsPerBatch = 256;

/**
 * Sends the steps: all at once, or each when its turn comes at the pace's rate. A late reader finds everything that was
 * due meanwhile in one batch. Rejects with the signal's reason when it is aborted.
 */
export async function* play(
  { steps, failure }: Composition,
  { tokensPerSecond }: Pace,
  world: Pick<World, 'elapsed' | 'sleep'>,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const startedAt = tokensPerSecond === undefined ? 0 : world.elapsed();
  let events: InferenceEvent[] = [];
  let sent = 0;
  for (const { event, tokens } of steps) {
    if (tokensPerSecond !== undefined && tokens > 0) {
      const due = startedAt + (sent / tokensPerSecond) * 1000;
      if (due > world.elapsed() || events.length >= eventsPerBatch) {
        if (events.length > 0) yield { events, frames: undefined };
        events = [];
        const waitMs = due - world.elapsed();
        if (waitMs > 0) await world.sleep(Math.ceil(waitMs), signal);
        signal.throwIfAborted();
      }
      sent += tokens;
    } else if (events.length >= eventsPerBatch) {
      yield { events, frames: undefined };
      events = [];
      signal.throwIfAborted();
    }
    events.push(event);
  }
  if (events.length > 0) yield { events, frames: undefined };
  signal.throwIfAborted();
  if (failure) throw failure;
}
