import { hrefOf } from '../../data/route.ts';
import { type Measure, measureTitles } from '../../parts/chart-data.ts';

/** What calls can be divided by over time. */
export const seriesGroups = ['model', 'key', 'provider', 'status'] as const;
/** What only totals can be divided by. */
export const labelGroups = ['client', 'user', 'tag', 'error'] as const;

export type SeriesGroup = (typeof seriesGroups)[number];
type LabelGroup = (typeof labelGroups)[number];
export type UsageGroupName = SeriesGroup | LabelGroup;

export const groupTitles: Readonly<Record<UsageGroupName, string>> = {
  model: 'Model',
  key: 'Key',
  provider: 'Provider',
  status: 'Status',
  client: 'Client',
  user: 'User',
  tag: 'Tag',
  error: 'Error',
};

/** What the address of the screen says, with defaults for what it leaves out. */
export interface UsageChoices {
  by: UsageGroupName;
  /** The second group. */
  and: SeriesGroup | undefined;
  /** Undefined: cost, or calls if none had a cost. */
  measure: Measure | undefined;
  filters: Readonly<Partial<Record<SeriesGroup, string>>>;
  /** Whether the table has a row per bucket. */
  isOverTime: boolean;
}

export function isLabel(group: UsageGroupName): group is LabelGroup {
  return labelGroups.some((name) => name === group);
}

/** The choices in the address. */
export function usageChoices(query: URLSearchParams): UsageChoices {
  const filters = Object.fromEntries(
    seriesGroups.flatMap((name) => {
      const value = query.get(name);
      return value ? [[name, value]] : [];
    }),
  );
  const named = [...seriesGroups, ...labelGroups].find((name) => name === query.get('by')) ?? 'model';
  // There are no totals of labels by other groups.
  const by = isLabel(named) && Object.keys(filters).length > 0 ? 'model' : named;
  const second = seriesGroups.find((name) => name === query.get('and'));
  const isSplit = second !== by && !isLabel(by) && !filters.provider && !filters.status;
  return {
    by,
    and: isSplit ? second : undefined,
    measure: (Object.keys(measureTitles) as Measure[]).find((name) => name === query.get('show')),
    filters,
    isOverTime: query.get('rows') === 'time',
  };
}

/** The address of the screen with only the calls of a group, by what is most likely asked next. */
export function narrowedHref(query: URLSearchParams, group: SeriesGroup, value: string): string {
  const next: Record<SeriesGroup, SeriesGroup> = {
    model: 'key',
    key: 'model',
    provider: 'model',
    status: 'model',
  };
  const { and: _, ...kept } = Object.fromEntries(query);
  return hrefOf('usage', [], { ...kept, [group]: value, by: next[group] });
}
