import { compareCalls } from '../../../src/shared/comparison/compare-calls.ts';
import type { CountedWork } from '../../support/counted-thread.ts';

export const works: Record<string, CountedWork> = {
  'texts without anything in common': (size) => {
    const [one, other] = [1, 2].map((seed) => ({
      endpoint: '/v1/messages',
      model: 'acme/large',
      provider: 'acme',
      request: {
        input: Array.from({ length: size }, (_, at) => `${seed} ${(at * 7919 + seed) % 65_537}`).join('\n'),
      },
      answer: undefined,
    })) as [Parameters<typeof compareCalls>[0], Parameters<typeof compareCalls>[1]];
    return () => compareCalls(one, other).parts.length;
  },
};
