import { expect, test } from 'vitest';
import { linearGrowth, stepGrowth } from '../../support/count-steps.ts';

const growthOf = stepGrowth('upstream');

test.each(['items that no event started', 'calls with ids and no index'])(
  'takes linear time to read very many %s',
  async (name) => {
    const { growth, result } = await growthOf(name, 500);
    expect(growth).toBeLessThan(linearGrowth);
    expect(result).toBe(1_000);
  },
);
