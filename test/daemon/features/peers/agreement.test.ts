import { expect, test } from 'vitest';
import type { DecisionRequest, Question } from '../../../../src/daemon/features/decisions/index.ts';
import { AgreementChecks } from '../../../../src/daemon/features/peers/agreement.ts';
import { PeerState } from '../../../../src/daemon/features/peers/peer-state.ts';
import { fakeWorld, settled } from '../../../support/fake-world.ts';
import { peerRecord } from '../../../support/peer-record.ts';

const question = (name: string): Question => ({
  type: 'choice',
  name,
  instructions: 'Which?',
  options: ['a', 'b'].map((value) => ({ value, label: value })),
});
const answered = (...probabilities: number[]) => ({ probabilities, diagnostics: {} });
const refused = { refused: true, diagnostics: {} } as const;

function checking(share: number) {
  const peer = new PeerState(peerRecord());
  const results: boolean[] = [];
  const world = fakeWorld();
  const checks = new AgreementChecks({
    settings: { agreementShare: share },
    world,
    onCompared: (_, each) => void results.push(...each),
  });
  const stop = new AbortController();
  const running = checks.run(stop.signal);
  const end = async () => {
    stop.abort();
    await running;
  };
  return { peer, results, checks, world, end };
}

test('about the share of all questions is asked again, each drawn by itself; none without a share', async () => {
  for (const [share, least, most] of [
    [0, 0, 0],
    [0.05, 60, 140],
    [1, 2000, 2000],
  ] as const) {
    const { peer, checks, results, end } = checking(share);
    let sizes = 0;
    for (let time = 0; time < 1000; time += 1) {
      const request: DecisionRequest = { input: 'x', questions: [question('first'), question('second')] };
      checks.sample({
        peer,
        request,
        answer: { answers: [answered(1, 0), answered(0, 1)] },
        askAgain: async ({ questions }) => {
          sizes += questions.length;
          return { answers: questions.map(({ name }) => (name === 'first' ? answered(0.6, 0.4) : refused)) };
        },
      });
      await settled();
    }
    await end();
    expect(sizes).toBeGreaterThanOrEqual(least);
    expect(sizes).toBeLessThanOrEqual(most);
    expect(results).toHaveLength(sizes);
    // The first question got the same choice, the second one was declined.
    if (share === 1) expect(results.filter(Boolean)).toHaveLength(1000);
  }
});

test('a caller does not wait for it, and what cannot be asked again counts for nothing', async () => {
  const { peer, checks, results, world, end } = checking(1);
  const answer = { answers: [answered(1, 0)] };
  const request: DecisionRequest = { input: 'x', questions: [question('first')] };
  checks.sample({ peer, request, answer, askAgain: () => Promise.reject(new Error('down')) });
  // One that hangs is given up after 8 seconds, and the next one is asked.
  checks.sample({ peer, request, answer, askAgain: () => new Promise(() => {}) });
  checks.sample({ peer, request, answer, askAgain: async () => answer });
  await settled();
  expect(results).toEqual([]);
  await world.advance(8000);
  await settled();
  expect(results).toEqual([true]);
  expect(world.sleeping()).toBe(0);
  // A stop of the daemon does not wait for an answer.
  checks.sample({ peer, request, answer, askAgain: () => new Promise(() => {}) });
  await settled();
  await end();
});
