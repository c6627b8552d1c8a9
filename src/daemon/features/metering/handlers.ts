import { getLedgerCheck, grantCredit, listCredit, verifyLedger } from '../../../shared/contract/credit.ts';
import {
  getUsage,
  getUsageLatency,
  getUsageSeries,
  listUsage,
  tokensServed,
} from '../../../shared/contract/usage.ts';
import { formatUsd } from '../../../shared/money/money.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Identified, identified, implement, loginOf } from '../../base/handler.ts';
import type { Credit, LedgerCheck } from './credit.ts';
import type { UsageGroup } from './store.ts';
import { bucketsView, latencyViews, seriesView } from './usage/series-view.ts';
import { groupingsIn } from './usage/usage-groups.ts';
import { timeBound, timeZoneIn, type UsageReader, unknownPage } from './usage/usage-reader.ts';
import { servedView, usageSums, usageView } from './usage/usage-record.ts';

interface UsageHandlersDeps {
  usage: UsageReader;
  now: () => number;
  /** Stores what was counted of rejected calls; resolves to whether those of unknown callers count for the reader. */
  rejectedFor(reader: Identified): Promise<{ unknownCallers: boolean }>;
}

export const usageHandlers = ({ usage, now, rejectedFor }: UsageHandlersDeps) => [
  implement(getUsage, async ({ caller, params }) =>
    usageView(await usage.ofRequest(identified(caller), params.request_id)),
  ),

  implement(listUsage, async ({ caller, query }) => {
    const groupBy = query.group_by ?? 'day';
    const period = periodIn(query, now());
    const groupings = groupingsIn(groupBy);
    const { since, until, groups, hasMore, total } = await usage.summary(identified(caller), {
      keyId: query.key,
      model: query.model,
      ...period,
      groupBy: groupings,
      ...(await rejectedFor(identified(caller))),
      after: query.after === undefined ? undefined : groupsOfCursor(query.after, groupings.length),
      limit: query.limit ?? groupsPerPage,
    });
    const last = groups.at(-1);
    const next = hasMore && last ? cursorOf(last) : null;
    return {
      object: 'list',
      group_by: groupBy,
      tz: period.timeZone,
      since: isoTime(since),
      until: isoTime(until),
      total: usageSums(total),
      data: groups.map((group) => ({
        group: group.groups[0] ?? null,
        groups: group.groups,
        ...usageSums(group),
      })),
      has_more: next !== null,
      next,
    };
  }),

  implement(getUsageSeries, async ({ caller, query }) => {
    const period = periodIn(query, now());
    const { buckets, series } = await usage.series(identified(caller), {
      keyId: query.key,
      model: query.model,
      provider: query.provider,
      status: query.status,
      ...period,
      bucket: query.bucket,
      groupBy: query.group_by,
      top: query.top ?? seriesShown,
      ...(await rejectedFor(identified(caller))),
    });
    return {
      object: 'usage.series',
      tz: period.timeZone,
      ...bucketsView(buckets),
      bucket: buckets.bucket,
      series: series.map(seriesView),
    };
  }),

  implement(getUsageLatency, async ({ caller, query }) => {
    const period = periodIn(query, now());
    const { buckets, series } = await usage.latency(identified(caller), {
      model: query.model,
      provider: query.provider,
      ...period,
      bucket: query.bucket,
      groupBy: query.group_by,
    });
    return {
      object: 'usage.latency',
      tz: period.timeZone,
      ...bucketsView(buckets),
      bucket: query.bucket ?? null,
      series: latencyViews(series, { hasHistograms: query.bucket === undefined }),
    };
  }),

  implement(tokensServed, async () => servedView(await usage.served())),
];

function periodIn({ tz, since, until }: { tz?: string; since?: string; until?: string }, at: number) {
  const timeZone = timeZoneIn(tz);
  return {
    since: timeBound('since', since, { now: at, timeZone }),
    until: timeBound('until', until, { now: at, timeZone }),
    timeZone,
  };
}

const groupsPerPage = 100;
const seriesShown = 10;

/** Null, which comes last, is empty. */
function cursorOf({ groups }: UsageGroup): string {
  return groups.length === 1
    ? (groups[0] ?? '')
    : groups.map((name) => encodeURIComponent(name ?? '')).join();
}

/** Fails with `invalid_request` for what is no cursor of so many groups. */
function groupsOfCursor(cursor: string, count: number): UsageGroup['groups'] {
  try {
    const names = count === 1 ? [cursor] : cursor.split(',').map(decodeURIComponent);
    if (names.length === count) return names.map((name) => (name === '' ? null : name));
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
  }
  throw unknownPage();
}

/** The owner's endpoints for prepaid credit and for verifying the ledger. */
export function creditHandlers(credit: Credit) {
  return [
    implement(grantCredit, async ({ caller, body }) => {
      const { workspace, usd, note = null, reference = null } = body;
      const { grant, balance } = await credit.grant(loginOf(caller), { workspace, usd, note, reference });
      return {
        id: grant.id,
        object: 'credit_grant',
        workspace: grant.workspaceId,
        usd: formatUsd(grant.amount),
        note: grant.note,
        reference: grant.reference,
        balance_usd: balance === null ? null : formatUsd(balance),
        created_at: isoTime(grant.createdAt),
      };
    }),

    implement(listCredit, async ({ caller, query }) => {
      const accounts = await credit.accounts(loginOf(caller), query.workspace);
      const data = accounts.map(({ workspaceId, slug, name, isPrepaid, balance, granted, bought, held }) => ({
        workspace: workspaceId,
        slug,
        name,
        billing: isPrepaid ? ('prepaid' as const) : ('postpaid' as const),
        balance_usd: isPrepaid ? formatUsd(balance) : null,
        granted_usd: formatUsd(granted),
        bought_usd: formatUsd(bought),
        spent_usd: formatUsd(granted + bought - balance),
        held_usd: formatUsd(held),
      }));
      return { object: 'list', data, has_more: false, next: null };
    }),

    implement(verifyLedger, async () => checkView(await credit.verify())),

    implement(getLedgerCheck, async () => checkView(await credit.verify())),
  ];
}

function checkView({ at, problems, ...counts }: LedgerCheck) {
  return { ok: problems.length === 0, checked_at: isoTime(at), ...counts, problems };
}
