import { describe, expect, test } from 'vitest';
import { noTokens } from '../../../../src/daemon/features/calls/index.ts';
import type { SourceAnswer } from '../../../../src/daemon/features/decisions/index.ts';
import type { PeerOutcome } from '../../../../src/daemon/features/peers/ask-peer.ts';
import { PeerState } from '../../../../src/daemon/features/peers/peer-state.ts';
import { HedgeBudget, peersSource } from '../../../../src/daemon/features/peers/peers-source.ts';
import { noCost } from '../../../../src/shared/money/money.ts';
import { fakeWorld, settled } from '../../../support/fake-world.ts';
import { peerRecord } from '../../../support/peer-record.ts';

const answer: SourceAnswer = {
  model: 'm',
  method: 'native',
  answers: [],
  tokens: noTokens,
  cost: noCost,
  ownKey: false,
};

/** Peers whose calls end when the test says so, in a world whose time only moves when it is told to. */
function askable(names: readonly string[], hedges = new HedgeBudget()) {
  const world = fakeWorld();
  const peers = names.map((name) => new PeerState(peerRecord({ name })));
  const calls: {
    name: string;
    isHedge: boolean;
    end: (outcome: 'answer' | 'fault') => void;
    signal: AbortSignal;
  }[] = [];
  const decide = (signal = new AbortController().signal) =>
    peersSource({
      candidates: peers,
      skipped: [],
      hedges,
      world,
      unavailable: (peer) => peer.unavailable(world.now()),
      ask: (peer, { isHedge }, aborted) => {
        const { promise, resolve } = Promise.withResolvers<PeerOutcome>();
        peer.inFlight += 1;
        const end = (outcome: PeerOutcome) => {
          peer.inFlight -= 1;
          resolve(outcome);
        };
        aborted.addEventListener('abort', () => end({ peer, ms: 1, canceled: true }), { once: true });
        const fault = {
          outcome: 'timeout',
          message: 'it took too long',
          code: null,
          bench: 'always',
        } as const;
        calls.push({
          name: peer.record.name,
          isHedge,
          signal: aborted,
          end: (how) => end(how === 'answer' ? { peer, ms: 1, answer } : { peer, ms: 1, fault }),
        });
        return promise;
      },
    }).decide({ input: 'x', questions: [] }, { debias: 'auto', samples: 1 }, signal);
  return { world, peers, calls, decide };
}

describe('a slow peer', () => {
  test('is joined by a second one after its own time, and canceled when that one answers', async () => {
    const { world, peers, calls, decide } = askable(['slow', 'fast', 'third']);
    for (let ms = 10; ms <= 200; ms += 10) peers[0]?.answered(ms, 0);
    const decided = decide();
    await settled();
    await world.advance(189);
    expect(calls.map(({ name }) => name)).toEqual(['slow']);
    await world.advance(1);
    expect(calls.map(({ name, isHedge }) => [name, isHedge])).toEqual([
      ['slow', false],
      ['fast', true],
    ]);
    calls[1]?.end('answer');
    expect((await decided).answeredBy).toBe('peer:fast');
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(world.sleeping()).toBe(0);
  });

  test('is joined in at most one of twenty calls', async () => {
    const hedges = new HedgeBudget();
    let second = 0;
    const decisions = 400;
    for (let time = 0; time < decisions; time += 1) {
      const { world, calls, decide } = askable(['slow', 'fast'], hedges);
      const decided = decide();
      await settled();
      await world.advance(1500);
      second += calls.filter(({ isHedge }) => isHedge).length;
      calls[0]?.end('answer');
      await decided;
    }
    // One is free at the start.
    expect(second).toBeLessThanOrEqual(1 + (decisions + second) * 0.05);
    expect(second).toBeGreaterThan(decisions * 0.04);
  });
});

test('two peers are asked at most, the second one when the first fails', async () => {
  const { calls, decide } = askable(['a', 'b', 'c']);
  const decided = decide();
  const failed = expect(decided).rejects.toMatchObject({
    attempts: [
      { source: 'peer:a', outcome: 'timeout' },
      { source: 'peer:b', outcome: 'timeout' },
    ],
  });
  await settled();
  calls[0]?.end('fault');
  await settled();
  calls[1]?.end('fault');
  await failed;
  expect(calls.map(({ name }) => name)).toEqual(['a', 'b']);
});

test('decisions that arrive together do not exceed what a peer takes at a time', async () => {
  const { peers, calls, decide } = askable(['a', 'b']);
  for (const peer of peers) peer.record = { ...peer.record, maxInFlight: 2 };
  const decided = Array.from({ length: 6 }, () => decide().catch((error: Error) => error.message));
  await settled();
  expect(calls.map(({ name }) => name)).toEqual(['a', 'a', 'b', 'b']);
  for (const call of calls) call.end('answer');
  expect((await Promise.all(decided)).slice(4)).toEqual(Array(2).fill('peer:a is busy; peer:b is busy'));
});
