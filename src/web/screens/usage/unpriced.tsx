import { listUsage } from '../../../shared/endpoints.ts';
import { count } from '../../../view/numbers.ts';
import { allCalls } from '../../../view/usage.ts';
import { callsHref } from '../../data/calls-link.ts';
import { useList } from '../../data/query.ts';
import { CallsFigure } from '../../parts/calls-figure.tsx';
import type { UsageProps } from './usage-props.ts';

/** Names the models of calls without a known price, which no amount includes. */
export function Unpriced({ period, choices }: UsageProps) {
  const { since, until } = period;
  const { key, model } = choices.filters;
  const { data } = useList(listUsage, {
    query: { since, until, group_by: 'model', ...(key && { key }), ...(model && { model }) },
  });
  const models = data?.data.filter(({ unpriced_requests }) => unpriced_requests > 0) ?? [];
  if (models.length === 0) return null;
  const calls = data?.total.unpriced_requests ?? 0;
  return (
    <p class="notice" role="note">
      {calls === 1 ? '1 call has' : `${count(calls)} calls have`} no known price and{' '}
      {calls === 1 ? 'is' : 'are'} in no amount:{' '}
      {models.map(({ group, unpriced_requests, requests, rejected }, at) => (
        <span key={group}>
          {at > 0 && ', '}
          <CallsFigure
            text={group ?? 'no model'}
            what="model"
            of={{
              href: callsHref({ ...(key && { key }), model: group, since, until }),
              calls: allCalls({ requests, rejected }),
            }}
          />{' '}
          ({count(unpriced_requests)})
        </span>
      ))}
      .
    </p>
  );
}
