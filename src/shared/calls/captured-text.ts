import type { TraceView } from '../contract/traces.ts';

/** What became of the content of a call, in words. */
export const capturedTexts: Readonly<Record<NonNullable<TraceView['captured']>['state'], string>> = {
  none: 'not kept',
  memory: 'in memory',
  disk: 'on disk',
  deleted: 'deleted',
  expired: 'no longer kept',
};
