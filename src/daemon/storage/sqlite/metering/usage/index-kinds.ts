import { fixedNames } from '../../engine/names.ts';

/**
 * What `call_index` lists calls by: all of a workspace (value 0), those of a key, model or provider, and those with a status
 * other than `completed`; of a user, a tag, a conversation or a repeated request; with an error code; and those that took at
 * least 4 seconds or cost at least a cent, by the binary logarithm of milliseconds and nano-dollars. Not by client, which
 * every call has.
 */
export const indexKinds = {
  all: 0,
  key: 1,
  model: 2,
  provider: 3,
  status: 4,
  client: 5,
  user: 6,
  tag: 7,
  conversation: 8,
  replayOf: 9,
  errorCode: 10,
  duration: 11,
  cost: 12,
} as const;

/** Most calls have this status. */
export const unlistedStatus = 'completed';

/** Whether `call_index` lists the calls with a status, by its number. */
export const isListed = (status: number) => status !== fixedNames[unlistedStatus];

export type IndexKind = Exclude<keyof typeof indexKinds, 'client'>;

/** ⌊log₂⌋ of the shortest duration in milliseconds, and the least cost in nano-dollars, that are listed. */
export const longFrom = 12;
export const dearFrom = 10_000_000;
