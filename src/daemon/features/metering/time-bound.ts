import { ApiError } from '../../../shared/errors.ts';
import { parseTime } from '../../../shared/time.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** A bare day as `until` means the whole of that day: nobody who names a last day wants it left out. */
export function timeBound(param: 'since' | 'until', text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseTime(text);
  if (ms === undefined)
    throw new ApiError('invalid_request', { param, message: `\`${param}\` is not a time.` });
  return param === 'until' && text.length === 10 ? ms + dayMs : ms;
}
