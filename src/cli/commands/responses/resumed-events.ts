import type { SseEvent } from '../../../shared/sse.ts';
import { getResponse } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { mayPass } from '../../may-pass.ts';

const firstWaitMs = 250;
const longestWaitMs = 5000;
const isLast = /^response\.(completed|incomplete|failed)$/;

interface EventHead {
  type: string;
  sequence_number: number;
}

/** The events of a background response to its last one. A connection that was lost is told, tried again, and resumed. */
export async function* resumedEvents(
  context: Context,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<SseEvent> {
  let after: number | undefined;
  let waitMs = firstWaitMs;
  let wasOpen = false;
  let isLost = false;
  const onOpen = () => {
    if (isLost) context.out.note('Connected again.');
    wasOpen = true;
    isLost = false;
    waitMs = firstWaitMs;
  };
  while (!signal.aborted) {
    try {
      const query = { stream: true, starting_after: after };
      const events = context.client().stream(getResponse, { params: { id }, query }, { signal, onOpen });
      for await (const event of events) {
        const { type, sequence_number: sequence } = JSON.parse(event.data) as EventHead;
        after = sequence;
        yield event;
        if (isLast.test(type)) return;
      }
    } catch (error) {
      if (signal.aborted || !wasOpen || !mayPass(error)) throw error;
    }
    if (!isLost) context.out.warn('The connection was lost; trying again until it is back.');
    isLost = true;
    await context.sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
    context.forgetHost();
  }
}
