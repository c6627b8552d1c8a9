import { Type } from 'typebox';
import { oneOf } from './schemas.ts';
import { setting, type Values } from './setting.ts';

export const billingSettings = {
  margin_percent: setting(
    Type.Number({
      minimum: 0,
      maximum: 1000,
      multipleOf: 0.0001,
      description: 'a number from 0 to 1000 with at most 4 decimals',
    }),
    { default: 0 },
  ),
  billing: { mode: setting(oneOf(['postpaid', 'prepaid'], 'postpaid or prepaid'), { default: 'postpaid' }) },
};

export function billingConfig({ margin_percent: percent, billing }: Values<typeof billingSettings>) {
  return {
    /** In millionths. */
    marginPpm: Math.round(percent * 10_000),
    /** Whether the owner's workspace is prepaid, like all others. */
    allPrepaid: billing.mode === 'prepaid',
  };
}
