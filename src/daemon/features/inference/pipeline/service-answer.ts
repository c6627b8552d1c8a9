import type { ServiceAnswer } from '../../../../shared/contract/service-member.ts';
import { formatUsd } from '../../../../shared/money.ts';
import type { UsageRecord } from '../../metering/index.ts';
import { attemptView } from '../../routing/index.ts';

/** The member `service` of an answer. */
export function serviceAnswer(usage: UsageRecord): ServiceAnswer {
  return {
    model: usage.model,
    provider: usage.provider ?? '',
    attempts: usage.attempts.map(attemptView),
    cost: usage.cost && {
      provider_usd: formatUsd(usage.cost.provider),
      margin_usd: formatUsd(usage.cost.margin),
      total_usd: formatUsd(usage.cost.total),
    },
    charged_usd: formatUsd(usage.charged),
    own_key: usage.ownKey,
  };
}
