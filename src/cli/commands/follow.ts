import type { SseEvent } from '../../shared/http/sse.ts';
import type { Context } from '../context.ts';
import { followStream, type OpenStream } from '../hosts/follow-stream.ts';

interface FollowingRows extends Pick<Following, 'show'> {
  /** The id of the newest row. Following starts after it, even if the connection is lost before the next row. */
  newest: () => Promise<number>;
  open: (lastId: string, options: Parameters<OpenStream>[1]) => AsyncIterable<SseEvent>;
}

/** Follows new rows until Ctrl-C. */
export async function followRows(context: Context, { newest, open, show }: FollowingRows): Promise<void> {
  const first = String(await newest());
  await follow(context, { show, open: (lastId = first, options) => open(lastId, options) });
}

interface Following {
  open: OpenStream;
  show: (event: SseEvent) => Promise<void> | void;
  /** Called when the stream is open for the first time. */
  onFirst?: () => void;
  /** Also ends it. */
  until?: AbortSignal | undefined;
}

/** Follows events until Ctrl-C. A lost connection is reported and resumed after the last event. */
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
      context.out.note(
        state === 'new' ? `Following ${url}. Press Ctrl-C to stop.` : `Reconnected to ${url}.`,
      );
      if (state === 'new') onFirst?.();
      state = 'open';
    },
    onLost({ error, isTransient }) {
      if (error !== undefined && (state === 'new' || !isTransient)) throw error;
      if (state !== 'lost') context.out.warn('Connection lost; reconnecting.');
      state = 'lost';
    },
  });
}
