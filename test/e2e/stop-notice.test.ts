import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startDaemon } from '../support/start-daemon.ts';

const simulate = 'rules:\n  - { when: { message: slow }, reply: one two three four, tokens_per_second: 4 }\n';

test('a stop prints a notice only if it has to wait for a call', async () => {
  const busy = await startDaemon({ simulate });
  const call = await busy.fetch('/v1/responses', {
    json: { model: 'sim/assistant', input: 'slow', stream: true },
  });
  const answer = call.text();
  const stopped = busy.stop();
  await eventually('the notice', () =>
    busy.printed().stderr.startsWith('Waiting up to 25 s for running calls;'),
  );
  expect(await answer).toContain('response.completed');
  expect(await stopped).toBe(0);

  const idle = await startDaemon();
  await idle.stop();
  expect(idle.printed().stderr).toBe('');
});
