import type { ServiceMember } from '../../../../shared/contract/service-member.ts';
import { type NanoUsd, parseUsd } from '../../../../shared/money.ts';
import type { RoutePreferences } from '../../routing/index.ts';
import { invalid } from '../fault.ts';

/** The options of the gateway itself. */
export interface ServiceOptions extends RoutePreferences {
  /** Whether a stream may carry `service:*` events. */
  events: boolean;
}

/** Reads the validated member `service`. */
export function parseServiceOptions(service: ServiceMember | undefined): ServiceOptions {
  if (service === undefined) return { events: true };
  const { route } = service;
  return {
    pay: service.pay,
    maxPrice: service.max_price
      ? {
          input: price(service.max_price.input, 'service.max_price.input'),
          output: price(service.max_price.output, 'service.max_price.output'),
        }
      : undefined,
    fallbacks: service.fallbacks,
    order: route?.order,
    only: route?.only,
    ignore: route?.ignore,
    sort: route?.sort,
    events: service.events ?? true,
    cache: service.cache,
  };
}

function price(text: string | undefined, param: string): NanoUsd | undefined {
  if (text === undefined) return undefined;
  const amount = parseUsd(text);
  if (amount === undefined) throw invalid(param, 'This must be dollars per million tokens, like "2.50".');
  return amount;
}
