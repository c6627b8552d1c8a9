import { describe, expect, test } from 'vitest';
import type { InputItem } from '../../../src/daemon/features/upstreams/neutral.ts';
import { linearGrowth, stepGrowth } from '../../support/count-steps.ts';
import { ask, histories, writers } from './upstream.works.ts';
import { callOf } from './upstream-fixture.ts';

const growthOf = stepGrowth('upstream');

describe.each(Object.keys(writers))('for %s', (writer) => {
  test.each(Object.keys(histories))('%s take linear time', async (history) => {
    const { growth } = await growthOf(`${history} for ${writer}`);
    expect(growth).toBeLessThan(linearGrowth);
  });
});

/** More than a function accepts arguments. */
const partCount = 150_000;
const partsOf = (role: 'user' | 'assistant'): InputItem => ({
  type: 'message',
  role,
  content: Array.from({ length: partCount }, () => ({ type: 'text', text: '.' })),
});

test.each(Object.entries(writers))('messages with very many parts are written for %s', (_name, write) => {
  const { inference } = callOf({
    wire: 'responses',
    items: [ask, partsOf('user'), partsOf('assistant'), partsOf('assistant'), ask],
  });
  expect(() => write({ ...inference, wire: 'responses' })).not.toThrow();
});

test('takes linear time to read a choice among very many tools', async () => {
  const { growth, result } = await growthOf('a choice among tools', 500);
  expect(growth).toBeLessThan(linearGrowth);
  expect(result).toMatchObject({ mode: 'allowed', names: { length: 1_000 } });
});
