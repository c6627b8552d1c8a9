import { Cron } from 'croner';
import { inputFault } from '../../../shared/faults/input-faults.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { isTimeZone } from '../../../shared/time/time-zones.ts';

/** When a schedule runs: a cron expression in a time zone. */
export interface CronTimes {
  cron: string;
  timeZone: string;
}

/** Counting stops here, as each time takes about 0.1 ms. */
const countedMax = 100;

/** Fails with `invalid_request` for an unknown time zone and an expression that cannot be read, or that is never due. */
export function checkTimes(times: CronTimes, now: number): void {
  if (!isTimeZone(times.timeZone)) {
    throw inputFault('schedule.timeZone', 'must be an IANA time zone, like `Europe/Rome` or `UTC`');
  }
  let next: number | null;
  try {
    next = timeAfter(times, now);
  } catch {
    throw inputFault(
      'schedule.cron',
      'must be a cron expression of five fields, like `0 8 * * mon-fri`: minute, hour, day of the month, month and day of the week',
    );
  }
  if (next === null) throw inputFault('schedule.cron', 'never comes, like the 30th of February');
}

/** The first time after `at`; null if there is none. */
export function timeAfter({ cron, timeZone }: CronTimes, at: number): number | null {
  return timesOf(cron, timeZone).nextRun(isoTime(at))?.getTime() ?? null;
}

/** The times from `first`, which is one, until `now`: how many there are, and the last one. Counts at most 100. */
export function timesUntil(times: CronTimes, first: number, now: number): { count: number; last: number } {
  let last = first;
  let count = 1;
  for (; count < countedMax; count += 1) {
    const next = timeAfter(times, last);
    if (next === null || next > now) break;
    last = next;
  }
  return { count, last };
}

/** In spring, times in the hour that is left out come right after it; in autumn, those that come twice are due once. */
function timesOf(cron: string, timeZone: string): Cron {
  // Cron also reads a date, which is no schedule.
  if (/^\d{4}-/.test(cron)) throw new TypeError('a date is not a cron expression');
  return new Cron(cron, { timezone: timeZone, mode: '5-part' });
}
