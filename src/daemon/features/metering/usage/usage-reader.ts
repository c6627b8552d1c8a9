import { ApiError } from '../../../../shared/errors.ts';
import { notFound } from '../../../../shared/faults/not-found.ts';
import { startOfPeriod } from '../../../../shared/money/spend-periods.ts';
import { earliestTime, parseTime, utcDay } from '../../../../shared/time/time.ts';
import {
  type BucketName,
  bucketsOf,
  isTimeZone,
  localDay,
  startOfLocalDay,
} from '../../../../shared/time/time-zones.ts';
import type { Identified } from '../../../base/handler.ts';
import type {
  LatencyFilter,
  LatencyGroup,
  MeteringStore,
  Series,
  SeriesFilter,
  ServedDay,
  Spend,
  UsageFilter,
  UsagePage,
  UsagePageFilter,
  UsageRecord,
} from '../store.ts';
import { checkGroups, checkSeriesGroup } from './usage-groups.ts';

const dayMs = 24 * 60 * 60 * 1000;
const summaryDays = 30;

/** Which calls to sum up: times in milliseconds since 1970; by default, the last 30 days. */
export interface SummaryQuery extends Period {
  keyId: string | undefined;
  model: string | undefined;
  groupBy: UsageFilter['groupBy'];
  timeZone?: string;
  unknownCallers?: boolean;
}

/** Sums over calls completed at or after `since` and before `until`. */
interface SummaryPage extends UsagePage {
  since: number;
  until: number;
}

type Store = Pick<
  MeteringStore,
  'usage' | 'summarize' | 'usagePage' | 'series' | 'latency' | 'spendOfKey' | 'served'
>;

/** Reads the usage of finished calls. A key sees only its own, a login those of its workspace. */
export function createUsageReader({ store, now }: { store: Store; now: () => number }) {
  return {
    /** Fails with `not_found` for a call that is unknown, still running, or not visible to the caller. */
    async ofRequest(caller: Identified, requestId: string): Promise<UsageRecord> {
      const record = await store.usage(requestId);
      const isOwn =
        record?.workspaceId === caller.workspaceId &&
        (caller.kind !== 'key' || record.keyId === caller.keyId);
      if (!record || !isOwn) throw notFound('finished request', requestId);
      return record;
    },

    /**
     * Fails with `not_found` when a key asks for another key, with `invalid_request` for an empty period and if `after` is no
     * group.
     */
    async summary(
      caller: Identified,
      { after, limit, ...query }: SummaryQuery & Pick<UsagePageFilter, 'after' | 'limit'>,
    ): Promise<SummaryPage> {
      const filter = summaryFilter(caller, query, now());
      const page = await store.usagePage({ ...filter, after, limit });
      if (!page) throw unknownPage();
      return { since: filter.since, until: filter.until, ...page };
    },

    /** Fails with `invalid_request` for an empty range or one of too many buckets, and as `summary` does. */
    async series(caller: Identified, query: SeriesQuery): Promise<{ buckets: Bucketed; series: Series[] }> {
      const { bucket, timeZone, since, until, keyId, ...filter } = query;
      const buckets = bucketed({ since, until, now: now() }, { bucket, timeZone });
      const visible = visibleKey(caller, keyId);
      checkSeriesGroup({ ...filter, keyId: visible });
      const series = await store.series({
        ...filter,
        workspaceId: caller.workspaceId,
        keyId: visible,
        buckets: buckets.buckets,
      });
      return { buckets, series };
    },

    /** Fails as `series` does. */
    async latency(
      caller: Identified,
      query: LatencyQuery,
    ): Promise<{ buckets: Bucketed; series: LatencyGroup[] }> {
      const { bucket, timeZone, since, until, ...filter } = query;
      const range = { since, until, now: now() };
      const buckets = bucket ? bucketed(range, { bucket, timeZone }) : wholeRange(range);
      const series = await store.latency({
        ...filter,
        workspaceId: caller.workspaceId,
        buckets: buckets.buckets,
      });
      return { buckets, series };
    },

    /** The models that answered a caller in the last 30 days. */
    async modelsUsedBy(caller: Identified): Promise<string[]> {
      const all = { keyId: undefined, model: undefined, since: undefined, until: undefined };
      const groups = await store.summarize(summaryFilter(caller, { ...all, groupBy: ['model'] }, now()));
      const answered = groups.filter(({ tokens }) => tokens.input + tokens.output > 0);
      return answered.flatMap(({ groups: [model] }) => model ?? []);
    },

    /** The charges of a key, or of a login's whole workspace. */
    async spendOf(caller: Identified): Promise<Spend> {
      const at = now();
      if (caller.kind === 'key') return await store.spendOfKey(caller.keyId, at);
      const days = await store.summarize({
        workspaceId: caller.workspaceId,
        keyId: undefined,
        model: undefined,
        since: 0,
        until: at + 1,
        groupBy: ['day'],
        timeZone: 'UTC',
      });
      const today = utcDay(at);
      const chargedSince = (first: string) =>
        days.reduce((sum, { groups: [day], charged }) => (day && day >= first ? sum + charged : sum), 0);
      const week = chargedSince(utcDay(startOfPeriod('week', at)));
      return {
        total: chargedSince(''),
        day: chargedSince(today),
        week,
        month: chargedSince(today.slice(0, 7)),
      };
    },

    async served(): Promise<ServedDay[]> {
      try {
        return await store.served();
      } catch (cause) {
        throw new ApiError('unavailable', { message: 'The totals are not available right now.', cause });
      }
    },
  };
}

