import { expect, test } from 'vitest';
import { answers, cutAt } from '../support/chaos-behaviours.ts';
import { chaosForThisFile } from '../support/chaos-daemon.ts';
import { completeCall } from '../support/model-client.ts';

const on = await chaosForThisFile();
const asked = 200;

/** Makes all calls at once; returns how many succeeded, and how many requests the provider received. */
async function storm(modelOf: (at: number) => string) {
  const before = on.chaos.calls.length;
  const ask = (model: string) => completeCall(on.daemon, { wire: 'chat', model, stream: true });
  const all = await Promise.all(Array.from({ length: asked }, (_, at) => ask(modelOf(at))));
  const answered = all.filter(({ status }) => status === 200).length;
  expect(all.filter(({ status }) => status === 502)).toHaveLength(asked - answered);
  return { answered, seen: on.chaos.calls.length - before };
}

test('retries add at most a tenth to the requests at a provider that breaks every connection, plus a reserve', async () => {
  // Each model has its own circuit breaker, so that none opens.
  const names = Array.from({ length: asked }, (_, at) => `storm${at}`);
  for (const name of names) on.chaos.on(name, cutAt(0, 'reset'));
  const { answered, seen } = await storm((at) => `chat/${names[at]}`);
  expect(answered).toBe(0);
  expect(seen).toBeGreaterThan(asked);
  expect(seen).toBeLessThanOrEqual(asked * 1.1 + 10);
});

test('the same holds when every second connection breaks, which opens no circuit breaker', async () => {
  let calls = 0;
  on.chaos.on('flaky', (call) => {
    calls += 1;
    (calls % 2 === 0 ? answers() : cutAt(0, 'reset'))(call);
  });
  const { answered, seen } = await storm(() => 'responses/flaky');
  expect(answered).toBeGreaterThanOrEqual(asked / 2 - 5);
  expect(seen).toBeLessThanOrEqual(asked * 1.1 + 10);
});
