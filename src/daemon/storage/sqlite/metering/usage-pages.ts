import { startOfLocalDay } from '../../../../shared/time-zones.ts';
import type {
  CallStatus,
  UsageFilter,
  UsageGroup,
  UsagePage,
  UsagePageFilter,
} from '../../../features/metering/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { usageGroups } from './summaries.ts';

type Groups = (of: Parameters<typeof usageGroups>[2]) => UsageGroup[];

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
    const atOnce = first === 'key' ? keysAtOnce : 1;
    for (let at = part ?? 0; at < parts.length && found.length <= limit; at += atOnce) {
      const values = parts.slice(at, at + atOnce).map(({ groups: [name = null] }) => name);
      found.push(...groupsWithin(groupsOf, filter, values));
      if (after && at === part) {
        const last = found.findIndex(({ groups }) => isOf(groups, after));
        if (last === -1) return undefined;
        found.splice(0, last + 1);
      }
    }
    return { groups: found.slice(0, limit), hasMore: found.length > limit, total };
  })();
}

/** Calls are filtered by what these groups name. */
const divided = new Set<string>(['day', 'model', 'provider', 'status', 'key']);

const keysAtOnce = 20;

/** The groups of which the first one has one of these names: several keys, or one of another group. */
function groupsWithin(groupsOf: Groups, filter: UsageFilter, values: (string | null)[]): UsageGroup[] {
  const { groupBy, since, until, timeZone } = filter;
  const [first, ...others] = groupBy;
  const named = values.filter((name) => name !== null);
  // No filter selects calls without a name.
  const unnamed =
    named.length < values.length ? groupsOf(filter).filter(({ groups }) => groups[0] === null) : [];
  const [name] = named;
  if (name === undefined) return unnamed;
  if (first === 'key') return [...groupsOf({ ...filter, keyIds: named }), ...unnamed];
  const within = { ...filter, groupBy: others };
  const found =
    first === 'day'
      ? groupsOf({
          ...within,
          since: Math.max(since, startOfLocalDay(name, timeZone)),
          until: Math.min(until, startOfLocalDay(name, timeZone, 1)),
        })
      : groupsOf({
          ...within,
          ...(first === 'model' && { model: name }),
          ...(first === 'provider' && { provider: name }),
          ...(first === 'status' && { status: name as CallStatus }),
        });
  return found.map((group) => ({ ...group, groups: [name, ...group.groups] }));
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
