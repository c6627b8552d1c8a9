import { utcDay } from '../../../shared/time.ts';
import type { BackupProgress } from '../../features/backups/backup-store.ts';
import type { ListedResponse, ResponsesPage } from '../../features/inference/stored/responses-store.ts';
import type { LedgerFindings } from '../../features/metering/ledger-store.ts';
import type { ServedDay, UsageFilter, UsageGroup } from '../../features/metering/metering-store.ts';
import type { TracesFilter } from '../../features/traces/traces-store.ts';
import { type BackupTask, backUp } from './backups/back-up.ts';
import type { Connection } from './engine/connection.ts';
import { isDamage } from './engine/errors.ts';
import { readMeta } from './engine/meta.ts';
import { verifyChain } from './ledger/chain.ts';
import { addUp, problemsOf } from './ledger/sums.ts';
import { verifyLedger } from './ledger/verify.ts';
import { listResponses } from './responses/list.ts';
import { listTraces } from './traces/list.ts';

/** Reads that look at many rows: they run in the reader's thread, each in a snapshot of its own. */
export function longReads(database: Connection) {
  return {
    served: (): ServedDay[] => served(database),
    summarize: (filter: UsageFilter): UsageGroup[] => summarize(database, filter),
    traces: (filter: TracesFilter): string[] => listTraces(database, filter),
    responses: (page: ResponsesPage): ListedResponse[] => listResponses(database, page),
    sums: () => addUp(database),
    verify: (): LedgerFindings => verifyLedger(database),
    check: (): CheckFindings => check(database),
    /** Reads for others go on beside it. */
    backup: (task: BackupTask, onProgress: (progress: BackupProgress) => void) =>
      backUp(database.name, task, onProgress),
  };
}

export type LongReads = ReturnType<typeof longReads>;

function served(database: Connection): ServedDay[] {
  type Row = Omit<ServedDay, 'ownKey'> & { ownKey: number };
  return database
    .prepare<[], Row>(
      `SELECT day, caller, own_key AS ownKey, tier, requests, input_tokens AS inputTokens,
         output_tokens AS outputTokens
       FROM served_days ORDER BY day, caller, own_key, tier`,
    )
    .all()
    .map((row) => ({ ...row, ownKey: row.ownKey === 1 }));
}

interface Sums {
  name: string | number | null;
  requests: number;
  unpriced: number;
  input: number;
  cachedInput: number;
  cacheWrite: number;
  output: number;
  reasoning: number;
  provider: number;
  margin: number;
  charged: number;
}

function summarize(database: Connection, filter: UsageFilter): UsageGroup[] {
  const { keyId = null, model = null, ...others } = filter;
  const rows = database
    .prepare<[object], Sums>(
      `SELECT CASE @groupBy WHEN 'day' THEN completed_at / 86400000 WHEN 'model' THEN model ELSE key_id END AS name,
         count(*) AS requests, count(*) - count(cost_provider) AS unpriced,
         sum(input) AS input, sum(cached_input) AS cachedInput, sum(cache_write) AS cacheWrite,
         sum(output) AS output, sum(reasoning) AS reasoning, coalesce(sum(cost_provider), 0) AS provider,
         coalesce(sum(cost_margin), 0) AS margin, sum(charged) AS charged
       FROM usage
       WHERE workspace_id = @workspaceId AND completed_at >= @since AND completed_at < @until
         AND (@keyId IS NULL OR key_id = @keyId) AND (@model IS NULL OR model = @model)
       GROUP BY name ORDER BY name IS NULL, name`,
    )
    .all({ ...others, keyId, model });
  return rows.map(({ name, requests, unpriced, provider, margin, charged, ...tokens }) => ({
    group: typeof name === 'number' ? utcDay(name * 86_400_000) : name,
    requests,
    unpriced,
    tokens,
    cost: { provider, margin, total: provider + margin },
    charged,
  }));
}

/** `problems` are sentences; `chainVerified` is the link of the ledger's chain that was reached. */
export interface CheckFindings {
  problems: string[];
  chainVerified: number;
}

/** Looks for everything that can be told from the file itself. */
function check(database: Connection): CheckFindings {
  let chainVerified = 0;
  const brokenChain = () => {
    const { problems, last } = verifyChain(database, { from: readMeta(database, 'chain_verified') ?? 0 });
    chainVerified = last;
    return problems;
  };
  // SQLite has no checksums: a bit that flipped in an amount passes its own check, and only the sums tell.
  const looks = [brokenPages, brokenReferences, wrongSums, negativeHolds, wrongSpends, brokenChain];
  const problems = [...new Set(looks.flatMap((look) => problemsFoundBy(look, database)))];
  return { problems, chainVerified };
}

/** Where a page cannot even be read, SQLite says nothing but fails. */
function problemsFoundBy(look: (database: Connection) => string[], database: Connection): string[] {
  try {
    return look(database);
  } catch (error) {
    if (isDamage(error)) return [(error as Error).message];
    throw error;
  }
}

function brokenPages(database: Connection): string[] {
  const pages = database.pragma('quick_check(20)') as { quick_check: string }[];
  return pages.map((row) => row.quick_check).filter((text) => text !== 'ok');
}

function brokenReferences(database: Connection): string[] {
  const broken = database.pragma('foreign_key_check') as { table: string }[];
  return broken.map(({ table }) => `rows of ${table} refer to nothing`);
}

function wrongSums(database: Connection): string[] {
  return problemsOf(addUp(database));
}

/** The quick check leaves out the CHECKs of tables WITHOUT ROWID. */
function negativeHolds(database: Connection): string[] {
  const count = database
    .prepare<[], number>(
      'SELECT count(*) FROM holds WHERE min(amount, prompt_cost, coalesce(progress_cost, 0)) < 0',
    )
    .pluck()
    .get();
  return count === 0 ? [] : ['a hold has a negative amount'];
}

function wrongSpends(database: Connection): string[] {
  const keyIds = database
    .prepare<[], string>(
      `SELECT key_id FROM (
         SELECT key_id, charged AS amount FROM usage WHERE key_id IS NOT NULL
         UNION ALL SELECT key_id, -amount FROM key_spend
       ) GROUP BY key_id HAVING sum(amount) <> 0 LIMIT 20`,
    )
    .pluck()
    .all();
  return keyIds.map((keyId) => `the spending of ${keyId} is not the sum of its calls`);
}
