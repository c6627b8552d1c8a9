import { describe, expect, test } from 'vitest';
import type { Calibration } from '../../src/daemon/features/decisions/index.ts';
import type { OpenStorage } from './records.ts';

export function decisionsStoreContract(open: OpenStorage): void {
  describe('the decisions store', () => {
    const fitted: Calibration = {
      model: 'sim/assistant',
      type: 'choice',
      temperature: 1.5,
      examples: 200,
      nllBefore: 0.71,
      nllAfter: 0.52,
      fittedAt: 1_795_000_000_000,
    };

    test('keeps one calibration per model and type', async () => {
      const { decisions: store } = await open();
      await store.saveCalibration(fitted);
      await store.saveCalibration({ ...fitted, type: 'score' });
      await store.saveCalibration({ ...fitted, temperature: 2 });
      expect(await store.calibrations()).toEqual([
        { ...fitted, temperature: 2 },
        { ...fitted, type: 'score' },
      ]);
    });

    test('removes a calibration once', async () => {
      const { decisions: store } = await open();
      await store.saveCalibration(fitted);
      expect(await store.removeCalibration({ model: fitted.model, type: 'score' })).toBe(false);
      expect(await store.removeCalibration(fitted)).toBe(true);
      expect(await store.removeCalibration(fitted)).toBe(false);
      expect(await store.calibrations()).toEqual([]);
    });

    test('adds up what decisions cost per day', async () => {
      const { decisions: store } = await open();
      expect(await store.spentOn('2026-11-21')).toBe(0);
      await Promise.all([store.spend('2026-11-21', 500), store.spend('2026-11-21', 700)]);
      await store.spend('2026-11-22', 1);
      expect(await store.spentOn('2026-11-21')).toBe(1200);
      expect(await store.spentOn('2026-11-22')).toBe(1);
    });
  });
}
