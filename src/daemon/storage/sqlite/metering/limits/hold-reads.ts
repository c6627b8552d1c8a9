import { isDecisionPath } from '../../../../../shared/constants/decision-paths.ts';
import { parseTime } from '../../../../../shared/time/time.ts';
import type { SpendSubject } from '../../../../features/metering/rules/budget-rule.ts';
import type { AgentTotals, PoolTotals } from '../../../../features/metering/rules/free-tier.ts';
import { heldOnRoutes, isRouted } from '../../../../features/metering/rules/held-routes.ts';
import type { Connection } from '../../engine/connection.ts';
import { readLabelsText } from '../call-details.ts';
import { dayMs } from '../usage/usage-totals.ts';
import { keyTree } from './subject-spending.ts';

interface AgentHolds {
  endpoint: string;
  calls: number;
  free: number;
  held: number;
}

interface RoutedHold {
  amount: number;
  routes: string | null;
  endpoint: string;
  keyId: string | null;
  labels: string | null;
}

/** What running calls hold. A row per running call is read at most. */
export function holdReads(database: Connection) {
  const ofKey = database
    .prepare<[{ keyId: string }], number>(
      `${keyTree} SELECT coalesce(sum(amount), 0) FROM holds
       WHERE key_id IN (SELECT id FROM tree) OR budget IN (SELECT id FROM tree)`,
    )
    .pluck();
  const ofWorkspace = database
    .prepare<[string], number>('SELECT coalesce(sum(amount), 0) FROM holds WHERE workspace_id = ?')
    .pluck();
  const labelled = database.prepare<[string], { amount: number; labels: string | null }>(
    'SELECT amount, labels FROM holds WHERE workspace_id = ? AND labels IS NOT NULL',
  );
  const routed = database.prepare<[string], RoutedHold>(
    `SELECT amount, routes, endpoint, key_id AS "keyId", labels FROM holds WHERE workspace_id = ? AND amount > 0`,
  );
  const startsOfKey = database
    .prepare<[{ keyId: string; since: number }], number>(
      `${keyTree} SELECT created_at FROM holds WHERE key_id IN (SELECT id FROM tree) AND created_at >= @since`,
    )
    .pluck();
  const ofAgent = database.prepare<[{ agentId: string; from: number; to: number }], AgentHolds>(
    `SELECT endpoint, count(*) AS calls, count(free) AS free, coalesce(sum(free), 0) AS held FROM holds
     WHERE key_id = @agentId AND created_at >= @from AND created_at < @to GROUP BY endpoint`,
  );
  const agentDay = database.prepare<[string, string], Omit<AgentTotals, 'held'>>(
    `SELECT free_requests AS "freeRequests", free_cost AS "freeCost", decisions, others FROM agent_days
     WHERE day = ? AND agent_id = ?`,
  );
  const pool = database.prepare<[{ day: string; from: number; to: number }], PoolTotals>(
    `SELECT (SELECT coalesce(sum(free_cost), 0) FROM agent_days WHERE day = @day) AS spent,
       (SELECT coalesce(sum(free), 0) FROM holds WHERE created_at >= @from AND created_at < @to) AS held`,
  );
  const boundsOf = (day: string) => {
    const from = parseTime(day) ?? 0;
    return { from, to: from + dayMs };
  };

  return {
    /** Of a key and its descendants, or of an autopilot. */
    ofKey: (keyId: string): number => ofKey.get({ keyId }) ?? 0,
    ofWorkspace: (workspaceId: string): number => ofWorkspace.get(workspaceId) ?? 0,
    ofSubject({ workspaceId, kind, value }: SpendSubject): number {
      if (kind === 'key') return ofKey.get({ keyId: value }) ?? 0;
      if (kind === 'workspace') return ofWorkspace.get(workspaceId) ?? 0;
      let held = 0;
      if (isRouted({ kind })) {
        for (const { routes, labels, ...hold } of routed.all(workspaceId)) {
          const call = { ...hold, labels: readLabelsText(labels) };
          held += heldOnRoutes(routes === null ? call : { ...call, routes: JSON.parse(routes) }, {
            kind,
            value,
          });
        }
        return held;
      }
      for (const { amount, labels } of labelled.all(workspaceId)) {
        if (hasLabel(readLabelsText(labels), kind, value)) held += amount;
      }
      return held;
    },
    /** When the running calls of a key and its descendants started, since a time. */
    startsOfKey: (keyId: string, since: number): number[] => startsOfKey.all({ keyId, since }),
    /** The calls of an agent that started on a day. */
    ofAgent(agentId: string, day: string): AgentTotals {
      const finished = agentDay.get(day, agentId);
      const { freeRequests = 0, freeCost = 0, decisions = 0, others = 0 } = finished ?? {};
      const totals: AgentTotals = { freeRequests, freeCost, decisions, others, held: 0 };
      for (const { endpoint, calls, free, held } of ofAgent.all({ agentId, ...boundsOf(day) })) {
        totals.held += held;
        if (isDecisionPath(endpoint)) totals.decisions += calls;
        else {
          totals.others += calls;
          totals.freeRequests += free;
        }
      }
      return totals;
    },
    /** The free calls of all agents that started on a day. */
    pool: (day: string): PoolTotals => pool.get({ day, ...boundsOf(day) }) ?? { spent: 0, held: 0 },
  };
}

/** Whether a call names a user, or has a tag like `team=search`. */
export function hasLabel(
  { user, tags }: ReturnType<typeof readLabelsText>,
  kind: SpendSubject['kind'],
  value: string,
): boolean {
  if (kind === 'user') return user === value;
  const end = value.indexOf('=');
  return tags[value.slice(0, end)] === value.slice(end + 1);
}
