import { getUsage, listUsage, tokensServed } from '../../../shared/contract/usage.ts';
import { ApiError } from '../../../shared/errors.ts';
import { isoTime, parseTime } from '../../../shared/time.ts';
import { identified, implement } from '../../handler.ts';
import type { UsageReader } from './usage-reader.ts';
import { servedView, usageSums, usageView } from './usage-view.ts';

const dayMs = 24 * 60 * 60 * 1000;

export const usageHandlers = (usage: UsageReader) => [
  implement(getUsage, async ({ caller, params }) =>
    usageView(await usage.ofRequest(identified(caller), params.request_id)),
  ),

  implement(listUsage, async ({ caller, query }) => {
    const groupBy = query.group_by ?? 'day';
    const { since, until, groups } = await usage.summary(identified(caller), {
      keyId: query.key,
      model: query.model,
      since: timeOf('since', query.since),
      until: timeOf('until', query.until),
      groupBy,
    });
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
