import { formatQuery, isQueryFault, parseQuery } from '../../../shared/calls/query.ts';
import { exitCodes } from '../../../shared/errors.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { startOfLocalDay } from '../../../shared/time/time-zones.ts';
import { CliError } from '../../failures/cli-error.ts';
import { dayInZone } from '../../times.ts';

interface Clock {
  /** In milliseconds since 1970. */
  now: () => number;
}

interface Range {
  since?: string | undefined;
  until?: string | undefined;
}

/** A query, and the range of time that options give. Days of both are of the zone that an option names, else of UTC. */
export function selectionIn(
  words: readonly string[],
  { tz, since, until }: Range & { tz?: string | undefined },
  clock: Clock,
): { q?: string } & Range {
  const given = queryIn(words);
  const options = inZone({ since, until }, tz, clock);
  if (given.q === undefined || tz === undefined) return { ...given, ...options };
  const parsed = parseQuery(given.q);
  if (isQueryFault(parsed)) return { ...given, ...options };
  return { q: formatQuery({ ...parsed, ...inZone(parsed, tz, clock) }), ...options };
}

/** The bounds that are given: days of a zone as moments. */
function inZone({ since, until }: Range, tz: string | undefined, clock: Clock): Range {
  const moment = (text: string, daysLater: number) => {
    const day = dayInZone(text, tz, clock);
    if (tz === undefined || day.length !== '2026-11-21'.length || !/^\d/.test(day)) return day;
    return isoTime(startOfLocalDay(day, tz, daysLater));
  };
  return {
    ...(since !== undefined && { since: moment(since, 0) }),
    // Through a day: until the next one begins.
    ...(until !== undefined && { until: moment(until, 1) }),
  };
}

/** The query of a command's arguments, if it has any; what is wrong with it is known without asking the daemon. */
export function queryIn(words: readonly string[]): { q?: string } {
  const q = words.join(' ').trim();
  if (q === '') return {};
  const parsed = parseQuery(q);
  if (isQueryFault(parsed))
    throw new CliError(`${parsed.part}: ${parsed.message}`, { exit: exitCodes.usage });
  return { q };
}
