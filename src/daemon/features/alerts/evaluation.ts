import { isoTime } from '../../../shared/time/time.ts';
import type { NewEvent } from '../events/index.ts';
import { firedMessage, resolvedMessage } from './alert-message.ts';
import { conditionView, textOf } from './alert-view.ts';
import { addedUp, measuredValue, type Sample, stateAfter } from './sample.ts';
import type { AlertCondition, AlertRecord, AlertState, FiringRecord } from './store.ts';
import { windowAt } from './windows.ts';

/** The value of an alert at a point in time. */
export interface Evaluation {
  value: number | null;
  state: AlertState;
}

/** Evaluates what happened in the window of a condition. */
export function evaluate(condition: AlertCondition, sample: Sample, before: AlertState): Evaluation {
  const value = measuredValue(condition, sample, before);
  return { value, state: stateAfter(condition, value, before) };
}

/** A new alert waits for a whole window before it reports silence. */
export function isTooNew({ createdAt, state, ...condition }: AlertRecord, at: number): boolean {
  return condition.kind === 'silence' && state === 'ok' && createdAt > windowAt({ ...condition }, at).start;
}

/** The event of a firing, or of its end; also what web hooks get. */
export function alertEvent(
  { workspaceId, alertId, condition, ...firing }: FiringRecord,
  resolved?: { at: number; value: number | null },
): NewEvent {
  const at = resolved?.at ?? firing.firedAt;
  const value = resolved ? resolved.value : firing.value;
  const { key, ...members } = conditionView(condition);
  return {
    type: resolved ? 'alert.resolved' : 'alert.fired',
    workspaceId,
    at,
    data: {
      alert: alertId,
      firing: firing.id,
      message: resolved ? resolvedMessage(condition, value) : firing.message,
      ...members,
      // Events are filtered by it.
      ...(key !== null && { key }),
      value: textOf(condition, value),
      fired_at: isoTime(firing.firedAt),
      resolved_at: resolved ? isoTime(resolved.at) : null,
    },
  };
}

/** The start of a firing. */
export function newFiring(
  { workspaceId, id: alertId, ...record }: AlertRecord,
  { id, at, value, sample }: { id: string; at: number; value: number; sample: Sample },
): FiringRecord {
  const condition = conditionOf(record);
  const message = firedMessage(condition, value, sample);
  return {
    id,
    workspaceId,
    alertId,
    condition,
    value,
    message,
    firedAt: at,
    resolvedAt: null,
    resolvedValue: null,
  };
}

function conditionOf(record: AlertCondition): AlertCondition {
  const { kind, windowMinutes, threshold, minCalls, keyId, model, provider } = record;
  return { kind, windowMinutes, threshold, minCalls, keyId, model, provider };
}

/** A step of a preview. */
export interface PreviewStep extends Evaluation {
  /** When the step ends. */
  at: number;
  hasFired: boolean;
}

/** The value that an alert would have had after each step; the first of the samples fill the first window. */
export function evaluateSteps(
  condition: AlertCondition,
  samples: readonly { end: number; sample: Sample }[],
  length: number,
): PreviewStep[] {
  let before: AlertState = 'ok';
  const steps: PreviewStep[] = [];
  for (let last = length; last <= samples.length; last += 1) {
    const window = samples.slice(last - length, last);
    const { value, state } = evaluate(condition, addedUp(window.map(({ sample }) => sample)), before);
    steps.push({
      at: window.at(-1)?.end ?? 0,
      value,
      state,
      hasFired: state === 'firing' && before === 'ok',
    });
    before = state;
  }
  return steps;
}
