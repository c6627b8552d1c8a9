import { isDecisionPath } from '../../../../shared/constants/decision-paths.ts';
import { utcDay } from '../../../../shared/time/time.ts';
import type { Settlement } from '../../../features/metering/store.ts';
import type { Refusal, SetBack } from '../../passed-time.ts';
import { ownDaemon } from '../daemons/own-daemon.ts';
import type { Connection } from '../engine/connection.ts';
import { noteTime, writeMeta } from '../engine/meta.ts';
import { adding, insertSql } from '../engine/row-format.ts';
import { type Expired, expireRefused, setClockBack } from '../expire-credentials.ts';
import type { BatchTotals } from './batch-totals.ts';
import { mapNames } from './call-details.ts';
import { entryInsert } from './ledger/ledger-chain.ts';
import { admissionWrites } from './limits/admission-writes.ts';
import {
  type CallRow,
  callFormat,
  type HoldRow,
  holdFormat,
  type ProgressRow,
  progressFormat,
  type SettlementRow,
  type SettlementWithAnswer,
} from './rows.ts';

/** The writes of a model call: statements prepared once and rows bound by position, as they run thousands of times a second. */
export function meteringWrites(database: Connection, totals: BatchTotals, daemon = ownDaemon(database)) {
  const progressed = progressFormat.names.filter((name) => name !== 'request_id');
  const statements = {
    hold: database.prepare(insertSql('holds', holdFormat, { daemon })),
    progress: database.prepare(
      `UPDATE holds SET ${progressed.map((name) => `${name} = ?`).join(', ')} WHERE request_id = ?`,
    ),
    release: database.prepare('DELETE FROM holds WHERE request_id = ?'),
    call: database.prepare(insertSql('calls', { names: [...callFormat.names, 'number', 'details'] })),
    entry: entryInsert(database),
  };
  const agentDay = database.prepare(agentDaySql);
  const dayOf = cachedDay();
  const { names, clients, limits } = totals;
  const nameNumber = (name: string) => names.of(name);

  /** The allowances of the day on which the call started. */
  const countForAgent = (call: CallRow, tier: SettlementRow[4]): void => {
    const isDecision = isDecisionPath(callFormat.get(call, 'endpoint'));
    const isFree = tier === 'free' && !isDecision;
    const cost = (callFormat.get(call, 'costProvider') ?? 0) + (callFormat.get(call, 'costMargin') ?? 0);
    agentDay.run(
      dayOf(callFormat.get(call, 'createdAt')),
      callFormat.get(call, 'key'),
      Number(isFree),
      isFree ? cost : 0,
      Number(isDecision),
      Number(!isDecision),
    );
  };

  /** `held`: what the hold was that this replaces; `none` if it was not written. */
  const settle = (
    [call, details, entries, caller, tier]: SettlementRow,
    held: Settlement['held'] | 'none',
  ): number => {
    const number = totals.sequence + 1;
    const workspace = names.of(callFormat.get(call, 'workspace'));
    const client = callFormat.get(call, 'client');
    const tags = callFormat.get(call, 'tags');
    const row = callFormat.with(call, {
      workspace,
      key: names.ofNullable(callFormat.get(call, 'key')),
      endpoint: names.of(callFormat.get(call, 'endpoint')),
      model: names.of(callFormat.get(call, 'model')),
      provider: names.ofNullable(callFormat.get(call, 'provider')),
      status: names.of(callFormat.get(call, 'status')),
      errorCode: names.ofNullable(callFormat.get(call, 'errorCode')),
      budget: names.ofNullable(callFormat.get(call, 'budget')),
      client: client === null ? null : clients.of(workspace, client),
      endUser: names.ofNullable(callFormat.get(call, 'endUser')),
      conversation: names.ofNullable(callFormat.get(call, 'conversation')),
      tags: tags === null ? null : JSON.stringify((JSON.parse(tags) as string[]).map(nameNumber)),
      replayOf: names.ofNullable(callFormat.get(call, 'replayOf')),
      prices: names.ofNullable(callFormat.get(call, 'prices')),
      cache: names.ofNullable(callFormat.get(call, 'cache')),
    });
    statements.call.run(...row, number, JSON.stringify(mapNames(details, nameNumber)));
    for (const entry of entries) statements.entry.run(entry);
    if (caller === 'agent') countForAgent(call, tier);
    // Nothing may fail from here on: the totals cannot be undone for this operation alone.
    totals.addEvent(number);
    for (const entry of entries) totals.addEntry(entry);
    totals.addCall({
      keyId: callFormat.get(call, 'key'),
      budget: callFormat.get(call, 'budget'),
      day: dayOf(callFormat.get(call, 'completedAt')),
      charged: callFormat.get(call, 'charged'),
      caller,
      ownKey: callFormat.get(call, 'ownKey'),
      tier,
      inputTokens: callFormat.get(call, 'input'),
      outputTokens: callFormat.get(call, 'output'),
    });
    limits.settled(call, { held, tier });
    return number;
  };
  const hold = (row: HoldRow): void => {
    statements.hold.run(row);
    limits.held(row);
  };

  const commands = {
    ...engineWrites(database),
    'metering.hold': hold,
    'metering.progress': (row: ProgressRow): void => {
      statements.progress.run(row);
    },
    'metering.settle': (row: SettlementRow): number => {
      const [call, , , , , held] = row;
      statements.release.run(callFormat.get(call, 'requestId'));
      return settle(row, held ?? undefined);
    },
    /** Settles a call whose hold was never written, because the settlement replaced it in the queue. */
    'metering.settleWithoutHold': (row: SettlementRow): number => settle(row, 'none'),
  };

  const settlements = { ...commands, 'metering.settleWithAnswer': settleWithAnswer(database, commands) };
  return { ...settlements, ...admissionWrites(limits, { hold, settlements }) };
}

