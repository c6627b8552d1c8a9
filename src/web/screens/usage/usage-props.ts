import type { Result } from '../../../shared/contract/endpoint.ts';
import type { getUsageSeries } from '../../../shared/contract/usage.ts';
import type { Query } from '../../data/query.ts';
import type { Measure } from '../../parts/chart-data.ts';
import type { UsageChoices } from './usage-choices.ts';
import type { UsagePeriod } from './usage-period.ts';

export type Series = Result<typeof getUsageSeries>;
export type SeriesQuery = Query<Series>;

/** What every part of the screen is about. */
export interface UsageProps {
  choices: UsageChoices;
  measure: Measure;
  period: UsagePeriod;
  timeZone: string;
  /** The name of a group that people know, such as that of a key. */
  nameOf: (group: string, value: string | null) => string;
}
