import { getUsage, listUsage, tokensServed } from '../../../shared/contract/usage.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isoTime, parseTime } from '../../../shared/time.ts';
import { identified, implement } from '../../handler.ts';
import type { UsageReader } from './usage-reader.ts';
import { servedView, usageSums, usageView } from './usage-view.ts';

const dayMs = 24 * 60 * 60 * 1000;
const daysDefault = 30;

export const usageHandlers = (usage: UsageReader, now: () => number) => [
  implement(getUsage, async ({ caller, params }) =>
    usageView(await usage.ofRequest(identified(caller), params.request_id)),
  ),

  implement(listUsage, async ({ caller, query }) => {
    const groupBy = query.group_by ?? 'day';
    const until = timeOf('until', query.until) ?? now() + 1;
    const since = timeOf('since', query.since) ?? startOfDay(until - 1) - (daysDefault - 1) * dayMs;
    const wish = { keyId: query.key, model: query.model, since, until, groupBy };
    const groups = await usage.summary(identified(caller), wish);
    return {
      object: 'list',
      group_by: groupBy,
      since: isoTime(since),
      until: isoTime(until),
      total: usageSums(groups),
      data: groups.map((group) => ({ group: group.group, ...usageSums([group]) })),
      has_more: false,
      next: null,
    };
  }),

  implement(tokensServed, async () => servedView(await usage.served())),
];

/** A bare day as `until` means the whole of that day: nobody who names a last day wants it left out. */
function timeOf(param: 'since' | 'until', text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseTime(text);
  if (ms === undefined)
    throw new ApiError('invalid_request', { param, message: `\`${param}\` is not a time.` });
  return param === 'until' && text.length === 10 ? ms + dayMs : ms;
}

function startOfDay(ms: number): number {
  return ms - (ms % dayMs);
}
