import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { listRejections } from './list-rejections.ts';
import { listTraces } from './list-traces.ts';
import { searchTraces } from './search-traces.ts';

export function tracesReads(database: Connection, names: NameTexts) {
  return {
    traces: (filter: Parameters<typeof listTraces>[2]) => listTraces(database, names, filter),
    searchTraces: (filter: Parameters<typeof searchTraces>[2]) => searchTraces(database, names, filter),
    rejections: (filter: Parameters<typeof listRejections>[2]) => listRejections(database, names, filter),
  };
}

export type TracesReads = ReturnType<typeof tracesReads>;
