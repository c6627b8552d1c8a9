import type { Connection } from '../engine/connection.ts';
import { writeMeta } from '../engine/meta.ts';
import { accountOf } from '../ledger/accounts.ts';
import type { Totals } from '../ledger/batch-totals.ts';
import { type ChainedEntry, entryInsert } from '../ledger/chain.ts';
import type { HoldRow, KeptSettlement, ProgressRow, SettlementRow } from './rows.ts';

/** The writes of a model call: prepared once and bound by position, as they run ten thousand times a second. */
export function meteringCommands(database: Connection, totals: Totals) {
  const statements = {
    hold: database.prepare(
      `INSERT INTO holds (request_id, workspace_id, key_id, endpoint, model, streamed, own_key, amount,
         prompt_input, prompt_cached_input, prompt_cache_write, prompt_output, prompt_reasoning, prompt_cost,
         created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    progress: database.prepare(
      `UPDATE holds SET progress_input = ?, progress_cached_input = ?, progress_cache_write = ?,
         progress_output = ?, progress_reasoning = ?, progress_cost = ?, provider = ?
       WHERE request_id = ?`,
    ),
    release: database.prepare('DELETE FROM holds WHERE request_id = ?'),
    usage: database.prepare(
      `INSERT INTO usage (request_id, response_id, workspace_id, key_id, endpoint, model, provider, streamed, own_key,
         status, error_code, input, cached_input, cache_write, output, reasoning, tokens_reported, cost_provider,
         cost_margin, charged, attempts, ttft_ms, total_ms, created_at, completed_at, trace)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    entry: entryInsert(database),
    event: database.prepare(
      'INSERT INTO events (sequence, type, workspace_id, at, data) VALUES (?, ?, ?, ?, ?)',
    ),
  };

  const settle = ([usage, entries, tally, event]: SettlementRow): number => {
    const requestId = usage[0];
    const completedAt = usage[24];
    statements.usage.run(usage);
    const entered = entries.map((entry): ChainedEntry => [requestId, ...entry, completedAt]);
    for (const entry of entered) statements.entry.run(entry);
    const sequence = totals.sequence + 1;
    statements.event.run(sequence, event[0], event[1], event[2], event[3]);
    // From here on nothing can fail: what follows must not be undone when this operation alone is.
    totals.eventWritten(sequence);
    for (const entry of entered) totals.entered(entry);
    totals.count(tally);
    return sequence;
  };

  const requireCredit = creditCheck(database, totals);

  const commands = {
    /** Admission has decided in memory; what it decides wrongly is not written. */
    'metering.holdPrepaid': (row: HoldRow): void => {
      requireCredit(row[1], row[7]);
      statements.hold.run(row);
    },
    'metering.settleAtOncePrepaid': (row: SettlementRow): number => {
      requireCredit(row[0][2], row[0][19]);
      return settle(row);
    },
    'metering.hold': (row: HoldRow): void => {
      statements.hold.run(row);
    },
    'metering.progress': (row: ProgressRow): void => {
      statements.progress.run(row);
    },
    'metering.settle': (row: SettlementRow): number => {
      statements.release.run(row[0][0]);
      return settle(row);
    },
    /** Settles a call whose hold was never written, because both came to the same batch. */
    'metering.settleAtOnce': settle,
    /** Shows whether writing works again after the disk was full. */
    'engine.touch': (lastSeen: number): void => writeMeta(database, 'last_seen', lastSeen),
    'engine.verified': (link: number): void => writeMeta(database, 'chain_verified', link),
  };

  return { ...commands, 'metering.settleKept': keptSettlement(database, commands) };
}

type Settlements = Record<KeptSettlement['settle'], (row: SettlementRow) => number>;

/** Settles a call and keeps its answer; the answer first, as nothing may fail once the sums have moved. */
function keptSettlement(database: Connection, settlements: Settlements) {
  const keep = database.prepare(
    `UPDATE idempotency_keys SET state = 'done', headers = ?, answer = ?
     WHERE scope = ? AND key = ? AND request_id = ?`,
  );
  return ({ settle, row, answer }: KeptSettlement): number => {
    const { headers, body, scope, key } = answer;
    const [[requestId]] = row;
    keep.run(JSON.stringify(headers), body, scope, key, requestId);
    return settlements[settle](row);
  };
}

/** Fails where a workspace that pays in advance lacks the credit for one more call. */
function creditCheck(database: Connection, totals: Totals) {
  const balances = database.prepare<[string], number>('SELECT balance FROM accounts WHERE id = ?').pluck();
  const holds = database
    .prepare<[string], number>('SELECT coalesce(sum(amount), 0) FROM holds WHERE workspace_id = ?')
    .pluck();
  return (workspaceId: string, amount: number): void => {
    const account = accountOf(workspaceId);
    const balance = (balances.get(account) ?? 0) + totals.pending(account);
    const held = holds.get(workspaceId) ?? 0;
    if (amount > 0 && balance - held < amount) throw new Error(`${account} lacks the credit for ${amount}`);
  };
}