export function unknownPage(): ApiError {
  const message = '`after` is not the `next` of a page of this summary.';
  return new ApiError('invalid_request', { param: 'after', message });
}

function summaryFilter(caller: Identified, query: SummaryQuery, now: number): UsageFilter {
  const { model, groupBy, timeZone = 'UTC', unknownCallers = false } = query;
  const startBefore = (until: number) => daysBefore(until, summaryDays, timeZone);
  const { since, until } = rangeOf({ since: query.since, until: query.until, now }, startBefore);
  const keyId = visibleKey(caller, query.keyId);
  checkGroups({ keyId, model, groupBy, timeZone });
  const { workspaceId } = caller;
  return { workspaceId, keyId, model, since, until, groupBy, timeZone, unknownCallers };
}

/** A key sees only its own usage. */
function visibleKey(caller: Identified, keyId: string | undefined): string | undefined {
  if (caller.kind !== 'key') return keyId;
  if (keyId !== undefined && keyId !== caller.keyId)
    throw new ApiError('not_found', { param: 'key', message: 'A key can only read its own usage.' });
  return caller.keyId;
}

interface Period {
  since: number | undefined;
  until: number | undefined;
}

/** Times in milliseconds since 1970; by default the last 24 hours. */
interface BucketQuery extends Period {
  bucket: BucketName | undefined;
  timeZone: string;
}

type SeriesQuery = Omit<SeriesFilter, 'workspaceId' | 'buckets'> & BucketQuery;
type LatencyQuery = Omit<LatencyFilter, 'workspaceId' | 'buckets'> & BucketQuery;

/** Buckets of time, and whether the last one has not ended. */
export interface Bucketed {
  bucket: BucketName;
  buckets: readonly { start: number; end: number }[];
  isPartial: boolean;
}

/** Without a wish, the shortest buckets of which there are at most so many. */
const bucketsWithoutWish = 100;
/** A chart shows no more, and reads of more would take too long: local days and hours are read from quarters. */
const bucketsMax: Record<BucketName, number> = { '15m': 400, hour: 400, day: 100, week: 400, month: 400 };

interface Range extends Period {
  now: number;
}

function bucketed(range: Range, { bucket, timeZone }: Pick<BucketQuery, 'bucket' | 'timeZone'>): Bucketed {
  const { since, until } = rangeOf(range);
  const names: BucketName[] = bucket ? [bucket] : ['15m', 'hour', 'day', 'week', 'month'];
  for (const name of names) {
    const most = bucket ? bucketsMax[name] : bucketsWithoutWish;
    // UTC days have totals of their own.
    const ofDays = bucket === 'day' && timeZone === 'UTC' ? 1_000 : most;
    const buckets = bucketsOf({ since, until }, { bucket: name, timeZone, most: ofDays });
    if (buckets) return { bucket: name, buckets, isPartial: (buckets.at(-1)?.end ?? 0) > range.now };
  }
  throw new ApiError('invalid_request', {
    param: 'bucket',
    message: `This range has more than ${bucketsMax[bucket ?? 'month']} buckets: choose longer ones.`,
  });
}

function wholeRange(range: Range): Bucketed {
  const { since: start, until: end } = rangeOf(range);
  return { bucket: 'hour', buckets: [{ start, end }], isPartial: end > range.now };
}

function rangeOf(
  { since, until, now }: Range,
  startBefore = (end: number) => end - dayMs,
): { since: number; until: number } {
  // Includes calls that ended in this millisecond.
  const end = until ?? now + 1;
  const start = since ?? startBefore(end);
  if (start >= end)
    throw new ApiError('invalid_request', { param: 'since', message: '`since` must be before `until`.' });
  return { since: start, until: end };
}

/** The start of the local day that is so many days before the last one of a range. */
function daysBefore(until: number, days: number, timeZone: string): number {
  return startOfLocalDay(localDay(until - 1, timeZone), timeZone, 1 - days);
}

/** The zone of a query parameter. */
export function timeZoneIn(name: string | undefined): string {
  if (name === undefined) return 'UTC';
  if (!isTimeZone(name))
    throw new ApiError('invalid_request', {
      param: 'tz',
      message: '`tz` must be an IANA time zone, such as `Europe/Berlin`.',
    });
  return name;
}

export type UsageReader = ReturnType<typeof createUsageReader>;

/**
 * Parses a query parameter, if present. A bare day as `until` includes that whole day; ranges end with tomorrow at the latest, as
 * those of a month that has not ended. Fails with `invalid_request` for what is no time, and for times before 2020.
 */
export function timeBound(
  param: 'since' | 'until',
  text: string | undefined,
  { now, timeZone = 'UTC' }: { now: number; timeZone?: string },
): number | undefined {
  if (text === undefined) return undefined;
  const invalid = (problem: string) =>
    new ApiError('invalid_request', { param, message: `\`${param}\` ${problem}.` });
  const ms = parseTime(text);
  if (ms === undefined) throw invalid('is not a time');
  if (ms < earliestTime) throw invalid('must be 2020-01-01 or later');
  const latest = now + 2 * dayMs;
  if (param === 'since' && ms > latest) throw invalid('must be tomorrow at the latest');
  if (ms > latest) return startOfLocalDay(localDay(now, timeZone), timeZone, 2);
  if (text.length !== 10) return ms;
  return startOfLocalDay(text, timeZone, param === 'until' ? 1 : 0);
}
