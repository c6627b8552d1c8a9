import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Counters, families } from '../../../../src/daemon/features/metrics/index.ts';
import { expositionWriter } from '../../../../src/daemon/telemetry/exposition.ts';
import { aUsage } from '../../../storage/records.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { readExposition } from '../../../support/prometheus-text.ts';

const still = {
  callsRunning: 0,
  requestsRunning: 0,
  streamsOpen: 0,
  eventFollowers: 0,
  writesWaiting: 0,
  callsOfWorkers: [],
  isWritable: true,
  providers: [],
  benches: [],
  limits: [],
};

test('any model names give valid text and distinct series', async () => {
  const write = expositionWriter();
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.string({ unit: anyCharacter }), { minLength: 1 }), async (models) => {
      const counters = new Counters();
      for (const model of models) counters.settled(aUsage('req_1', { model }), 20);
      const read = readExposition(await write(families(counters, still)));
      expect(read.get('gateway_calls_total')?.lines).toHaveLength(models.length);
    }),
    { numRuns: 50 },
  );
});

test('the number of series is limited', () => {
  const counters = new Counters();
  for (let i = 0; i < 5000; i += 1) counters.settled(aUsage('req_1', { model: `m${i}` }), 20);
  expect(counters.calls.size).toBeLessThanOrEqual(520);
  const calls = families(counters, still).find(({ name }) => name === 'gateway_calls_total');
  expect(calls?.values.reduce((sum, { value }) => sum + value, 0)).toBe(5000);
});
