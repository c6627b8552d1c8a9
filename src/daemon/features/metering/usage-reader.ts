import { ApiError } from '../../../shared/errors.ts';
import { notFound } from '../../../shared/not-found.ts';
import { parseTime, startOfDay, utcDay } from '../../../shared/time.ts';
import type { Identified } from '../../handler.ts';
import type { MeteringStore, ServedDay, Spend, UsageFilter, UsageGroup, UsageRecord } from './store.ts';

const dayMs = 24 * 60 * 60 * 1000;
const summaryDays = 30;

/** Which calls to sum up: times in milliseconds since 1970; by default, the last 30 days. */
export interface SummaryQuery {
  keyId: string | undefined;
  model: string | undefined;
  since: number | undefined;
  until: number | undefined;
  groupBy: UsageFilter['groupBy'];
}

/** Sums over calls completed at or after `since` and before `until`. */
export interface Summary {
  since: number;
  until: number;
  groups: UsageGroup[];
}

type Store = Pick<MeteringStore, 'usage' | 'summarize' | 'spendOfKey' | 'served'>;

/** Reads the usage of finished calls. A key sees only its own, a login those of its workspace. */
export function createUsageReader({ store, now }: { store: Store; now: () => number }) {
  return {
    /** Fails with `not_found` for a call that is unknown, still running, or not visible to the caller. */
    async ofRequest(caller: Identified, requestId: string): Promise<UsageRecord> {
      const record = await store.usage(requestId);
      const isOwn =
        record?.workspaceId === caller.workspaceId &&
        (caller.kind !== 'key' || record.keyId === caller.keyId);
      if (!record || !isOwn) {
        throw notFound('finished request', requestId);
      }
      return record;
    },

    /** Fails with `not_found` when a key asks for another key, with `invalid_request` for an empty period. */
    async summary(caller: Identified, query: SummaryQuery): Promise<Summary> {
      // Includes calls that ended in this millisecond.
      const until = query.until ?? now() + 1;
      const since = query.since ?? startOfDay(until - 1) - (summaryDays - 1) * dayMs;
      if (since >= until) {
        throw new ApiError('invalid_request', { param: 'since', message: '`since` must be before `until`.' });
      }
      if (caller.kind === 'key' && query.keyId !== undefined && query.keyId !== caller.keyId) {
        throw new ApiError('not_found', { param: 'key', message: 'A key can only read its own usage.' });
      }
      const keyId = caller.kind === 'key' ? caller.keyId : query.keyId;
      const { workspaceId } = caller;
      const { model, groupBy } = query;
      return {
        since,
        until,
        groups: await store.summarize({ workspaceId, keyId, model, since, until, groupBy }),
      };
    },

    /** The models that answered a caller in the last 30 days. */
    async modelsUsedBy(caller: Identified): Promise<string[]> {
      const all = { keyId: undefined, model: undefined, since: undefined, until: undefined };
      const { groups } = await this.summary(caller, { ...all, groupBy: 'model' });
      const answered = groups.filter(({ tokens }) => tokens.input + tokens.output > 0);
      return answered.flatMap(({ group }) => group ?? []);
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
        groupBy: 'day',
      });
      const today = utcDay(at);
      const chargedOn = (prefix: string) =>
        days.reduce((sum, day) => (day.group?.startsWith(prefix) ? sum + day.charged : sum), 0);
      return { total: chargedOn(''), day: chargedOn(today), month: chargedOn(today.slice(0, 7)) };
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

export type UsageReader = ReturnType<typeof createUsageReader>;

/** Parses a query parameter, if present. A bare day as `until` includes that whole day. */
export function timeBound(param: 'since' | 'until', text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseTime(text);
  if (ms === undefined)
    throw new ApiError('invalid_request', { param, message: `\`${param}\` is not a time.` });
  return param === 'until' && text.length === 10 ? ms + dayMs : ms;
}
