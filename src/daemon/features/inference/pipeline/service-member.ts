import type { ServiceMember } from '../../../../shared/contract/service-member.ts';
import { type NanoUsd, parseUsd } from '../../../../shared/money.ts';
import { invalid } from '../fault.ts';

/** What the caller asked of the gateway itself. */
export interface ServiceOptions {
  pay: 'mine' | 'ours' | undefined;
  /** Nano-dollars per million tokens. */
  maxPrice: { input: NanoUsd | undefined; output: NanoUsd | undefined } | undefined;
  fallbacks: string[];
  order: string[];
  only: string[] | undefined;
  ignore: string[];
  sort: 'price' | 'latency' | 'throughput' | undefined;
  /** Whether a stream may carry `service:*` events. */
  events: boolean;
  /** Whether the answer may come from the cache, and be kept there; the host decides where it is left out. */
  cache?: 'off' | 'read-only' | 'read-write';
}

const defaultServiceOptions: ServiceOptions = {
  pay: undefined,
  maxPrice: undefined,
  fallbacks: [],
  order: [],
  only: undefined,
  ignore: [],
  sort: undefined,
  events: true,
};

/** Reads the validated member `service`. */
export function parseServiceOptions(service: ServiceMember | undefined): ServiceOptions {
  if (service === undefined) return defaultServiceOptions;
  const { route } = service;
  return {
    pay: service.pay,
    maxPrice: service.max_price
      ? {
          input: price(service.max_price.input, 'service.max_price.input'),
          output: price(service.max_price.output, 'service.max_price.output'),
        }
      : undefined,
    fallbacks: service.fallbacks ?? [],
    order: route?.order ?? [],
    only: route?.only,
    ignore: route?.ignore ?? [],
    sort: route?.sort,
    events: service.events ?? true,
    ...(service.cache !== undefined && { cache: service.cache }),
  };
}

function price(text: string | undefined, param: string): NanoUsd | undefined {
  if (text === undefined) return undefined;
  const amount = parseUsd(text);
  if (amount === undefined) throw invalid(param, 'This must be dollars per million tokens, like "2.50".');
  return amount;
}
