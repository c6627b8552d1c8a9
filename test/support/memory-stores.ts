import type { EventRecord, EventsStore } from '../../src/daemon/features/events/store.ts';
import type { KeyRecord, KeysStore, PreviousSecret } from '../../src/daemon/features/keys/store.ts';
import type {
  MeteringStore,
  ServedDay,
  UsageFilter,
  UsageGroup,
  UsageRecord,
} from '../../src/daemon/features/metering/store.ts';
import type {
  LoginRecord,
  UserRecord,
  WorkspaceRecord,
  WorkspaceRole,
  WorkspacesStore,
} from '../../src/daemon/features/workspaces/store.ts';
import { LocalChanges } from '../../src/daemon/storage/local-changes.ts';
import { startOfPeriod } from '../../src/shared/money/spend-periods.ts';
import { utcDay } from '../../src/shared/time/time.ts';
import { localDay } from '../../src/shared/time/time-zones.ts';

/** Stores that forget everything with the test: the plainest reading of each interface. */

export function memoryKeysStore(): KeysStore & { records: Map<string, KeyRecord>; changes: LocalChanges } {
  const records = new Map<string, KeyRecord>();
  const previous: PreviousSecret[] = [];
  const changes = new LocalChanges();
  const inWorkspace = (workspaceId: string, keyId: string) => {
    const record = records.get(keyId);
    return record?.workspaceId === workspaceId ? record : undefined;
  };
  return {
    records,
    changes,
    async insert(record) {
      if (record.parentId !== null && records.get(record.parentId)?.revokedAt !== null) return false;
      records.set(record.id, { ...record });
      return true;
    },
    async byDigest(digest) {
      return copy([...records.values()].find((record) => record.digest === digest));
    },
    async byId(workspaceId, keyId) {
      return copy(inWorkspace(workspaceId, keyId));
    },
    async list(workspaceId, { limit, after }) {
      return [...records.values()]
        .filter((record) => record.workspaceId === workspaceId && (after === undefined || record.id < after))
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
        .map((record) => ({ ...record }));
    },
    async revoke(workspaceId, keyId, at) {
      const record = inWorkspace(workspaceId, keyId);
      if (!record || record.revokedAt !== null) return [];
      // A set also iterates over what is added meanwhile.
      const tree = new Set([record]);
      for (const parent of tree) {
        for (const child of records.values()) if (child.parentId === parent.id) tree.add(child);
      }
      const active = [...tree].filter(({ revokedAt }) => revokedAt === null);
      for (const each of active) each.revokedAt = at;
      await changes.announce(active.map(({ id }) => ({ topic: 'revocation', id })));
      return active.map(({ id }) => id);
    },
    async setLimits(workspaceId, keyId, limits, before) {
      const record = inWorkspace(workspaceId, keyId);
      if (before !== undefined && JSON.stringify(record?.limits) !== JSON.stringify(before)) return false;
      if (record) record.limits = limits;
      await changes.announce([{ topic: 'key', workspaceId, keyId }]);
      return record !== undefined;
    },
    async setDefaults(workspaceId, keyId, defaults, before) {
      const record = inWorkspace(workspaceId, keyId);
      if (before !== undefined && JSON.stringify(record?.defaults) !== JSON.stringify(before)) return false;
      if (record) record.defaults = defaults;
      await changes.announce([{ topic: 'key', workspaceId, keyId }]);
      return record !== undefined;
    },
    async rotate({ workspaceId, keyId, before, digest, hint, at, endsAt }) {
      const record = inWorkspace(workspaceId, keyId);
      if (record?.digest !== before || record.revokedAt !== null) return false;
      if (endsAt === undefined)
        for (const secret of previous)
          if (secret.keyId === keyId) secret.endsAt = Math.min(secret.endsAt, at);
      const replaced = { digest: before, keyId, workspaceId, hint: record.hint, replacedAt: at };
      previous.unshift({ ...replaced, endsAt: endsAt ?? at, lastUsedAt: null });
      Object.assign(record, { digest, hint, rotatedAt: at });
      await changes.announce([{ topic: 'key', workspaceId, keyId }]);
      return true;
    },
    async setPaused(workspaceId, keyId, pausedAt) {
      const record = inWorkspace(workspaceId, keyId);
      if (!record || record.revokedAt !== null) return false;
      if ((record.pausedAt === null) === (pausedAt === null)) return false;
      record.pausedAt = pausedAt;
      await changes.announce([{ topic: 'key', workspaceId, keyId }]);
      return true;
    },
    previousByDigest: async (digest) => copy(previous.find((secret) => secret.digest === digest)),
    previousOf: async (keyId) => structuredClone(previous.filter((secret) => secret.keyId === keyId)),
    async touchPrevious(uses) {
      return uses.flatMap(({ digest, at }) => {
        const secret = previous.find((one) => one.digest === digest);
        const isFirst = secret?.lastUsedAt === null;
        if (secret) secret.lastUsedAt = at;
        return secret && isFirst ? [{ ...secret }] : [];
      });
    },
    async touch(uses) {
      for (const { keyId, at } of uses) {
        const record = records.get(keyId);
        if (record) record.lastUsedAt = at;
      }
    },
  };
}

