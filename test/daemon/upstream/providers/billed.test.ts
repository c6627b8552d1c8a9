import { expect, test } from 'vitest';
import { billedIn } from '../../../../src/daemon/upstream/providers/billed.ts';

test.each([
  ['dollars', { cost: 0.0123 }, { cost: 12_300_000 }],
  ['dollars as text', { cost_usd: '0.000000001' }, { cost: 1 }],
  ['nothing', { cost: 0 }, { cost: 0 }],
  ['parts', { cost: { input_tokens_cost: 0.1, total_cost: 0.3 } }, { cost: 300_000_000 }],
  ['ticks', { cost_in_usd_ticks: 37_756_000 }, { cost: 3_775_600 }],
  ['an estimate of the provider', { estimated_cost: 0.5 }, { cost: 500_000_000 }],
  ['less than a nano-dollar', { cost: 1e-12 }, { cost: 1 }],
  [
    'a fee on top',
    { cost: 0.05, is_byok: true, cost_details: { upstream_inference_cost: 1 } },
    { cost: 1_050_000_000 },
  ],
  ['its own parts', { cost: 1, cost_details: { upstream_inference_cost: 1 } }, { cost: 1_000_000_000 }],
])('a stated cost: %s', (_case, usage, billed) => {
  expect(billedIn(usage)).toEqual({ billed });
});

test.each([
  {},
  { cost: null },
  { cost: -1 },
  { cost: 'much' },
  { cost: 1e9 },
  { cost: {} },
  { cost: Number.NaN },
])('no cost: %j', (usage) => {
  expect(billedIn(usage)).toEqual({});
});

test.each([
  ['beside the usage', {}, 'flex', 'flex'],
  ['of Anthropic', { service_tier: 'batch', speed: 'standard' }, undefined, 'batch'],
  ['of Anthropic, in fast mode', { service_tier: 'priority', speed: 'fast' }, undefined, 'fast'],
  ['of Gemini', { serviceTier: 'priority' }, undefined, 'priority'],
  ['of Gemini, by its constant', { serviceTier: 'SERVICE_TIER_FLEX' }, undefined, 'flex'],
  ['of Vertex', { trafficType: 'ON_DEMAND_PRIORITY' }, undefined, 'priority'],
  ['of Vertex', { trafficType: 'PROVISIONED_THROUGHPUT' }, undefined, 'provisioned_throughput'],
  [
    'of Vertex, in the chat format',
    { extra_properties: { google: { traffic_type: 'ON_DEMAND_FLEX' } } },
    undefined,
    'flex',
  ],
])('a tier %s', (_case, usage, stated, tier) => {
  expect(billedIn(usage, stated)).toEqual({ billed: { tier } });
});

test.each(['default', 'standard', 'auto', 'ON_DEMAND', 'SERVICE_TIER_UNSPECIFIED', '', null, undefined])(
  'the standard tier: %j',
  (tier) => {
    expect(billedIn({}, tier)).toEqual({});
    expect(billedIn({ service_tier: tier, trafficType: tier, speed: tier })).toEqual({});
  },
);
