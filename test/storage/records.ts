import type { StoredResponse } from '../../src/daemon/features/inference/stored/responses-store.ts';
import type { KeyRecord } from '../../src/daemon/features/keys/store.ts';
import type {
  HoldRecord,
  LedgerEntry,
  Settlement,
  UsageRecord,
} from '../../src/daemon/features/metering/store.ts';
import type { SearchFilters, SearchTerm, TermField } from '../../src/daemon/features/traces/store.ts';
import type { LoginRecord } from '../../src/daemon/features/workspaces/store.ts';
import type { Storage } from '../../src/daemon/storage/storage.ts';
import { noLabels } from '../../src/shared/constants/call-labels.ts';

/**
 * Opens an empty storage of the tested engine; the runner closes it after the test, or empties it for the next one. `isOwn`: no
 * other test gets it, as it remembers something that its database does not have, such as subscribers.
 */
export interface OpenStorage {
  (options?: { isOwn?: boolean }): Promise<Storage>;
  /** It has a server, so that properties have fewer runs. */
  isSlow?: boolean;
}

/** 2026-11-21T08:00:00Z. */
export const morning = 1_795_248_000_000;
export const dayMs = 86_400_000;

export const tokens = { input: 12, cachedInput: 4, cacheWrite: 0, output: 50, reasoning: 7 };

export function aHold(requestId: string, changes: Partial<HoldRecord> = {}): HoldRecord {
  return {
    requestId,
    workspaceId: 'ws_1',
    keyId: 'key_1',
    endpoint: 'responses',
    model: 'openai/gpt-5',
    streamed: true,
    ownKey: false,
    amount: 5000,
    promptEstimate: { input: 40, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    promptCost: 120,
    createdAt: morning,
    labels: noLabels,
    ...changes,
  };
}

export function aUsage(requestId: string, changes: Partial<UsageRecord> = {}): UsageRecord {
  return {
    requestId,
    responseId: `resp_of_${requestId}`,
    workspaceId: 'ws_1',
    keyId: 'key_1',
    endpoint: 'responses',
    model: 'openai/gpt-5',
    provider: 'openai',
    streamed: true,
    ownKey: false,
    status: 'completed',
    errorCode: null,
    tokens,
    tokensReported: true,
    cost: { provider: 700, margin: 86, total: 786 },
    charged: 786,
    prices: null,
    labels: noLabels,
    cache: null,
    httpStatus: 200,
    attempts: [{ provider: 'openai', model: 'openai/gpt-5', status: 200, errorCode: null, ms: 12 }],
    ttftMs: 12,
    totalMs: 23,
    createdAt: morning,
    completedAt: morning + 23,
    ...changes,
  };
}

export const entriesOf = (workspaceId: string, provider: number, margin: number): LedgerEntry[] =>
  (
    [
      {
        kind: 'provider_cost',
        debit: `workspace:${workspaceId}`,
        credit: 'provider:openai',
        amount: provider,
      },
      { kind: 'margin', debit: `workspace:${workspaceId}`, credit: 'margin', amount: margin },
    ] as const
  ).filter(({ amount }) => amount !== 0);

export function aSettlement(requestId: string, changes: Partial<UsageRecord> = {}): Settlement {
  const usage = aUsage(requestId, changes);
  return {
    usage,
    entries: entriesOf(usage.workspaceId, usage.cost?.provider ?? 0, usage.cost?.margin ?? 0),
    caller: 'key',
    tier: 'paid',
  };
}

export function aKey(id: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id,
    workspaceId: 'ws_1',
    ownerId: 'usr_1',
    parentId: null,
    name: `the ${id}`,
    digest: `digest of ${id}`,
    hint: 'gwk_aB3d…x9Zk',
    scopes: ['responses', 'models:read'],
    models: null,
    actions: null,
    limits: null,
    defaults: null,
    createdAt: morning,
    lastUsedAt: null,
    revokedAt: null,
    rotatedAt: null,
    pausedAt: null,
    ...changes,
  };
}

export function aLogin(id: string, changes: Partial<LoginRecord> = {}): LoginRecord {
  return {
    id,
    userId: 'usr_1',
    digest: `digest of ${id}`,
    name: 'this machine',
    createdAt: morning,
    lastUsedAt: null,
    revokedAt: null,
    kind: 'command',
    idleMs: null,
    ...changes,
  };
}

export const owner = {
  user: { id: 'usr_1', handle: 'ada', name: 'Ada', createdAt: morning },
  workspace: { id: 'ws_1', slug: 'home', name: 'Home', createdAt: morning },
};

export function aResponse(id: string, changes: Partial<StoredResponse> = {}): StoredResponse {
  return {
    id,
    workspaceId: 'ws_1',
    requestId: `req_of_${id}`,
    previousId: null,
    body: `{"id":"${id}"}`,
    input: `[{"type":"message","id":"msg_in_${id}","role":"user","content":"hello"},{"role":"user","content":"no id"}]`,
    output: `[{"type":"reasoning","id":"rs_${id}"},{"type":"message","id":"msg_out_${id}","content":[]}]`,
    createdAt: morning,
    expiresAt: morning + 30 * dayMs,
    ...changes,
  };
}

/** Adds Ada, the owner of the host (number 1), and Bob (number 2), each with a workspace. */
export async function addUsers({ workspaces, people }: Storage): Promise<void> {
  await workspaces.createOwner(owner);
  await people.addUser({
    user: { id: 'usr_2', handle: 'bob', name: 'Bob', createdAt: morning },
    workspace: { id: 'ws_2', slugs: ['bob'], name: 'Bob', createdAt: morning },
    code: {
      digest: 'code of bob',
      userId: 'usr_2',
      createdAt: morning,
      expiresAt: morning + dayMs,
      makerId: null,
      keep: null,
    },
  });
}

/** Finds all calls. */
export const noSearch: SearchFilters = { terms: [], minTotalMs: undefined, minCost: undefined };

export const having = (field: TermField, ...values: string[]): SearchTerm => ({
  field,
  values,
  isExcluded: false,
});
export const without = (field: TermField, ...values: string[]): SearchTerm => ({
  field,
  values,
  isExcluded: true,
});
