import { expect, test } from 'vitest';
import { NetworkFailure } from '../../../../src/daemon/base/world.ts';
import { unreachableLogger } from '../../../../src/daemon/features/routing/index.ts';
import { UpstreamFailure } from '../../../../src/daemon/features/upstreams/upstream.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

const failure = (message: string) =>
  new UpstreamFailure('network', 'a could not be reached', { cause: new NetworkFailure('refused', message) });

test('logs why a provider cannot be reached, once a minute and whenever the reason changes', async () => {
  const world = fakeWorld();
  const lines: object[] = [];
  const logFailure = unreachableLogger({ world, log: { warn: (details) => lines.push(details) } });
  for (let call = 0; call < 100; call += 1) logFailure('a', failure('a.test: no connection'));
  logFailure('b', failure('b.test: no connection'));
  expect(lines).toEqual([
    { provider: 'a', failure: 'a.test: no connection' },
    { provider: 'b', failure: 'b.test: no connection' },
  ]);
  logFailure('a', failure('a.test: the name could not be resolved'));
  expect(lines).toHaveLength(3);
  await world.advance(60_000);
  logFailure('a', failure('a.test: the name could not be resolved'));
  expect(lines).toHaveLength(4);
  logFailure('a', new UpstreamFailure('server', 'a: 500'));
  expect(lines).toHaveLength(4);
});