function engineWrites(database: Connection) {
  return {
    /** Also finds out whether writing works again after the disk was full. */
    'engine.touch': (at: number): boolean => noteTime(database, at),
    'engine.trustTime': (at: number): boolean => noteTime(database, at, { isSure: true }),
    'engine.setBack': (times: SetBack): Expired => setClockBack(database, times),
    'engine.refuse': (refusal: Refusal): Expired => expireRefused(database, refusal),
    /** The whole database was checked, and the ledger chain up to a link. */
    'engine.checked': ({ link, at }: { link: number; at: number }): void => {
      writeMeta(database, 'chain_verified', link);
      writeMeta(database, 'checked_at', at);
      writeMeta(database, 'needs_check', 0);
    },
  };
}

const agentDaySql = `INSERT INTO agent_days (day, agent_id, free_requests, free_cost, decisions, others)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (day, agent_id) DO UPDATE SET
  ${adding('agent_days', ['free_requests', 'free_cost', 'decisions', 'others'])}`;

type Settlements = Record<SettlementWithAnswer['settle'], (row: SettlementRow) => number>;

/** Stores the answer first, as nothing may fail once the totals have changed. */
function settleWithAnswer(database: Connection, settlements: Settlements) {
  const store = database.prepare(
    `UPDATE idempotency_keys SET state = 'done', headers = ?, answer = ?
     WHERE scope = ? AND key = ? AND request_id = ?`,
  );
  return ({ settle, row, answer }: SettlementWithAnswer): number => {
    const { headers, body, scope, key } = answer;
    const [call] = row;
    store.run(JSON.stringify(headers), body, scope, key, callFormat.get(call, 'requestId'));
    return settlements[settle](row);
  };
}

/** `utcDay` with the last day cached, as most calls of a batch complete on the same day. */
function cachedDay(): (ms: number) => string {
  const dayMs = 86_400_000;
  let lastDay = -1;
  let text = '';
  return (ms) => {
    const day = Math.floor(ms / dayMs);
    if (day !== lastDay) {
      lastDay = day;
      text = utcDay(ms);
    }
    return text;
  };
}

export type MeteringWrites = ReturnType<typeof meteringWrites>;
