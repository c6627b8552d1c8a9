import { scopeNames } from '../../../shared/contract/endpoint.ts';
import type { Key, KeyView, Limits } from '../../../shared/contract/keys.ts';
import { formatUsd } from '../../../shared/money.ts';
import { isoTime } from '../../../shared/time.ts';
import type { Spend } from '../metering/index.ts';
import type { LoginRecord } from '../workspaces/index.ts';
import type { KeyRecord } from './keys-store.ts';

/** Of a key whose owner has set none. */
export const noLimits: Limits = {
  spend_cap: null,
  max_price: null,
  models: null,
  requests_per_minute: null,
  expires_at: null,
};

/** A key as lists show it. */
export function toKey(record: KeyRecord): Key {
  return {
    id: record.id,
    name: record.name,
    workspace: record.workspaceId,
    owner: record.ownerId,
    status: record.revokedAt === null ? 'active' : 'revoked',
    scopes: record.scopes,
    models: null,
    actions: null,
    limits: noLimits,
    hint: record.hint,
    created_at: isoTime(record.createdAt),
    last_used_at: timeOrNull(record.lastUsedAt),
    revoked_at: timeOrNull(record.revokedAt),
  };
}

/** A key as it sees itself. Its workspace pays afterwards, so that there is no balance to show. */
export function toKeyView(record: KeyRecord, spend: Spend): KeyView {
  return {
    id: record.id,
    name: record.name,
    workspace: record.workspaceId,
    scopes: record.scopes,
    created_at: isoTime(record.createdAt),
    last_used_at: timeOrNull(record.lastUsedAt),
    balance_usd: null,
    spend_usd: spendView(spend),
    limits: noLimits,
    free_tier: null,
  };
}

/** A login as it sees itself: it may do all that keys may, and answers for what its workspace spent. */
export function toLoginView(record: LoginRecord, workspaceId: string, spend: Spend): KeyView {
  return {
    id: record.id,
    name: record.name,
    workspace: workspaceId,
    scopes: [...scopeNames],
    created_at: isoTime(record.createdAt),
    last_used_at: null,
    balance_usd: null,
    spend_usd: spendView(spend),
    limits: noLimits,
    free_tier: null,
  };
}

function spendView(spend: Spend): KeyView['spend_usd'] {
  return { total: formatUsd(spend.total), day: formatUsd(spend.day), month: formatUsd(spend.month) };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
