import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type AgeId, measureAges } from '../bench/ages.ts';
import { stopProcess } from '../bench/processes.ts';
import { programsIn } from '../bench/systems.ts';
import { startLoad, startProvider } from '../bench/workers.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-first-calls-'));
const [provider, load] = await Promise.all([startProvider(undefined), startLoad(undefined)]);
afterAll(async () => {
  await Promise.all([stopProcess(provider.process), stopProcess(load.process)]);
  rmSync(folder, { recursive: true, force: true });
});

/**
 * A ratio of CPU in one run, which another load changes little, with a bound of twice of what it is: it is for the day on which
 * something doubles it. `npm run bench` measures it.
 */
test('the first calls of a process cost at most a few times of what the least gateway takes for them', async () => {
  const programs = programsIn(
    { folder, providerPort: provider.port, core: undefined },
    { postgres: undefined, against: undefined },
  ).filter(({ name }) => name === 'floor-waits' || name === 'gateway');
  const plan = { processes: 2, until: 'second', secondCalls: 1_500 } as const;
  const aged = await measureAges(programs, { ...plan, load, tell: () => {} });
  const cheapest = (name: string, age: AgeId) =>
    Math.min(
      ...aged.flatMap(({ system, costs }) => (system === name ? [costs[age]?.all ?? Number.NaN] : [])),
    );
  const ratio = (age: AgeId) => cheapest('gateway', age) / cheapest('floor-waits', age);
  expect(ratio('first')).toBeLessThan(3.5);
  expect(ratio('second')).toBeLessThan(10);
  // On a machine that is busy with something else, fewer are sent in the time, and a gateway that gets no processor refuses some.
  const expected = new Set(['not sent', 'status 503']);
  const wrong = aged.flatMap(({ system, costs }) =>
    Object.entries(costs).flatMap(([age, { failures }]) =>
      Object.entries(failures)
        .filter(([fault]) => !expected.has(fault))
        .map(([fault, count]) => `${system}, ${age}: ${count} ${fault}`),
    ),
  );
  expect(wrong).toEqual([]);
});
