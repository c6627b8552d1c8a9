import type { SseEvent } from '../../shared/sse.ts';
import type { Context } from '../context.ts';
import { mayPass } from './may-pass.ts';

const firstWaitMs = 250;
const longestWaitMs = 5000;

interface FollowingRows extends Pick<Following, 'show'> {
  /** The id of the newest row: what comes after it is shown, also when the connection is lost before the next. */
  newest: () => Promise<number>;
  open: (lastId: string, options: { signal: AbortSignal; onOpen: () => void }) => AsyncIterable<SseEvent>;
}

/** Follows rows from the newest one on, until Ctrl-C. */
export async function followRows(context: Context, { newest, open, show }: FollowingRows): Promise<void> {
  const first = String(await newest());
  await follow(context, { show, open: (lastId = first, options) => open(lastId, options) });
}

interface Following {
  /** Opens the stream, after the event of that id where one was seen. */
  open: (
    lastId: string | undefined,
    options: { signal: AbortSignal; onOpen: () => void },
  ) => AsyncIterable<SseEvent>;
  show: (event: SseEvent) => Promise<void> | void;
  /** Called when the stream is open for the first time. */
  onFirst?: () => void;
}

/** Follows events until Ctrl-C. A lost connection is told, tried again, and resumed after the last one that was seen. */
export async function follow(context: Context, { open, show, onFirst }: Following): Promise<void> {
  const signal = context.interrupted();
  let lastId: string | undefined;
  let waitMs = firstWaitMs;
  let state: 'new' | 'open' | 'lost' = 'new';
  const onOpen = () => {
    const { url } = context.host();
    context.out.note(state === 'new' ? `Following ${url}; Ctrl-C ends.` : `Connected again to ${url}.`);
    if (state === 'new') onFirst?.();
    state = 'open';
    waitMs = firstWaitMs;
  };

  while (!signal.aborted) {
    try {
      for await (const event of open(lastId, { signal, onOpen })) {
        lastId = event.id ?? lastId;
        await show(event);
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
