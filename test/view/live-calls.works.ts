import { LiveCalls } from '../../src/view/live-calls.ts';
import type { CountedWork } from '../support/counted-thread.ts';

export const works: Record<string, CountedWork> = {
  'completed requests': (size) => {
    const store = new LiveCalls({ max: 1000 });
    const events = Array.from({ length: size }, (_, number) => ({
      type: 'request.completed',
      sequence: null,
      created_at: new Date(Date.UTC(2026, 10, 21, 9) + number * 1_000).toISOString(),
      data: { request_id: `req_${number}`, status: 'completed' },
    }));
    return () => {
      for (const event of events) store.apply(event);
      return store.rows().length;
    };
  },
};
