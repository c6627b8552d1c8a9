import type { UpstreamCall } from '../../src/daemon/features/upstreams/upstream.ts';
import {
  type Upstream,
  type UpstreamAnswer,
  UpstreamFailure,
} from '../../src/daemon/features/upstreams/upstream.ts';
import type { FakeWorld } from './fake-world.ts';

export type Step = 'ok' | UpstreamFailure;

const answer: UpstreamAnswer = { kind: 'stream', batches: (async function* () {})() };

/** A provider that takes 100 ms for each call and follows its script, repeating the last step. */
export function scripted(
  name: string,
  script: Step[],
  calls: { provider: string; call: UpstreamCall }[],
  world: FakeWorld,
): Upstream {
  return {
    name,
    async open(call) {
      calls.push({ provider: name, call });
      const step = script.length > 1 ? script.shift() : script[0];
      await world.advance(100);
      if (step instanceof UpstreamFailure) throw step;
      return answer;
    },
  };
}
