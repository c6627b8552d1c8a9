import { ApiError } from '../../../../shared/errors.ts';
import type { SeriesFilter, UsageFilter, UsageGrouping } from '../store.ts';

const labels: readonly UsageGrouping[] = ['client', 'user', 'tag', 'error'];

/** Parses the parameter `group_by`, of which the contract has checked the form. */
export function groupingsIn(text: string): UsageGrouping[] {
  return [...new Set(text.split(',') as UsageGrouping[])];
}

/** Fails with `invalid_request` for groups of which there are no totals. */
export function checkGroups({
  keyId,
  model,
  groupBy,
  timeZone,
}: Pick<UsageFilter, 'keyId' | 'model' | 'groupBy' | 'timeZone'>): void {
  const label = groupBy.find((group) => labels.includes(group));
  const isLocalDay = groupBy.includes('day') && timeZone !== 'UTC';
  if (label && groupBy.some((group) => group !== label && group !== 'day'))
    throw refused(`\`${label}\` can only be grouped together with \`day\`.`);
  if (label && (keyId !== undefined || model !== undefined))
    throw refused(`Usage by \`${label}\` cannot be limited to a key or a model.`);
  if (isLocalDay && (label || (groupBy.includes('key') && keyId === undefined)))
    throw refused(`The days of usage by \`${label ?? 'key'}\` are those of UTC: leave out \`tz\`.`);
}

/** Fails with `invalid_request` for filters of a series by error code, of which there are no totals by other groups. */
export function checkSeriesGroup({
  groupBy,
  keyId,
  model,
  provider,
  status,
}: Pick<SeriesFilter, 'groupBy' | 'keyId' | 'model' | 'provider' | 'status'>): void {
  if (groupBy === 'error' && [keyId, model, provider, status].some((value) => value !== undefined))
    throw refused('A series by `error` cannot be limited to a key, a model, a provider or a status.');
}

function refused(message: string): ApiError {
  return new ApiError('invalid_request', { param: 'group_by', message });
}
