import { expect, test } from 'vitest';
import { linearGrowth, stepGrowth } from './support/count-steps.ts';
import { works } from './support/quadratic.works.ts';

const growthOf = stepGrowth('quadratic');

test.each(Object.keys(works))('counting steps tells quadratic from linear time: %s', async (name) => {
  const { growth } = await growthOf(name);
  if (name === 'linear time') expect(growth).toBeLessThan(linearGrowth);
  else expect(growth).toBeGreaterThan(3);
});
