import { getUsage, listUsage, tokensServed } from '../../../shared/contract/usage.ts';
import { isoTime } from '../../../shared/time.ts';
import { identified, implement } from '../../handler.ts';
import { timeBound } from './time-bound.ts';
import type { UsageReader } from './usage-reader.ts';
import { servedView, usageSums, usageView } from './usage-view.ts';

export const usageHandlers = (usage: UsageReader) => [
  implement(getUsage, async ({ caller, params }) =>
    usageView(await usage.ofRequest(identified(caller), params.request_id)),
  ),

  implement(listUsage, async ({ caller, query }) => {
    const groupBy = query.group_by ?? 'day';
    const { since, until, groups } = await usage.summary(identified(caller), {
      keyId: query.key,
      model: query.model,
      since: timeBound('since', query.since),
      until: timeBound('until', query.until),
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
