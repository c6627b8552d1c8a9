import type { SseEvent } from '../../shared/sse.ts';
import type { Context } from '../context.ts';
import { followStream, type OpenStream } from '../hosts/follow-stream.ts';

interface FollowingRows extends Pick<Following, 'show'> {
  /** The id of the newest row: what comes after it is shown, also when the connection is lost before the next. */
  newest: () => Promise<number>;
  open: (lastId: string, options: Parameters<OpenStream>[1]) => AsyncIterable<SseEvent>;
}

/** Follows rows from the newest one on, until Ctrl-C. */
export async function followRows(context: Context, { newest, open, show }: FollowingRows): Promise<void> {
  const first = String(await newest());
  await follow(context, { show, open: (lastId = first, options) => open(lastId, options) });
}

interface Following {
  open: OpenStream;
  show: (event: SseEvent) => Promise<void> | void;
  /** Called when the stream is open for the first time. */
  onFirst?: () => void;
  /** Ends it too, besides Ctrl-C. */
  until?: AbortSignal | undefined;
}

/** Follows events until Ctrl-C. A lost connection is told, tried again, and resumed after the last one that was seen. */
export async function follow(context: Context, { open, show, onFirst, until }: Following): Promise<void> {
  const interrupted = context.interrupted();
  let state: 'new' | 'open' | 'lost' = 'new';
  await followStream({
    open,
    onEvent: show,
    signal: until ? AbortSignal.any([interrupted, until]) : interrupted,
    sleep: (ms, signal) => context.sleep(ms, signal),
    beforeRetry: () => context.forgetHost(),
    onOpen() {
      const { url } = context.host();
      context.out.note(state === 'new' ? `Following ${url}; Ctrl-C ends.` : `Connected again to ${url}.`);
      if (state === 'new') onFirst?.();
      state = 'open';
    },
    onLost({ error, mayPass }) {
      if (error !== undefined && (state === 'new' || !mayPass)) throw error;
      if (state !== 'lost') context.out.warn('The connection was lost; trying again until it is back.');
      state = 'lost';
    },
  });
}
