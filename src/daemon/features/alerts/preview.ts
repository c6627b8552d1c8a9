import { alertUnits } from '../../../shared/constants/alert-kinds.ts';
import { type AlertPreview, previewDays } from '../../../shared/contract/alerts.ts';
import { isoTime, utcDay } from '../../../shared/time/time.ts';
import { textOf } from './alert-view.ts';
import { evaluateSteps, type PreviewStep } from './evaluation.ts';
import type { Sampler } from './samples.ts';
import type { AlertCondition } from './store.ts';
import { stepsOf, windowLength } from './windows.ts';

const dayMs = 86_400_000;

/** On which of the last days, today included, a condition would have fired. */
export async function previewOf(
  condition: AlertCondition,
  { workspaceId, now, sampler }: { workspaceId: string; now: number; sampler: Sampler },
): Promise<AlertPreview> {
  const today = Math.floor(now / dayMs) * dayMs;
  const start = today - (previewDays - 1) * dayMs;
  const windows = stepsOf(condition, { start, end: now });
  const samples = await sampler({ ...condition, workspaceId }, windows);
  const ends = windows.map(({ end }, index) => ({ end: Math.min(end, now), sample: samples[index] }));
  const known = ends.flatMap(({ end, sample }) => (sample ? [{ end, sample }] : []));
  const steps = evaluateSteps(condition, known, windowLength(condition));
  const days = Array.from({ length: previewDays }, (_, index) => start + index * dayMs);
  return {
    object: 'alert.preview',
    unit: alertUnits[condition.kind],
    // A step that ends at midnight belongs to the day that ends then.
    days: days.map((day) =>
      dayView(
        condition,
        day,
        steps.filter(({ at }) => at > day && at <= day + dayMs),
      ),
    ),
  };
}

function dayView(condition: AlertCondition, day: number, steps: readonly PreviewStep[]) {
  const fired = steps.filter(({ hasFired }) => hasFired);
  const values = steps.flatMap(({ value }) => value ?? []);
  const [first] = fired;
  // For silence, the peak is the lowest number of calls.
  const peak = condition.kind === 'silence' ? Math.min(...values) : Math.max(...values);
  return {
    day: utcDay(day),
    firings: fired.length,
    first_at: first ? isoTime(first.at) : null,
    peak: textOf(condition, values.length === 0 ? null : peak),
  };
}
