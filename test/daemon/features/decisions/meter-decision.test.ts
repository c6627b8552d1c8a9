import { describe, expect, test } from 'vitest';
import type { AgentCaller } from '../../../../src/daemon/base/handler.ts';
import { noTokens } from '../../../../src/daemon/features/calls/index.ts';
import { meterDecision } from '../../../../src/daemon/features/decisions/meter-decision.ts';
import type { Decided } from '../../../../src/daemon/features/decisions/render-decision.ts';
import type { Hold, HoldRecord, Settlement } from '../../../../src/daemon/features/metering/index.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';
import { ApiError } from '../../../../src/shared/errors.ts';
import { noCost } from '../../../../src/shared/money/money.ts';
import { fakeWorld } from '../../../support/fake-world.ts';

const caller: AgentCaller = {
  kind: 'agent',
  agentId: 'agt_1',
  workspaceId: 'ws_1',
  revoked: new AbortController().signal,
};
const call = {
  caller,
  requestId: 'req_1',
  endpoint: '/v1/decisions',
  model: 'service/decide',
  labels: noLabels,
};
const decided = {
  id: 'dec_1',
  answer: { model: 'engine', tokens: noTokens, cost: noCost, ownKey: false },
  service: { attempts: [], answered_by: 'engine' },
} as unknown as Decided;

describe('the hold of a decision is settled once', () => {
  test.each<[string, () => Promise<Decided>, ApiError | undefined, string, string | null]>([
    ['and it succeeds', async () => decided, undefined, 'completed', null],
    ['and cannot be written', async () => decided, new ApiError('unavailable'), 'completed', 'unavailable'],
    [
      'and the decision failed',
      () => Promise.reject(new ApiError('no_route')),
      undefined,
      'failed',
      'no_route',
    ],
    [
      'and neither works',
      () => Promise.reject(new ApiError('no_route')),
      new ApiError('unavailable'),
      'failed',
      'no_route',
    ],
  ])('%s', async (_case, run, unwritable, status, code) => {
    const settled: Settlement[] = [];
    const admission = {
      hold: async (record: HoldRecord): Promise<Hold> => ({
        record,
        committed: Promise.resolve(),
        isRunning: true,
      }),
      settle: async (_hold: Hold, settlement: Settlement) => {
        settled.push(settlement);
        if (unwritable) throw unwritable;
        return 1;
      },
    };
    const deps = { world: fakeWorld(), admission, isPrepaid: () => true, observers: [] };
    const answer = meterDecision(deps, call, { capture: () => undefined, run });
    if (code === null) expect(await answer).toBe(decided);
    else await expect(answer).rejects.toMatchObject({ code });
    expect(settled.map(({ usage }) => usage.status)).toEqual([status]);
  });
});
