import type { AttemptsFilter, AttemptsOfModel } from '../../../features/traces/store.ts';
import type { Connection } from '../engine/connection.ts';
import type { NameTexts } from '../engine/names.ts';
import { attemptGroups, attemptSlotMs, attemptsOf } from '../metering/usage/slot-totals.ts';
import { asTerms } from '../metering/usage/summed-columns.ts';
import { foldedTo } from '../metering/usage/usage-totals.ts';

/** The attempts at a model, and the number of the call of which the last one failed. */
export type FoundAttempts = Omit<AttemptsOfModel, 'lastFailure'> & { lastFailed: number | undefined };

interface Row {
  slot: number;
  provider: number;
  model: number;
  errorCode: number;
  bucket: number;
  attempts: number;
  last: number;
}

/** The attempts of a workspace by provider and model. Those for an invalid request are no failures of the provider. */
export function readAttempts(
  database: Connection,
  names: NameTexts,
  { workspaceId, since, stripSince, callersFault }: AttemptsFilter,
): FoundAttempts[] {
  return database.transaction(() => {
    const workspace = names.numberOf(workspaceId);
    if (workspace === undefined) return [];
    const invalid = names.numberOf(callersFault) ?? -1;
    const bounds = {
      workspace,
      from: Math.floor(since / attemptSlotMs),
      strip: Math.floor(stripSince / attemptSlotMs),
      foldedTo: foldedTo(database),
    };
    const unfolded = `SELECT ${asTerms(attemptGroups)}, 1 AS attempts, number AS last
      FROM ${attemptsOf('number > @foldedTo AND +calls.workspace = @workspace')}`;
    const rows = (from: string, slot: string) =>
      database
        .prepare<[object], Row>(
          `SELECT ${slot} AS slot, provider, model, error_code AS errorCode, bucket, sum(attempts) AS attempts, max(last) AS last
           FROM (SELECT slot, provider, model, error_code, bucket, attempts, last FROM attempt_slots
               WHERE workspace = @workspace AND slot >= @${from}
             UNION ALL SELECT slot, provider, model, error_code, bucket, attempts, last FROM (${unfolded}) AS unfolded WHERE slot >= @${from}) AS found
           GROUP BY 1, 2, 3, 4, 5`,
        )
        .all(bounds);
    const found = new Map<string, FoundAttempts>();
    const of = ({ provider, model }: Row): FoundAttempts => {
      const id = `${provider} ${model}`;
      let one = found.get(id);
      if (!one) {
        one = {
          provider: names.of(provider),
          model: names.of(model),
          answered: new Map(),
          errors: [],
          lastFailed: undefined,
          slots: [],
        };
        found.set(id, one);
      }
      return one;
    };
    for (const row of rows('from', '0')) {
      const one = of(row);
      if (row.errorCode === 0)
        one.answered.set(row.bucket, (one.answered.get(row.bucket) ?? 0) + row.attempts);
      else one.errors.push({ errorCode: names.of(row.errorCode), attempts: row.attempts });
      if (row.errorCode !== 0 && row.errorCode !== invalid)
        one.lastFailed = Math.max(one.lastFailed ?? Number.MIN_SAFE_INTEGER, row.last);
    }
    for (const row of rows('strip', 'slot')) {
      const one = of(row);
      const start = row.slot * attemptSlotMs;
      let slot = one.slots.find((each) => each.start === start);
      if (!slot) {
        slot = { start, attempts: 0, failed: 0 };
        one.slots.push(slot);
      }
      slot.attempts += row.attempts;
      if (row.errorCode !== 0 && row.errorCode !== invalid) slot.failed += row.attempts;
    }
    return [...found.values()];
  })();
}
