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
import { usedKeys } from './sum-usage.ts';
import { usageGroups } from './summaries.ts';

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
    const total = sumOf(parts);
    const part =
      after && parts.findIndex(({ groups }) => isOf(groups, isDivided ? after.slice(0, 1) : after));
    if (part === -1) return undefined;
    if (!isDivided) {
      const start = part === undefined ? 0 : part + 1;
      return { groups: parts.slice(start, start + limit), hasMore: start + limit < parts.length, total };
    }
    const found: UsageGroup[] = [];
    const source = { groupsOf, keys: keysOf(database, names, filter) };
    const atOnce = first === 'key' ? keysAtOnce : 1;
    let skipped = after;
    for (let at = part ?? 0; at < parts.length && found.length <= limit; at += atOnce) {
      for (const groups of groupsWithin(source, filter, {
        parts: parts.slice(at, at + atOnce),
        after: skipped,
      })) {
        const last = skipped ? groups.findIndex(({ groups: of }) => isOf(of, skipped ?? [])) : -1;
        if (skipped && last === -1) return undefined;
        skipped = undefined;
        found.push(...groups.slice(last + 1));
        if (found.length > limit) break;
      }
      if (skipped) return undefined;
    }
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
  const start = after === undefined ? 0 : key == null ? used.length : used.indexOf(key);
  if (start === -1) return;
  for (let at = start; at < used.length; at += keysAtOnce)
    yield groupsIn({ keyIds: used.slice(at, at + keysAtOnce) });
  if (hasUnnamed) yield groupsIn({}).filter(({ groups }) => groups[1] === null);
}

function isOf(groups: UsageGroup['groups'], others: UsageGroup['groups']): boolean {
  return groups.every((name, index) => name === others[index]);
}

function sumOf(groups: readonly UsageGroup[]): UsagePage['total'] {
  const cost = { provider: 0, margin: 0, total: 0 };
  const tokens = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 };
  const total = { requests: 0, unpriced: 0, tokens, cost, charged: 0 };
  for (const group of groups) {
    for (const name of ['requests', 'unpriced', 'charged'] as const) total[name] += group[name];
    for (const name of ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] as const)
      tokens[name] += group.tokens[name];
    for (const name of ['provider', 'margin', 'total'] as const) cost[name] += group.cost[name];
  }
  return total;
}
