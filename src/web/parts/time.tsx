import { zone } from '../data/preferences.ts';
import { exactTimeText, timeText } from './format.ts';

/** A time in the chosen zone, exact when pointed at. */
export function Time({ at }: { at: string }) {
  const timeZone = zone.value === 'local' ? undefined : zone.value;
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={exactTimeText(ms, timeZone)}>
      {timeText(ms, Date.now(), timeZone)}
    </time>
  );
}
