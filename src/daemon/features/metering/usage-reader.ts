import { ApiError } from '../../../shared/errors.ts';
import { utcDay } from '../../../shared/time.ts';
import type { KeyCaller, LoginCaller } from '../../handler.ts';
import type {
  MeteringStore,
  ServedDay,
  Spend,
  UsageFilter,
  UsageGroup,
  UsageRecord,
} from './metering-store.ts';

const dayMs = 24 * 60 * 60 * 1000;
const summaryDays = 30;

/** What a summary is asked for; times in milliseconds since 1970, thirty days up to now unless told. */
export interface SummaryWish {
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

/** Reads of what calls took. A key sees its own calls alone, a login those of its workspace. */
export function usageReader({ store, now }: { store: Store; now: () => number }) {
  return {
    /** Fails with `not_found` alike for a call that is unknown, still running, or somebody else's. */
    async ofRequest(caller: KeyCaller | LoginCaller, requestId: string): Promise<UsageRecord> {
      const record = await store.usage(requestId);
      const isOwn =
        record?.workspaceId === caller.workspaceId &&
        (caller.kind === 'login' || record.keyId === caller.keyId);
      if (!record || !isOwn) {
        throw new ApiError('not_found', { message: 'There is no finished request with that id.' });
      }
      return record;
    },

    /** Fails with `not_found` when a key asks for another's calls, with `invalid_request` when no time is left. */
    async summary(caller: KeyCaller | LoginCaller, wish: SummaryWish): Promise<Summary> {
      // A call that ended in this very millisecond belongs in.
      const until = wish.until ?? now() + 1;
      const since = wish.since ?? startOfDay(until - 1) - (summaryDays - 1) * dayMs;
      if (since >= until) {
        throw new ApiError('invalid_request', { param: 'since', message: '`since` is not before `until`.' });
      }
      if (caller.kind === 'key' && wish.keyId !== undefined && wish.keyId !== caller.keyId) {
        throw new ApiError('not_found', { param: 'key', message: 'A key sees its own usage only.' });
      }
      const keyId = caller.kind === 'key' ? caller.keyId : wish.keyId;
      const { workspaceId } = caller;
      const { model, groupBy } = wish;
      return {
        since,
        until,
        groups: await store.summarize({ workspaceId, keyId, model, since, until, groupBy }),
      };
    },

    /** What a key, or a login's whole workspace, was charged. */
    async spendOf(caller: KeyCaller | LoginCaller): Promise<Spend> {
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

export type UsageReader = ReturnType<typeof usageReader>;

function startOfDay(ms: number): number {
  return ms - (ms % dayMs);
}
