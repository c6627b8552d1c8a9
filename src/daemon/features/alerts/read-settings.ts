import { alertWindow, isLatency } from '../../../shared/constants/alert-kinds.ts';
import { type AlertCondition as Given, minCallsDefault } from '../../../shared/contract/alerts.ts';
import { inputFault, wellFormedMembers } from '../../../shared/faults/input-faults.ts';
import { windowText } from './alert-message.ts';
import type { AlertCondition } from './store.ts';
import { thresholdForm, thresholdOf } from './units.ts';

/** A condition as the API gives it. Fails with `invalid_request` and the member at fault. */
export async function readCondition(
  given: Given,
  hasKey: (keyId: string) => Promise<boolean>,
): Promise<AlertCondition> {
  const { kind, window_minutes: windowMinutes } = wellFormedMembers(given);
  const { step, max } = alertWindow(kind);
  if (windowMinutes % step !== 0 || windowMinutes > max)
    throw inputFault(
      'window_minutes',
      `must be a multiple of ${step} and at most ${max} (${windowText(max)}) for \`${kind}\``,
    );
  const [keyId, model, provider] = [given.key ?? null, given.model ?? null, given.provider ?? null];
  if (keyId !== null) {
    if (model !== null || provider !== null)
      throw inputFault('key', 'cannot be combined with `model` or `provider`');
    if (isLatency(kind) || kind === 'benched') throw inputFault('key', `cannot be a filter of \`${kind}\``);
    if (!(await hasKey(keyId))) throw inputFault('key', 'must be the id of a key of the workspace');
  }
  if (provider !== null && kind === 'rejections')
    throw inputFault('provider', 'cannot be a filter of `rejections`: such calls reach no provider');
  return {
    kind,
    windowMinutes,
    threshold: readThreshold(given),
    minCalls: given.min_calls ?? minCallsDefault,
    keyId,
    model,
    provider,
  };
}

function readThreshold({ kind, threshold }: Given): number | null {
  const form = thresholdForm(kind);
  const text = threshold ?? undefined;
  if (form === undefined) {
    if (text === undefined) return null;
    throw inputFault('threshold', `must be left out for \`${kind}\``);
  }
  const number = text === undefined ? undefined : thresholdOf(kind, text);
  if (number === undefined) throw inputFault('threshold', `must be ${form}`);
  return number;
}
