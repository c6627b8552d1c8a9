import { startOfLocalDay } from '../../../../../shared/time/time-zones.ts';
import type {
  CallStatus,
  UsageFilter,
  UsageGroup,
  UsagePage,
  UsagePageFilter,
} from '../../../../features/metering/store.ts';
import type { Connection } from '../../engine/connection.ts';
import type { NameTexts } from '../../engine/names.ts';
import { unlistedStatus } from './index-kinds.ts';
import { rejectedCalls, rejectedGroups } from './rejected-calls.ts';
import { usedKeys } from './sum-usage.ts';
import { byGroups, usageGroups } from './summaries.ts';

type Groups = (of: Parameters<typeof usageGroups>[2]) => UsageGroup[];

interface Source {
  groupsOf: Groups;
  /** The keys that were used, in the order of the groups, and whether there are calls without one. */
  keys: () => { named: readonly string[]; hasUnnamed: boolean };
}

/**
 * A page of a summary. By two groups there can be many times more than a page has, such as a day's keys: of the first group,
 * only the values on the page are divided by the second.
 */
export function readUsagePage(
  database: Connection,
  names: NameTexts,
  { after, limit, ...filter }: UsagePageFilter,
): UsagePage | undefined {
  return database.transaction(() => {
    const groupsOf: Groups = (of) => usageGroups(database, names, of);
    const [first, second] = filter.groupBy;
    const isDivided = second !== undefined && divided.has(first ?? '') && divided.has(second);
    const parts = groupsOf(isDivided && first ? { ...filter, groupBy: [first] } : filter);
    const rejected = rejectedGroups(database, filter)
      .map((group) => ({ ...noSums(), ...group }))
      .sort(byGroups);
    // A call with several tags is in several groups.
    const isTagged = filter.groupBy.includes('tag');
    const total = sumOf(isTagged ? groupsOf({ ...filter, groupBy: ['status'] }) : parts);
    total.rejected = (isTagged ? rejectedCalls(database, filter, []) : rejected).reduce(
      (sum, each) => sum + ('calls' in each ? each.calls : each.rejected),
      0,
    );
    const isAfter = ({ groups }: UsageGroup) =>
      after === undefined || byGroups({ groups }, { groups: after }) > 0;
    let isKnown = after === undefined || rejected.some(({ groups }) => isOf(groups, after));
    const found: UsageGroup[] = [];
    const waiting = rejected.filter(isAfter);
    const take = (group: UsageGroup) => {
      while (waiting[0] && byGroups(waiting[0], group) < 0) found.push(...waiting.splice(0, 1));
      const [same] = waiting[0] && byGroups(waiting[0], group) === 0 ? waiting.splice(0, 1) : [];
      found.push(same ? { ...group, rejected: same.rejected } : group);
    };
    const takeAll = (groups: readonly UsageGroup[]) => {
      isKnown ||= groups.some(({ groups: of }) => isOf(of, after ?? []));
      for (const group of groups) if (isAfter(group)) take(group);
    };
    if (isDivided) {
      const source = { groupsOf, keys: keysOf(database, names, filter) };
      const atOnce = first === 'key' ? keysAtOnce : 1;
      const isBefore = (part: UsageGroup) => byGroups(part, { groups: after?.slice(0, 1) ?? [] }) < 0;
      const start = after === undefined ? 0 : parts.filter(isBefore).length;
      let skipped = after;
      for (let at = start; at < parts.length && found.length <= limit; at += atOnce) {
        const within = parts.slice(at, at + atOnce);
        for (const groups of groupsWithin(source, filter, { parts: within, after: skipped })) {
          takeAll(groups);
          skipped = undefined;
          if (found.length > limit) break;
        }
        skipped = undefined;
      }
    } else takeAll(parts);
    if (!isKnown) return undefined;
    if (found.length <= limit) found.push(...waiting);
    return { groups: found.slice(0, limit), hasMore: found.length > limit, total };
  })();
}

/** Calls are filtered by what these groups name. */
const divided = new Set<string>(['day', 'model', 'provider', 'status', 'key']);