export function memoryWorkspacesStore(): WorkspacesStore & {
  logins: LoginRecord[];
  addUser(user: { id: string; workspaces: [workspace: string, role: WorkspaceRole][] }): void;
} {
  const users: UserRecord[] = [];
  const all: WorkspaceRecord[] = [];
  const members: { workspaceId: string; userId: string; role: WorkspaceRole }[] = [];
  const logins: LoginRecord[] = [];
  const find = (reference: string) => all.find(({ id, slug }) => id === reference || slug === reference);
  const homeOf = async (userId: string) => {
    const first = members.find((member) => member.userId === userId);
    return first && find(first.workspaceId);
  };
  return {
    logins,
    addUser({ id, workspaces }) {
      users.push({ id, number: users.length + 1, handle: id, name: id, createdAt: 0 });
      for (const [workspace, role] of workspaces) {
        if (!find(workspace)) {
          all.push({
            id: workspace,
            slug: workspace.replace('ws_', ''),
            name: workspace,
            createdAt: 0,
            membersMayIssueKeys: false,
            capture: null,
          });
        }
        members.push({ workspaceId: workspace, userId: id, role });
      }
    },
    captureLevels: async () => [],
    async createOwner({ user, workspace }) {
      users.push({ ...user, number: users.length + 1 });
      all.push({ ...workspace, membersMayIssueKeys: false, capture: null });
      members.push({ workspaceId: workspace.id, userId: user.id, role: 'owner' });
    },
    async owner() {
      const user = users[0];
      const workspace = user && (await homeOf(user.id));
      return workspace && { user, workspace };
    },
    workspace: async (reference) => find(reference),
    homeOf,
    role: async (workspaceId, userId) =>
      members.find((member) => member.workspaceId === workspaceId && member.userId === userId)?.role,
    async insertLogin(record) {
      logins.push({ kind: 'command', idleMs: null, ...record, lastUsedAt: null });
    },
    async replaceLogin(record) {
      for (const login of logins) {
        if (login.userId === record.userId && login.name === record.name)
          login.revokedAt ??= record.createdAt;
      }
      logins.push({ kind: 'command', idleMs: null, ...record, lastUsedAt: null });
    },
    loginByDigest: async (digest) => copy(logins.find((login) => login.digest === digest)),
    loginById: async (id) => copy(logins.find((login) => login.id === id)),
    async touchLogins(uses) {
      for (const { id, at } of uses) {
        const login = logins.find((each) => each.id === id);
        if (login) login.lastUsedAt = Math.max(at, login.lastUsedAt ?? 0);
      }
    },
  };
}

type MeteringReads = Pick<
  MeteringStore,
  'usage' | 'spendOfKey' | 'served' | 'summarize' | 'usagePage' | 'series' | 'latency'
>;

