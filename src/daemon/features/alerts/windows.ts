import { type AlertKind, alertWindow } from '../../../shared/constants/alert-kinds.ts';
import type { AlertCondition } from './store.ts';

export interface Window {
  start: number;
  end: number;
}

const minuteMs = 60_000;

/** The resolution at which calls of a kind are counted, in milliseconds. */
export function stepMs(kind: AlertKind): number {
  return alertWindow(kind).step * minuteMs;
}

/** The whole steps that contain the window which ends at a time: up to one step more than the window. */
export function windowAt({ kind, windowMinutes }: AlertCondition, at: number): Window {
  const step = stepMs(kind);
  const start = Math.floor((at - windowMinutes * minuteMs) / step) * step;
  return { start, end: (Math.floor(at / step) + 1) * step };
}

/** The steps of the windows that end in a time. */
export function stepsOf(condition: AlertCondition, { start, end }: Window): Window[] {
  const step = stepMs(condition.kind);
  const first = windowAt(condition, start).start;
  const steps: Window[] = [];
  for (let at = first; at < end; at += step) steps.push({ start: at, end: at + step });
  return steps;
}

/** How many steps a window has. */
export function windowLength(condition: AlertCondition): number {
  const { start, end } = windowAt(condition, 0);
  return (end - start) / stepMs(condition.kind);
}
