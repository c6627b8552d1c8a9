import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firedMessage } from '../../../../src/daemon/features/alerts/alert-message.ts';
import { evaluateSteps } from '../../../../src/daemon/features/alerts/evaluation.ts';
import { readCondition } from '../../../../src/daemon/features/alerts/read-settings.ts';
import {
  addedUp,
  measuredValue,
  noSample,
  type Sample,
  stateAfter,
} from '../../../../src/daemon/features/alerts/sample.ts';
import type { AlertCondition, AlertState } from '../../../../src/daemon/features/alerts/store.ts';
import { thresholdOf, valueText } from '../../../../src/daemon/features/alerts/units.ts';
import { stepsOf, windowAt, windowLength } from '../../../../src/daemon/features/alerts/windows.ts';
import { type AlertKind, alertKinds } from '../../../../src/shared/constants/alert-kinds.ts';

const condition = (changes: Partial<AlertCondition> = {}): AlertCondition => ({
  kind: 'spend',
  windowMinutes: 60,
  threshold: 1_000,
  minCalls: 20,
  keyId: null,
  model: null,
  provider: null,
  ...changes,
});
const sample = (changes: Partial<Sample>): Sample => ({ ...noSample, ...changes });
const minute = 60_000;

describe('the value of a sample', () => {
  test.each<[AlertKind, Sample, AlertState, number | null]>([
    ['spend', sample({ amount: 5 }), 'ok', 5],
    ['rejections', sample({ amount: 3 }), 'ok', 3],
    ['error_share', sample({ amount: 1, calls: 19 }), 'ok', null],
    ['error_share', sample({ amount: 1, calls: 20 }), 'ok', 500],
    ['error_share', sample({ amount: 1, calls: 3 }), 'firing', 3333],
    ['error_share', sample({}), 'firing', null],
    ['benched', sample({ benched: new Set(['a', 'b']) }), 'ok', 2],
    ['silence', sample({ calls: 7 }), 'ok', 7],
    ['p95_total', sample({ latency: new Map([[40, 19]]) }), 'ok', null],
    // 2 ** (40.5 / 4), to three digits.
    ['p95_total', sample({ latency: new Map([[40, 20]]) }), 'ok', 1120],
    ['p95_first_token', sample({ latency: new Map([[40, 1]]) }), 'firing', 1120],
  ])('of %s is what it counts', (kind, of, state, value) => {
    expect(measuredValue({ kind, minCalls: 20 }, of, state)).toBe(value);
  });

  test('adds up over adjoining times', () => {
    const one = sample({ calls: 2, amount: 3, latency: new Map([[1, 2]]), benched: new Set(['a']) });
    const other = sample({ calls: 5, amount: 7, latency: new Map([[1, 1]]), benched: new Set(['a', 'b']) });
    expect(addedUp([one, other])).toEqual({
      calls: 7,
      amount: 10,
      latency: new Map([[1, 3]]),
      benched: new Set(['a', 'b']),
    });
  });
});

test('an alert fires at its threshold and resolves below nine tenths of it', () => {
  const values = [99, 100, 95, 90, 89, 95, 100, null, 95];
  let state: AlertState = 'ok';
  const states = values.map((value) => {
    state = stateAfter({ kind: 'spend', threshold: 100 }, value, state);
    return state === 'firing';
  });
  expect(states).toEqual([false, true, true, true, false, false, true, false, false]);
});

test('whatever the values, it changes only by crossing a line, and never flaps between the lines', () => {
  const value = fc.integer({ min: 0, max: 200 });
  fc.assert(
    fc.property(fc.array(value), fc.integer({ min: 1, max: 150 }), (values, threshold) => {
      let state: AlertState = 'ok';
      for (const at of values) {
        const next = stateAfter({ kind: 'rejections', threshold }, at, state);
        if (at >= threshold) expect(next).toBe('firing');
        else if (at < 0.9 * threshold) expect(next).toBe('ok');
        else expect(next).toBe(state);
        state = next;
      }
    }),
  );
});

