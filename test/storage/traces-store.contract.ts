import { describe, expect, test } from 'vitest';
import type { TracesFilter } from '../../src/daemon/features/traces/store.ts';
import { aSettlement, aUsage, morning, type OpenStorage } from './records.ts';

export function tracesStoreContract(open: OpenStorage): void {
  const trace = {
    admittedMs: 1,
    heldMs: 2,
    startedMs: [3],
    finishReason: 'stop',
    routes: [{ provider: 'openai', model: 'gpt-5' }],
  };
  const openWithCalls = async () => {
    const { metering, traces } = await open();
    const settle = (id: string, changes: Parameters<typeof aUsage>[1]) =>
      metering.settle(aSettlement(id, changes));
    await settle('req_1', { completedAt: morning + 1, trace });
    await settle('req_2', { completedAt: morning + 2, status: 'failed', provider: 'anthropic' });
    await settle('req_3', { completedAt: morning + 2, keyId: null, model: 'anthropic/claude' });
    await settle('req_4', { completedAt: morning + 3, workspaceId: 'ws_2' });
    const list = async (filter: Partial<TracesFilter>) => {
      const any = { status: undefined, model: undefined, provider: undefined, keyId: undefined };
      const page = { since: undefined, until: undefined, after: undefined, limit: 10 };
      const calls = await traces.list({ workspaceId: 'ws_1', ...any, ...page, ...filter });
      return calls.map(({ requestId }) => requestId);
    };
    return { traces, list };
  };

  describe('traces', () => {
    test('are found in their workspace', async () => {
      const { traces } = await openWithCalls();
      expect(await traces.find('ws_1', 'req_1')).toEqual(
        aUsage('req_1', { completedAt: morning + 1, trace }),
      );
      expect(await traces.find('ws_2', 'req_1')).toBeUndefined();
    });

    test('are listed by their end, newest first, page by page', async () => {
      const { list } = await openWithCalls();
      expect(await list({})).toEqual(['req_3', 'req_2', 'req_1']);
      expect(await list({ limit: 2 })).toEqual(['req_3', 'req_2']);
      expect(await list({ after: 'req_2' })).toEqual(['req_1']);
      expect(await list({ after: 'req_4' })).toEqual([]);
    });

    test.each<[Partial<TracesFilter>, string[]]>([
      [{ status: 'failed' }, ['req_2']],
      [{ provider: 'openai' }, ['req_3', 'req_1']],
      [{ model: 'anthropic/claude' }, ['req_3']],
      [{ keyId: 'key_1' }, ['req_2', 'req_1']],
      [{ since: morning + 2 }, ['req_3', 'req_2']],
      [{ until: morning + 2 }, ['req_1']],
      [{ workspaceId: 'ws_2' }, ['req_4']],
    ])('are filtered by %j', async (filter, expected) => {
      expect(await (await openWithCalls()).list(filter)).toEqual(expected);
    });
  });
}