export function memoryMeteringReads(): MeteringReads & { calls: UsageRecord[]; days: ServedDay[] } {
  const calls: UsageRecord[] = [];
  const days: ServedDay[] = [];
  return {
    calls,
    days,
    usage: async (requestId) => calls.find((call) => call.requestId === requestId),
    async spendOfKey(keyId, at) {
      const chargedOn = (prefix: string) =>
        calls
          .filter((call) => call.keyId === keyId && utcDay(call.completedAt).startsWith(prefix))
          .reduce((sum, call) => sum + call.charged, 0);
      const monday = utcDay(startOfPeriod('week', at));
      const week = calls
        .filter((call) => call.keyId === keyId && utcDay(call.completedAt) >= monday)
        .reduce((sum, call) => sum + call.charged, 0);
      return {
        total: chargedOn(''),
        day: chargedOn(utcDay(at)),
        week,
        month: chargedOn(utcDay(at).slice(0, 7)),
      };
    },
    served: async () => days,
    summarize: async (filter) => summarize(calls, filter),
    async usagePage({ after, limit, ...filter }) {
      const all = summarize(calls, filter);
      const last = after && all.findIndex(({ groups }) => groups.join() === after.join());
      if (last === -1) return undefined;
      const start = last === undefined ? 0 : last + 1;
      const [sums = emptyGroup([])] = summarize(calls, { ...filter, groupBy: [] });
      const { groups: _groups, ...total } = sums;
      return { groups: all.slice(start, start + limit), hasMore: start + limit < all.length, total };
    },
    series: async () => [],
    latency: async () => [],
  };
}

/** What a call is called in each grouping. */
const namesBy: Record<
  UsageFilter['groupBy'][number],
  (call: UsageRecord, filter: UsageFilter) => (string | null)[]
> = {
  day: ({ completedAt }, { timeZone }) => [localDay(completedAt, timeZone)],
  model: ({ model }) => [model],
  key: ({ keyId }) => [keyId],
  provider: ({ provider }) => [provider],
  status: ({ status }) => [status],
  client: ({ labels }) => [labels.client],
  user: ({ labels }) => [labels.user],
  tag: ({ labels }) => {
    const tags = Object.entries(labels.tags).map(([name, value]) => `${name}=${value}`);
    return tags.length > 0 ? tags : [null];
  },
  error: ({ errorCode }) => [errorCode],
};

function summarize(calls: readonly UsageRecord[], filter: UsageFilter): UsageGroup[] {
  const groups = new Map<string, UsageGroup>();
  for (const call of calls) {
    if (call.workspaceId !== filter.workspaceId) continue;
    if (filter.keyId !== undefined && call.keyId !== filter.keyId) continue;
    if (filter.model !== undefined && call.model !== filter.model) continue;
    if (call.completedAt < filter.since || call.completedAt >= filter.until) continue;
    let combinations: (string | null)[][] = [[]];
    for (const by of filter.groupBy) {
      const names = namesBy[by](call, filter);
      combinations = combinations.flatMap((one) => names.map((name) => [...one, name]));
    }
    for (const each of combinations) {
      const id = JSON.stringify(each);
      const group = groups.get(id) ?? emptyGroup(each);
      groups.set(id, group);
      group.requests += 1;
      group.charged += call.charged;
      for (const part of ['input', 'cachedInput', 'cacheWrite', 'output', 'reasoning'] as const) {
        group.tokens[part] += call.tokens[part];
      }
      if (call.cost === null) group.unpriced += 1;
      else for (const part of ['provider', 'margin', 'total'] as const) group.cost[part] += call.cost[part];
    }
  }
  const last = '\uffff';
  const orderOf = ({ groups: names }: UsageGroup) => names.map((name) => name ?? last).join('\u0000');
  return [...groups.values()].sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function emptyGroup(groups: (string | null)[]): UsageGroup {
  return {
    groups,
    requests: 0,
    rejected: 0,
    unpriced: 0,
    tokens: { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    cost: { provider: 0, margin: 0, total: 0 },
    charged: 0,
  };
}

export function memoryEventsStore(): EventsStore & { kept: EventRecord[] } {
  const kept: EventRecord[] = [];
  let sequence = 0;
  return {
    kept,
    async append(event) {
      sequence += 1;
      kept.push({ ...event, sequence });
      return sequence;
    },
    after: async (workspaceIds, after, limit) =>
      kept
        .filter((event) => workspaceIds.includes(event.workspaceId) && event.sequence > after)
        .slice(0, limit),
    prunedTo: async () => (kept[0]?.sequence ?? sequence + 1) - 1,
    last: async () => sequence,
    async prune(before, keep) {
      const stays = kept.slice(-keep).filter((event) => event.at >= before);
      const dropped = kept.length - stays.length;
      kept.splice(0, kept.length, ...stays);
      return dropped;
    },
  };
}

function copy<T extends object>(record: T | undefined): T | undefined {
  return record && { ...record };
}
