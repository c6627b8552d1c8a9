import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { facetTraces } from './facet-traces.ts';
import { countRejections, listRejections, rejectedCalls } from './list-rejections.ts';
import { listTraces } from './list-traces.ts';
import { matchingCalls } from './matching-calls.ts';
import { readAttempts } from './read-attempts.ts';
import type { ScanPace } from './scan-calls.ts';
import { searchTraces } from './search-traces.ts';
import { sortTraces } from './sort-traces.ts';

export function tracesReads(database: Connection, names: NameTexts, pace: ScanPace) {
  return {
    traces: (filter: Parameters<typeof listTraces>[2]) => listTraces(database, names, filter),
    searchTraces: (filter: Parameters<typeof searchTraces>[2]) => searchTraces(database, names, filter, pace),
    sortedTraces: (filter: Parameters<typeof sortTraces>[2]) => sortTraces(database, names, filter, pace),
    matchingCalls: (filter: Parameters<typeof matchingCalls>[2]) => matchingCalls(database, names, filter),
    traceFacets: (filter: Parameters<typeof facetTraces>[2]) => facetTraces(database, names, filter, pace),
    countRejections: (filter: Parameters<typeof countRejections>[1]) => countRejections(database, filter),
    rejectedCalls: (filter: Parameters<typeof rejectedCalls>[1]) => rejectedCalls(database, filter),
    attempts: (filter: Parameters<typeof readAttempts>[2]) => readAttempts(database, names, filter),
    rejections: (filter: Parameters<typeof listRejections>[2]) => listRejections(database, names, filter),
  };
}

export type TracesReads = ReturnType<typeof tracesReads>;
