import type { EventView } from '../../../shared/contract/events.ts';
import { streamEvents } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import { mayPass } from '../may-pass.ts';
import { eventLine, titleLine } from './event-line.ts';

const firstWaitMs = 250;
const longestWaitMs = 5000;

/** Follows events until Ctrl-C. A lost connection is told, tried again, and resumed after the last event that was seen. */
export async function followAndShow(
  context: Context,
  { after }: { after?: number | undefined },
): Promise<void> {
  const signal = context.interrupted();
  let lastId: string | undefined;
  let waitMs = firstWaitMs;
  let state: 'new' | 'open' | 'lost' = 'new';

  const onOpen = () => {
    const { url } = context.host();
    context.out.note(state === 'new' ? `Following ${url}; Ctrl-C ends.` : `Connected again to ${url}.`);
    if (state === 'new') showTitles(context);
    state = 'open';
    waitMs = firstWaitMs;
  };

  while (!signal.aborted) {
    try {
      const events = context.client().stream(
        streamEvents,
        {
          query: { after: lastId === undefined ? after : undefined },
          headers: { 'last-event-id': lastId },
        },
        { signal, onOpen },
      );
      for await (const { id, data } of events) {
        lastId = id ?? lastId;
        await showEvent(context, JSON.parse(data) as EventView);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (state === 'new' || !mayPass(error)) throw error;
    }
    if (signal.aborted) return;
    if (state !== 'lost') context.out.warn('The connection was lost; trying again until it is back.');
    state = 'lost';
    await context.sleep(waitMs, signal);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
    context.forgetHost();
  }
}

async function showEvent(context: Context, event: EventView): Promise<void> {
  if (context.out.wantsJson()) return context.out.element(event);
  const { stdout, columns } = context.io;
  const paint = context.out.paint.stdout;
  const line = eventLine(event, { isTty: stdout.isTty, columns: columns(), paint });
  if (line !== undefined) stdout.write(line);
}

function showTitles({ io, out }: Context): void {
  if (!io.stdout.isTty || out.wantsJson()) return;
  io.stdout.write(out.paint.stdout('bold', titleLine(io.columns())));
}
