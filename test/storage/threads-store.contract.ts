import { describe, expect, test } from 'vitest';
import type {
  RunEnd,
  RunStart,
  ThreadRecord,
  ThreadsStore,
} from '../../src/daemon/features/threads/threads-store.ts';
import { morning, type OpenStorage } from './records.ts';

function aThread(id: string, changes: Partial<ThreadRecord> = {}): ThreadRecord {
  const counts = { messages: 0, characters: 0 };
  const times = { createdAt: morning, updatedAt: morning };
  return {
    id,
    workspaceId: 'ws_1',
    title: null,
    runId: null,
    autopilotId: null,
    ...counts,
    ...times,
    ...changes,
  };
}

function aStart(id: string, changes: Partial<RunStart> = {}): RunStart {
  const meta = { endpoint: '/v1/responses', key: null };
  return {
    workspaceId: 'ws_1',
    run: { id, threadId: 'th_1', requestId: `req_of_${id}`, model: 'm', meta, startedAt: morning + 1 },
    event: { id: `evt_${id}_1`, type: 'run_started', payload: { model: 'm' } },
    title: 'Rain',
    bounds: { messagesMax: 10, charactersMax: 100 },
    ...changes,
  };
}

const tokens = { input: 3, cachedInput: 0, cacheWrite: 0, output: 2, reasoning: 0 };

function anEnd(id: string, changes: Partial<RunEnd> = {}): RunEnd {
  const usage = { tokens, cost: 50, charged: 40 };
  const meta = { finish_reason: 'stop' };
  return {
    run: { id, threadId: 'th_1', model: 'n', provider: 'p', usage, meta, error: null },
    status: 'completed',
    messages: [
      { id: `msg_${id}_1`, isOutput: false, item: '{"role":"user"}' },
      { id: `msg_${id}_2`, isOutput: true, item: '{"role":"assistant"}' },
    ],
    events: [{ id: `evt_${id}_2`, type: 'run_completed', payload: {} }],
    at: morning + 2,
    ...changes,
  };
}

