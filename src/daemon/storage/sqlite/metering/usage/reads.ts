import type { Connection } from '../../engine/connection.ts';
import type { NameTexts } from '../../engine/names.ts';
import { readLatency } from './read-latency.ts';
import { readSeries, servedDays, summarizeUsage } from './summaries.ts';
import { readUsagePage } from './usage-pages.ts';

export function meteringReads(database: Connection, names: NameTexts) {
  return {
    served: () => servedDays(database),
    summarize: (filter: Parameters<typeof summarizeUsage>[2]) => summarizeUsage(database, names, filter),
    usagePage: (filter: Parameters<typeof readUsagePage>[2]) => readUsagePage(database, names, filter),
    series: (filter: Parameters<typeof readSeries>[2]) => readSeries(database, names, filter),
    latency: (filter: Parameters<typeof readLatency>[2]) => readLatency(database, names, filter),
  };
}

export type MeteringReads = ReturnType<typeof meteringReads>;
