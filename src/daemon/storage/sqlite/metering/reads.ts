import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { servedDays, summarizeUsage } from './summaries.ts';

export function meteringReads(database: Connection, names: NameTexts) {
  return {
    served: () => servedDays(database),
    summarize: (filter: Parameters<typeof summarizeUsage>[2]) => summarizeUsage(database, names, filter),
  };
}

export type MeteringReads = ReturnType<typeof meteringReads>;