export function threadsStoreContract(open: OpenStorage): void {
  describe('threads', () => {
    const openWithThread = async () => {
      const storage = await open();
      await storage.threads.create(aThread('th_1'));
      return storage;
    };
    const withThread = async (): Promise<ThreadsStore> => (await openWithThread()).threads;

    test('are created up to a number in a workspace', async () => {
      const threads = await withThread();
      const ids = ['th_2', 'th_3', 'th_4'];
      expect(await Promise.all(ids.map((id) => threads.create(aThread(id), 3)))).toEqual([true, true, false]);
      expect(await threads.create(aThread('th_5', { workspaceId: 'ws_2' }), 3)).toBe(true);
      expect(await threads.create(aThread('th_6'))).toBe(true);
      expect(await threads.remove('ws_1', 'th_2')).toBe(true);
      expect(await threads.create(aThread('th_7'), 3)).toBe(false);
    });

    test('are read by their own workspace alone, newest first', async () => {
      const threads = await withThread();
      await threads.create(aThread('th_2', { title: 'Snow' }));
      await threads.create(aThread('th_3', { workspaceId: 'ws_2' }));
      expect(await threads.byId('ws_1', 'th_1')).toEqual(aThread('th_1'));
      expect(await threads.byId('ws_2', 'th_1')).toBeUndefined();
      const ids = async (after: string | undefined, limit = 10) =>
        (await threads.list('ws_1', { limit, after })).map(({ id }) => id);
      expect([await ids(undefined), await ids('th_2'), await ids(undefined, 1)]).toEqual([
        ['th_2', 'th_1'],
        ['th_1'],
        ['th_2'],
      ]);
      expect(await threads.rename('ws_2', 'th_1', 'Mine', morning)).toBe(false);
      expect(await threads.rename('ws_1', 'th_1', 'Mine', morning + 5)).toBe(true);
      expect(await threads.byId('ws_1', 'th_1')).toMatchObject({ title: 'Mine', updatedAt: morning + 5 });
    });

    test('run once at a time, in their own workspace', async () => {
      const { threads, daemons } = await openWithThread();
      expect(await threads.startRun(aStart('run_0', { workspaceId: 'ws_2' }))).toBe('missing');
      const starts = ['run_1', 'run_2', 'run_3'].map((id) => threads.startRun(aStart(id)));
      expect((await Promise.all(starts)).toSorted()).toEqual(['busy', 'busy', 'started']);
      expect(await threads.byId('ws_1', 'th_1')).toMatchObject({ runId: 'run_1', title: 'Rain' });
      expect(await threads.running(daemons.own + 1)).toEqual([]);
      expect(await threads.running(daemons.own)).toMatchObject([
        { id: 'run_1', status: 'running', usage: null },
      ]);
      expect(await threads.endRun(anEnd('run_2'))).toBe(false);
      expect(await threads.endRun(anEnd('run_1'))).toBe(true);
      expect(await threads.endRun(anEnd('run_1'))).toBe(false);
      expect(await threads.running(daemons.own)).toEqual([]);
      expect(await threads.startRun(aStart('run_4', { title: 'Other' }))).toBe('started');
      expect(await threads.byId('ws_1', 'th_1')).toMatchObject({ title: 'Rain', messages: 2 });
    });

    test('keep what a run added, in order, and its usage', async () => {
      const threads = await withThread();
      for (const id of ['run_1', 'run_2']) {
        await threads.startRun(aStart(id));
        await threads.endRun(anEnd(id));
      }
      const page = async (after: string | undefined, limit = 10) =>
        (await threads.messages('th_1', { limit, after }))?.map(({ id }) => id);
      const all = ['msg_run_1_1', 'msg_run_1_2', 'msg_run_2_1', 'msg_run_2_2'];
      expect([await page(undefined), await page('msg_run_1_2'), await page(undefined, 3)]).toEqual([
        all,
        all.slice(2),
        all.slice(0, 3),
      ]);
      expect(await page('msg_none')).toBeUndefined();
      expect((await threads.conversation('th_1')).map(({ isOutput }) => isOutput)).toEqual([
        false,
        true,
        false,
        true,
      ]);
      expect((await threads.runs('th_1', 1)).map(({ id }) => id)).toEqual(['run_2']);
      expect(await threads.runOf('th_2', 'run_1')).toBeUndefined();
      expect(await threads.runOf('th_1', 'run_1')).toEqual({
        id: 'run_1',
        threadId: 'th_1',
        requestId: 'req_of_run_1',
        status: 'completed',
        model: 'n',
        provider: 'p',
        usage: { tokens, cost: 50, charged: 40 },
        meta: { finish_reason: 'stop' },
        error: null,
        startedAt: morning + 1,
        completedAt: morning + 2,
        updatedAt: morning + 2,
        autopilotId: null,
        autopilotConfigVersion: null,
      });
    });

    test('list the runs and messages of an autopilot', async () => {
      const threads = await withThread();
      await threads.create(aThread('th_2', { autopilotId: 'ap_1' }));
      expect(await threads.byId('ws_1', 'th_2')).toMatchObject({ autopilotId: 'ap_1' });
      const autopilot = { id: 'ap_1', configVersion: 3 };
      for (const [id, more] of [
        ['run_1', {}],
        ['run_2', { autopilot }],
        ['run_3', { autopilot }],
      ] as const) {
        await threads.startRun(aStart(id, more));
        await threads.endRun(anEnd(id));
      }
      const idsOf = async (page: { workspaceId?: string; limit: number; runId?: string }, of = 'ap_1') =>
        (await threads.runsBy(of, { workspaceId: 'ws_1', ...page })).map(({ id }) => id);
      expect(await idsOf({ limit: 10 })).toEqual(['run_3', 'run_2']);
      expect(await idsOf({ limit: 1 })).toEqual(['run_3']);
      expect(await idsOf({ limit: 1, runId: 'run_2' })).toEqual(['run_2']);
      expect(await idsOf({ limit: 1, runId: 'run_1' })).toEqual([]);
      expect(await idsOf({ limit: 1 }, 'ap_2')).toEqual([]);
      expect(await idsOf({ workspaceId: 'ws_2', limit: 10 })).toEqual([]);
      expect(await threads.runOf('th_1', 'run_2')).toMatchObject({
        autopilotId: 'ap_1',
        autopilotConfigVersion: 3,
      });
      expect(await threads.messagesOf('th_1', 'run_2')).toMatchObject([
        { id: 'msg_run_2_1', autopilotId: 'ap_1' },
        { id: 'msg_run_2_2', autopilotId: 'ap_1' },
      ]);
      const all = await threads.messages('th_1', { limit: 2, after: undefined });
      expect(all?.map(({ autopilotId }) => autopilotId)).toEqual([null, null]);
    });

    test('return long conversations completely', async () => {
      const threads = await withThread();
      await threads.startRun(aStart('run_1'));
      const messages = Array.from({ length: 150 }, (_, at) => ({
        id: `msg_${at}`,
        isOutput: false,
        item: `${at}`,
      }));
      await threads.endRun(anEnd('run_1', { messages }));
      const items = (await threads.conversation('th_1')).map(({ item }) => Number(item));
      expect(items).toEqual(messages.map((_, at) => at));
    });

    test('count their events, and accept none of an ended run', async () => {
      const threads = await withThread();
      await threads.startRun(aStart('run_1'));
      const note = { id: 'evt_note', type: 'model_stream_started', payload: { provider: 'p' } };
      await threads.noteEvent('th_1', 'run_1', note, morning);
      await threads.endRun(anEnd('run_1'));
      await threads.noteEvent('th_1', 'run_1', note, morning);
      await threads.startRun(aStart('run_2'));
      const seen = async (after: number, runId?: string) =>
        (await threads.events('th_1', { after, limit: 10, ...(runId && { runId }) })).map((it) => [
          it.sequence,
          it.type,
        ]);
      expect(await seen(1)).toEqual([
        [2, 'model_stream_started'],
        [3, 'run_completed'],
        [4, 'run_started'],
      ]);
      expect(await seen(0, 'run_2')).toEqual([[4, 'run_started']]);
    });

    test('that are too long are not continued', async () => {
      const threads = await withThread();
      await threads.startRun(aStart('run_1'));
      await threads.endRun(anEnd('run_1'));
      const bounds = { messagesMax: 2, charactersMax: 1000 };
      expect(await threads.startRun(aStart('run_2', { bounds }))).toBe('full');
      expect(await threads.startRun(aStart('run_2', { bounds: { messagesMax: 9, charactersMax: 9 } }))).toBe(
        'full',
      );
      expect(await threads.byId('ws_1', 'th_1')).toMatchObject({ runId: null });
    });

    test('are deleted with everything in them, and a running call leaves nothing behind', async () => {
      const { threads, daemons } = await openWithThread();
      await threads.startRun(aStart('run_1'));
      await threads.endRun(anEnd('run_1'));
      await threads.startRun(aStart('run_2'));
      expect(await threads.remove('ws_2', 'th_1')).toBe(false);
      expect(await threads.remove('ws_1', 'th_1')).toBe(true);
      expect(await threads.remove('ws_1', 'th_1')).toBe(false);
      expect(await threads.endRun(anEnd('run_2'))).toBe(false);
      await threads.noteEvent('th_1', 'run_2', { id: 'evt_9', type: 'x', payload: {} }, morning);
      expect(await threads.runs('th_1', 10)).toEqual([]);
      expect(await threads.messages('th_1', { limit: 10, after: undefined })).toEqual([]);
      expect(await threads.events('th_1', { after: 0, limit: 10 })).toEqual([]);
      expect(await threads.running(daemons.own)).toEqual([]);
    });
  });
}
