import { expect, onTestFinished, test } from 'vitest';
import { pausesAfter, words } from '../support/chaos-behaviours.ts';
import { chaosConfig } from '../support/chaos-daemon.ts';
import { startChaosUpstream } from '../support/chaos-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { callModel, parseStream } from '../support/model-client.ts';
import { startDaemon } from '../support/start-daemon.ts';

test('a stop prints a notice only if it has to wait for a call', async () => {
  const { promise: noticed, resolve: goOn } = Promise.withResolvers<void>();
  const chaos = await startChaosUpstream(pausesAfter(2, noticed));
  onTestFinished(() => chaos.close());
  const busy = await startDaemon({ config: chaosConfig(chaos.baseUrl) });
  const answer = callModel(busy, { wire: 'chat', model: 'chat/any', stream: true });
  await answer.receives('data:');
  const stopped = busy.stop();
  await eventually('the notice', () =>
    busy.printed().stderr.startsWith('Waiting up to 25 s for running calls;'),
  );
  goOn();
  await answer.ended;
  expect(parseStream(answer.text)).toMatchObject({ text: words, errors: [] });
  expect(await stopped).toBe(0);

  const idle = await startDaemon();
  await idle.stop();
  expect(idle.printed().stderr).toBe('');
});
