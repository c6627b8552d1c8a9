import { describe, expect, test } from 'vitest';
import { type PeerFault, PeerState } from '../../../../src/daemon/features/peers/peer-state.ts';
import { peerRecord } from '../../../support/peer-record.ts';

const minute = 60_000;
const fault: PeerFault = {
  outcome: 'timeout',
  message: 'it took too long',
  code: null,
  bench: 'after-several',
};
const wrong: PeerFault = { ...fault, outcome: 'wrong_shape', bench: 'always' };

describe('the counts', () => {
  test('of several daemons are added up, and each takes over those of the others', () => {
    let stored = peerRecord({ answered: 10, failed: 1 });
    const [one, other] = [new PeerState(stored), new PeerState(stored)] as const;
    const store = (peer: PeerState) => {
      const { health, added } = peer.takeChange();
      const sums = Object.entries(added).map(([name, count]) => [name, stored[name as 'answered'] + count]);
      stored = { ...stored, ...health, ...Object.fromEntries(sums) };
    };
    for (const peer of [one, one, other]) {
      peer.answered(5, 0);
      store(peer);
    }
    other.failed(fault, 0);
    one.compared([true, false]);
    for (const peer of [one, other]) store(peer);
    const sums = { answered: 13, failed: 2, compared: 2, agreed: 1 };
    expect(stored).toMatchObject(sums);
    for (const peer of [one, other, one]) peer.follow(stored);
    expect([one.record, other.record]).toMatchObject([sums, sums]);
    store(one);
    expect(stored).toMatchObject(sums);
  });
});

describe('the bench', () => {
  test('follows three failures in a row, which an answer interrupts', () => {
    const peer = new PeerState(peerRecord());
    const at = 1000;
    expect([peer.failed(fault, at), peer.failed(fault, at)]).toEqual([undefined, undefined]);
    peer.answered(5, at);
    expect([fault, fault, fault].map((each) => peer.failed(each, at))).toEqual([
      undefined,
      undefined,
      minute,
    ]);
    expect(peer.unavailable(at + minute - 1)?.outcome).toBe('benched');
    expect(peer.unavailable(at + minute)).toBeUndefined();
  });

  test('doubles up to ten minutes while the trial after it fails, and starts over after an answer', () => {
    const peer = new PeerState(peerRecord());
    let now = 0;
    const lengths: (number | undefined)[] = [];
    for (let time = 0; time < 6; time += 1) {
      const ms = peer.failed(time === 0 ? wrong : fault, now);
      lengths.push(ms);
      now += ms ?? 0;
    }
    expect(lengths).toEqual([1, 2, 4, 8, 10, 10].map((minutes) => minutes * minute));
    peer.answered(5, now);
    expect(peer.failed(wrong, now)).toBe(minute);
  });

  test('lets one call through at a time when it ends', () => {
    const peer = new PeerState(peerRecord());
    peer.failed(wrong, 0);
    expect(peer.isHalfOpen(minute - 1)).toBe(false);
    expect(peer.isHalfOpen(minute)).toBe(true);
    peer.isTried = true;
    expect(peer.unavailable(minute)?.outcome).toBe('benched');
    peer.isTried = false;
    peer.answered(5, minute);
    expect([peer.isHalfOpen(minute), peer.status(minute)]).toEqual([false, 'healthy']);
  });
});

test('a second peer is asked after the time that 19 of 20 answers took, 1.5 seconds before five answers', () => {
  const peer = new PeerState(peerRecord());
  for (const ms of [10, 20, 30, 40]) peer.answered(ms, 0);
  expect(peer.hedgeMs()).toBe(1500);
  for (let ms = 50; ms <= 200; ms += 10) peer.answered(ms, 0);
  expect(peer.hedgeMs()).toBe(190);
});
