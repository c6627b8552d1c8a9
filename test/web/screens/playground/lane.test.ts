import { expect, test } from 'vitest';
import { type Fetch, importInPage } from '../../../support/page-globals.ts';

const draft = { endpoint: '/v1/responses', body: { input: 'Hi' }, repeat: 1, replayOf: undefined };

async function openLane(fetch: Fetch) {
  const { Lane } = await importInPage('screens/playground/lane.ts', { fetch });
  return new Lane();
}

test('a call that fails shows why', async () => {
  const lane = await openLane(() => Promise.reject(new TypeError('fetch failed')));
  await lane.run(draft, 'sim/echo');
  expect(lane.outcomes.value).toMatchObject([
    { error: { message: 'The gateway does not answer.' }, isRunning: false },
  ]);
});

test('a call that is stopped shows no error', async () => {
  const asked = Promise.withResolvers<void>();
  const lane = await openLane((_url, { signal }) => {
    asked.resolve();
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  });
  const run = lane.run(draft, 'sim/echo');
  await asked.promise;
  lane.stop();
  await run;
  expect(lane.outcomes.value).toMatchObject([{ error: undefined, isRunning: false }]);
});