const keysAtOnce = 20;

/** So many calls are read one by one sooner than the totals of all keys. */
const fewCalls = 500;

function keysOf(
  database: Connection,
  names: NameTexts,
  { workspaceId, since, until }: UsageFilter,
): Source['keys'] {
  let keys: ReturnType<Source['keys']> | undefined;
  return () => {
    if (keys) return keys;
    const workspace = names.numberOf(workspaceId);
    const numbers = workspace === undefined ? [] : usedKeys(database, workspace, { from: since, to: until });
    const named = numbers.filter((number) => number !== 0).map((number) => names.of(number));
    keys = { named: named.sort(), hasUnnamed: named.length < numbers.length };
    return keys;
  };
}

/**
 * The groups within several keys, or one value of another group, in pieces, as a page rarely needs all keys. They may start
 * later, but not after the group that is skipped.
 */
function* groupsWithin(
  { groupsOf, keys }: Source,
  filter: UsageFilter,
  { parts, after }: { parts: readonly UsageGroup[]; after: UsageGroup['groups'] | undefined },
): Generator<UsageGroup[]> {
  const { groupBy, since, until, timeZone } = filter;
  const [first, second] = groupBy;
  const named = parts.flatMap(({ groups: [name = null] }) => name ?? []);
  // No filter selects calls without a name.
  const unnamed =
    named.length < parts.length ? groupsOf(filter).filter(({ groups }) => groups[0] === null) : [];
  const [name] = named;
  if (name === undefined) return yield unnamed;
  if (first === 'key') return yield [...groupsOf({ ...filter, keyIds: named }), ...unnamed];
  const within: Parameters<Groups>[0] = {
    ...filter,
    groupBy: groupBy.slice(1),
    ...(first === 'day' && {
      since: Math.max(since, startOfLocalDay(name, timeZone)),
      until: Math.min(until, startOfLocalDay(name, timeZone, 1)),
    }),
    ...(first === 'model' && { model: name }),
    ...(first === 'provider' && { provider: name }),
    ...(first === 'status' && { status: name as CallStatus }),
  };
  const groupsIn = (of: Partial<Parameters<Groups>[0]>) =>
    groupsOf({ ...within, ...of }).map((group) => ({ ...group, groups: [name, ...group.groups] }));
  const hasTotals = first === 'day' || first === 'model' || filter.keyId !== undefined;
  if (second !== 'key' || hasTotals) return yield groupsIn({});
  // The index lists the calls of a provider or status of all models together.
  const hasIndex = filter.model === undefined && name !== unlistedStatus;
  if (hasIndex && (parts[0]?.requests ?? 0) <= fewCalls) return yield groupsIn({ isOneByOne: true });
  const { named: used, hasUnnamed } = keys();
  const key = after?.[1];
  const start =
    after === undefined ? 0 : key == null ? used.length : used.filter((each) => each < key).length;
  for (let at = start; at < used.length; at += keysAtOnce)
    yield groupsIn({ keyIds: used.slice(at, at + keysAtOnce) });
  if (hasUnnamed) yield groupsIn({}).filter(({ groups }) => groups[1] === null);
}

function isOf(groups: UsageGroup['groups'], others: UsageGroup['groups']): boolean {
  return groups.every((name, index) => name === others[index]);
}

function noSums(): Omit<UsageGroup, 'groups'> {
  const cost = { provider: 0, margin: 0, total: 0 };
  const tokens = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  return { requests: 0, rejected: 0, unpriced: 0, tokens, cost, charged: 0 };
}

function sumOf(groups: readonly UsageGroup[]): UsagePage['total'] {
  const total = noSums();
  for (const group of groups) {
    for (const name of ['requests', 'unpriced', 'charged'] as const) total[name] += group[name];
    for (const name of ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] as const)
      total.tokens[name] += group.tokens[name];
    for (const name of ['provider', 'margin', 'total'] as const) total.cost[name] += group.cost[name];
  }
  return total;
}
