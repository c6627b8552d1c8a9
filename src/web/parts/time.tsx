import { exactTime, shortTime } from '../../view/times.ts';
import { zone } from '../data/preferences.ts';

/** A time in the chosen zone, exact when pointed at. */
export function Time({ at }: { at: string }) {
  const timeZone = zone.value === 'local' ? undefined : zone.value;
  const ms = Date.parse(at);
  return (
    <time dateTime={at} title={exactTime(ms, timeZone)}>
      {shortTime(ms, Date.now(), timeZone)}
    </time>
  );
}
