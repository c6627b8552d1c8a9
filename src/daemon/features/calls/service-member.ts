import type { ServiceAnswer, ServiceMember } from '../../../shared/contract/service-member.ts';
import { invalid } from '../../../shared/faults/invalid-request.ts';
import { formatUsd, type NanoUsd, parseUsd } from '../../../shared/money/money.ts';
import { costView, subscriptionView, type UsageRecord } from '../metering/index.ts';
import { attemptView, type RoutePreferences } from '../routing/index.ts';

/** The member `service` of a request: the caller's options for the gateway itself. */
export interface ServiceOptions extends RoutePreferences {
  /** Whether a stream may carry `service:*` events; undefined where the key or the host decides. */
  events?: boolean | undefined;
}

const defaultServiceOptions: ServiceOptions = {};

export function parseServiceOptions(service: ServiceMember | null | undefined): ServiceOptions {
  if (service === undefined || service === null) return defaultServiceOptions;
  const { route, max_price: maxPrice } = service;
  return {
    pay: service.pay,
    maxPrice: maxPrice
      ? {
          input: parsePrice(maxPrice.input, 'service.max_price.input'),
          output: parsePrice(maxPrice.output, 'service.max_price.output'),
        }
      : undefined,
    fallbacks: service.fallbacks,
    fallbackOn: service.fallback_on,
    order: route?.order,
    only: route?.only,
    ignore: route?.ignore,
    sort: route?.sort,
    events: service.events,
    cache: service.cache,
  };
}

function parsePrice(text: string | undefined, param: string): NanoUsd | undefined {
  if (text === undefined) return undefined;
  const amount = parseUsd(text);
  if (amount === undefined) throw invalid(param, 'This must be dollars per million tokens, like "2.50".');
  return amount;
}

/** The member `service` of an answer. */
export function serviceAnswer(usage: UsageRecord): ServiceAnswer {
  return {
    model: usage.model,
    provider: usage.provider ?? '',
    attempts: usage.attempts.map(attemptView),
    cost: usage.cost && costView(usage.cost),
    charged_usd: formatUsd(usage.charged),
    own_key: usage.ownKey,
    ...subscriptionView(usage.trace),
    ...(usage.trace?.providerReason !== undefined && {
      provider_finish_reason: usage.trace.providerReason,
    }),
    ...(usage.trace?.dropped && { dropped: [...usage.trace.dropped] }),
  };
}
