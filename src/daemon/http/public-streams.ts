import type { ServerResponse } from 'node:http';
import { ApiError } from '../../shared/errors.ts';
import { network } from './rate-limit.ts';

const retryAfterSeconds = 30;

/**
 * Counts the open streams of callers without a credential, by their address: they cost nothing and end when their readers
 * wish, and would sooner or later fill every place that there is.
 */
export function publicStreams(max: number) {
  const open = new Map<string, number>();
  return {
    /** One more, until its response is over. Fails with `rate_limited` when the address has as many as it may. */
    enter(address: string, response: ServerResponse): void {
      const place = network(address);
      const count = open.get(place) ?? 0;
      if (count >= max) {
        const message = `At most ${max} streams without a key may be open from one address.`;
        throw new ApiError('rate_limited', { message, retryAfterSeconds });
      }
      open.set(place, count + 1);
      response.once('close', () => {
        const left = (open.get(place) ?? 0) - 1;
        if (left > 0) open.set(place, left);
        else open.delete(place);
      });
    },
  };
}

export type PublicStreams = ReturnType<typeof publicStreams>;
