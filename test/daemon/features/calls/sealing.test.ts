import { describe, expect, test } from 'vitest';
import { createSealer, looksSealed } from '../../../../src/daemon/features/calls/sealing.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

const { randomBytes } = fakeWorld();
const dataKey = randomBytes(32);
const sealer = createSealer(dataKey, randomBytes);
const origin = {
  provider: 'anthropic',
  model: 'claude',
  payload: { signature: 'c2lnbmF0dXJl', thinking: 'hm' },
};

describe('sealed reasoning', () => {
  test('opens for its workspace', () => {
    expect(sealer.open('ws_1', sealer.seal('ws_1', origin))).toEqual(origin);
  });

  test('reveals nothing of its content and differs each time', () => {
    const [first, second] = [sealer.seal('ws_1', origin), sealer.seal('ws_1', origin)];
    expect(first).not.toBe(second);
    expect(looksSealed(first)).toBe(true);
    const body = Buffer.from(first.slice(5), 'base64url').toString('latin1');
    expect(body).not.toContain('signature');
  });

  test('does not open for another workspace or with another key', () => {
    const sealed = sealer.seal('ws_1', origin);
    expect(sealer.open('ws_2', sealed)).toBeUndefined();
    expect(createSealer(randomBytes(32), randomBytes).open('ws_1', sealed)).toBeUndefined();
  });

  test('does not open after a single character was changed', () => {
    const sealed = sealer.seal('ws_1', origin);
    for (let at = 0; at < sealed.length; at += 7) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      expect(sealer.open('ws_1', sealed.slice(0, at) + other + sealed.slice(at + 1))).toBeUndefined();
    }
  });

  test.each(['', 'gws1.', 'gws1.AAAA', 'gAAAAABm', 'gws2.xxxx'])('refuses %j', (text) => {
    expect(sealer.open('ws_1', text)).toBeUndefined();
  });
});

describe('a sealed summary', () => {
  test('opens for its workspace and for no other', () => {
    const sealed = sealer.sealSummary('ws_1', 'Goal: Ωslo.');
    expect(sealed).toMatch(/^gwc1\./);
    expect(sealer.openSummary('ws_1', sealed)).toBe('Goal: Ωslo.');
    expect(sealer.openSummary('ws_2', sealed)).toBeUndefined();
  });

  test('cannot be opened as reasoning, nor reasoning as a summary, whatever the prefix', () => {
    const summary = sealer.sealSummary('ws_1', 'Goal.');
    const reasoning = sealer.seal('ws_1', origin);
    expect(sealer.open('ws_1', `gws1.${summary.slice(5)}`)).toBeUndefined();
    expect(sealer.openSummary('ws_1', `gwc1.${reasoning.slice(5)}`)).toBeUndefined();
  });

  test('does not open after a single character was changed', () => {
    const sealed = sealer.sealSummary('ws_1', 'Goal: the harbour.');
    for (let at = 0; at < sealed.length; at += 3) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      expect(sealer.openSummary('ws_1', sealed.slice(0, at) + other + sealed.slice(at + 1))).toBeUndefined();
    }
  });
});
