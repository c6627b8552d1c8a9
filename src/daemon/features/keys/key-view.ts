import { scopeNames } from '../../../shared/contract/endpoint.ts';
import type { Limits } from '../../../shared/contract/key-limits.ts';
import type { Key, KeyView, KeyWithUse } from '../../../shared/contract/keys.ts';
import { formatUsd, type NanoUsd } from '../../../shared/money/money.ts';
import { endOfPeriod, startOfPeriod } from '../../../shared/money/spend-periods.ts';
import { isoTime } from '../../../shared/time/time.ts';
import type { SpendCap } from '../../base/handler.ts';
import type { KeyUse, Spend } from '../metering/index.ts';
import type { LoginRecord } from '../workspaces/index.ts';
import { defaultsView, limitsView } from './limits-and-defaults.ts';
import type { KeyRecord, PreviousSecret } from './store.ts';

export const noLimits: Limits = limitsView(null);

/** The API's form of a key. */
export function toKey(record: KeyRecord, now: number): Key {
  return {
    id: record.id,
    name: record.name,
    workspace: record.workspaceId,
    owner: record.ownerId,
    status: statusOf(record, now),
    scopes: record.scopes,
    models: record.models,
    actions: record.actions,
    limits: limitsView(record.limits),
    defaults: defaultsView(record.defaults),
    hint: record.hint,
    created_at: isoTime(record.createdAt),
    last_used_at: timeOrNull(record.lastUsedAt),
    revoked_at: timeOrNull(record.revokedAt),
    rotated_at: timeOrNull(record.rotatedAt),
    paused_at: timeOrNull(record.pausedAt),
  };
}

/** The caller's spending; `balance` is null for a postpaid workspace. */
interface Money {
  spend: Spend;
  balance: NanoUsd | null;
}

/** The calling key's view of itself. */
export function toKeyView(record: KeyRecord, { spend, balance }: Money): KeyView {
  return {
    id: record.id,
    name: record.name,
    workspace: record.workspaceId,
    scopes: record.scopes,
    created_at: isoTime(record.createdAt),
    last_used_at: timeOrNull(record.lastUsedAt),
    balance_usd: balance === null ? null : formatUsd(balance),
    spend_usd: spendView(spend),
    limits: limitsView(record.limits),
    free_tier: null,
  };
}

/** The calling login's view of itself: it has all scopes, and the spending of its workspace. */
export function toLoginView(record: LoginRecord, workspaceId: string, { spend, balance }: Money): KeyView {
  return {
    id: record.id,
    name: record.name,
    workspace: workspaceId,
    scopes: [...scopeNames],
    created_at: isoTime(record.createdAt),
    last_used_at: timeOrNull(record.lastUsedAt),
    balance_usd: balance === null ? null : formatUsd(balance),
    spend_usd: spendView(spend),
    limits: noLimits,
    free_tier: null,
  };
}

/** The API's form of a previous secret. */
export function previousView({
  hint,
  replacedAt,
  endsAt,
  lastUsedAt,
}: PreviousSecret): KeyWithUse['previous_secrets'][number] {
  return {
    hint,
    replaced_at: isoTime(replacedAt),
    ends_at: isoTime(endsAt),
    last_used_at: timeOrNull(lastUsedAt),
  };
}

function statusOf({ revokedAt, limits, pausedAt }: KeyRecord, now: number): Key['status'] {
  if (revokedAt !== null) return 'revoked';
  if ((limits?.expiresAt ?? now + 1) <= now) return 'expired';
  return pausedAt === null ? 'active' : 'paused';
}

export function spendView(spend: Spend): KeyView['spend_usd'] {
  return { total: formatUsd(spend.total), day: formatUsd(spend.day), month: formatUsd(spend.month) };
}

/** What is spent of a cap in its period. */
export function capUseView(
  cap: SpendCap | null | undefined,
  { ofCap = 0 }: Pick<KeyUse, 'ofCap'>,
  now: number,
): KeyWithUse['used']['spend_cap'] {
  if (!cap) return null;
  const period = cap.period === 'total' ? 'none' : cap.period;
  const end = endOfPeriod(period, now, cap.calendar);
  return {
    spent_usd: formatUsd(ofCap),
    period_start: end === undefined ? null : isoTime(startOfPeriod(period, now, cap.calendar)),
    resets_at: end === undefined ? null : isoTime(end),
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