test('a window has all the steps that it touches', () => {
  const at = Date.UTC(2026, 10, 24, 10, 7);
  expect(windowAt(condition(), at)).toEqual({
    start: Date.UTC(2026, 10, 24, 9, 0),
    end: Date.UTC(2026, 10, 24, 10, 15),
  });
  expect(windowAt(condition({ kind: 'p95_total' }), at)).toEqual({
    start: Date.UTC(2026, 10, 24, 9, 0),
    end: Date.UTC(2026, 10, 24, 11, 0),
  });
  expect(windowLength(condition())).toBe(5);
});

test('a preview says of each step what the evaluation says at its end', () => {
  const amounts = fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 12, maxLength: 40 });
  fc.assert(
    fc.property(amounts, (counted) => {
      const of = condition({ windowMinutes: 30 });
      const end = counted.length * 15 * minute;
      const windows = stepsOf(of, { start: 30 * minute, end });
      expect(windows[0]?.start).toBe(0);
      const samples = windows.map((window, index) => ({
        end: window.end,
        sample: sample({ amount: counted[index] ?? 0 }),
      }));
      let before: AlertState = 'ok';
      for (const { at, value, state, hasFired } of evaluateSteps(of, samples, windowLength(of))) {
        // The last moment of the step.
        const window = windowAt(of, at - 1);
        const inWindow = counted.filter(
          (_, index) => index * 15 * minute >= window.start && index * 15 * minute < window.end,
        );
        expect(value).toBe(inWindow.reduce((sum, each) => sum + each, 0));
        expect(state).toBe(stateAfter(of, value, before));
        expect(hasFired).toBe(before === 'ok' && state === 'firing');
        before = state;
      }
    }),
  );
});

describe('thresholds', () => {
  test.each<[AlertKind, string, number | undefined]>([
    ['spend', '0.25', 250_000_000],
    ['spend', '0', undefined],
    ['error_share', '5', 500],
    ['error_share', '0.25', 25],
    ['error_share', '0.255', undefined],
    ['error_share', '101', undefined],
    ['p95_total', '8000', 8000],
    ['p95_total', '0.5', undefined],
    ['rejections', '10', 10],
  ])('of %s: %s', (kind, text, number) => {
    expect(thresholdOf(kind, text)).toBe(number);
    if (number !== undefined) expect(valueText(kind, number)).toBe(text);
  });
});

describe('conditions that are refused', () => {
  const hasKey = async (id: string) => id === 'key_1';
  const given = { kind: 'spend', window_minutes: 60, threshold: '5' } as const;
  test.each([
    [{ ...given, window_minutes: 20 }, 'window_minutes'],
    [{ ...given, kind: 'p95_total', window_minutes: 90, threshold: '5' }, 'window_minutes'],
    [{ ...given, kind: 'p95_total', window_minutes: 2880, threshold: '5' }, 'window_minutes'],
    [{ ...given, threshold: null }, 'threshold'],
    [{ ...given, kind: 'silence' }, 'threshold'],
    [{ ...given, key: 'key_2' }, 'key'],
    [{ ...given, key: 'key_1', model: 'sim/echo' }, 'key'],
    [{ ...given, kind: 'p95_total', key: 'key_1' }, 'key'],
    [{ ...given, kind: 'rejections', provider: 'openai' }, 'provider'],
    [{ ...given, model: '\ud83d' }, 'model'],
  ] as const)('%j', async (settings, param) => {
    await expect(readCondition(settings, hasKey)).rejects.toMatchObject({ code: 'invalid_request', param });
  });

  test('others are read with their defaults', async () => {
    expect(await readCondition({ ...given, key: 'key_1' }, hasKey)).toEqual(
      condition({ threshold: 5_000_000_000, keyId: 'key_1' }),
    );
  });
});

test.each(alertKinds)('a message about %s is a sentence that names calls and window', (kind) => {
  const watched = { model: 'openai/gpt-5', threshold: kind === 'benched' || kind === 'silence' ? null : 500 };
  const of = condition({ kind, windowMinutes: 360, ...watched });
  const text = firedMessage(of, 600, sample({ benched: new Set(['azure (gpt-5)']) }));
  expect(text).toMatch(/^[A-Z0-9$].*\.$/);
  expect(text).toContain('in the last 6 hours');
  expect(text).toContain('gpt-5');
});
