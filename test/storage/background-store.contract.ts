import { describe, expect, test } from 'vitest';
import type { BackgroundResponse } from '../../src/daemon/features/inference/lifecycles/background/background-store.ts';
import { aResponse, dayMs, morning, type OpenStorage } from './records.ts';

function aRun(id: string, changes: Partial<BackgroundResponse> = {}): BackgroundResponse {
  return {
    id,
    workspaceId: 'ws_1',
    requestId: `req_of_${id}`,
    previousId: null,
    streamed: true,
    isRunning: true,
    lastSequence: null,
    createdAt: morning,
    expiresAt: morning + dayMs,
    input: `[{"id":"msg_${id}","type":"message"}]`,
    body: '{"status":"queued"}',
    ...changes,
  };
}

const end = (id: string) => ({
  id,
  workspaceId: 'ws_1',
  body: '{"status":"completed"}',
  output: '[]',
  lastSequence: 4,
});
const reading = { at: morning, bytesMax: 1_000_000 };

export function backgroundStoreContract(open: OpenStorage): void {
  describe('background responses', () => {
    test('are read as they were started, by their own workspace, until they expire', async () => {
      const { background, daemons } = await open();
      const record = aRun('resp_1');
      await background.start(record);
      expect(await background.byId('ws_1', 'resp_1', morning)).toEqual(record);
      expect(await background.byId('ws_2', 'resp_1', morning)).toBeUndefined();
      expect(await background.byId('ws_1', 'resp_1', morning + dayMs)).toBeUndefined();
      expect(await background.running(daemons.own + 1)).toEqual([]);
      expect(await background.running(daemons.own)).toEqual([{ workspaceId: 'ws_1', id: 'resp_1' }]);
    });

    test('cannot be continued before they end, and become stored responses then', async () => {
      const { background, responses, daemons } = await open();
      await background.start(aRun('resp_1', { previousId: 'resp_0' }));
      expect(await responses.byId('ws_1', 'resp_1', morning)).toBeUndefined();
      expect(await responses.chain('ws_1', 'resp_1', reading)).toBeUndefined();
      expect(await background.finish(end('resp_1'))).toBe(true);
      expect(await responses.byId('ws_1', 'resp_1', morning)).toEqual({
        id: 'resp_1',
        workspaceId: 'ws_1',
        requestId: 'req_of_resp_1',
        previousId: 'resp_0',
        input: '[{"id":"msg_resp_1","type":"message"}]',
        output: '[]',
        body: '{"status":"completed"}',
        createdAt: morning,
        expiresAt: morning + dayMs,
      });
      expect(await responses.items('ws_1', ['msg_resp_1'], reading)).not.toBe('too-long');
      expect(await background.byId('ws_1', 'resp_1', morning)).toMatchObject({
        isRunning: false,
        lastSequence: 4,
        input: '',
        body: '',
      });
      expect(await background.running(daemons.own)).toEqual([]);
    });

    test('are listed together with stored ones, newest first, in their own workspace', async () => {
      const { background, responses } = await open();
      for (const id of ['resp_1', 'resp_3', 'resp_5'])
        await background.start(aRun(id, { body: '{"status":"queued","model":"m","background":true}' }));
      await background.finish({
        ...end('resp_3'),
        body: '{"status":"failed","model":"m","background":true}',
      });
      await background.start(aRun('resp_6', { workspaceId: 'ws_2' }));
      await background.start(aRun('resp_7', { expiresAt: morning }));
      const body = '{"status":"completed","model":"n","background":false}';
      await responses.insert(aResponse('resp_2', { body }));
      const page = { workspaceId: 'ws_1', after: undefined, limit: 3, at: morning };
      expect(await responses.list(page)).toMatchObject([
        { id: 'resp_5', status: 'queued', isRunning: true, isBackground: true, createdAt: morning },
        { id: 'resp_3', status: 'failed', isRunning: false, isBackground: true },
        { id: 'resp_2', status: 'completed', model: 'n', isRunning: false, isBackground: false },
      ]);
      expect(await responses.list({ ...page, after: 'resp_2' })).toMatchObject([{ id: 'resp_1' }]);
    });

    test('end only once', async () => {
      const { background } = await open();
      await background.start(aRun('resp_1'));
      const ends = await Promise.all(Array.from({ length: 20 }, () => background.finish(end('resp_1'))));
      expect(ends.filter(Boolean)).toHaveLength(1);
      expect(await background.finish(end('resp_none'))).toBe(false);
    });

    test('return their events batch by batch', async () => {
      const { background } = await open();
      await background.start(aRun('resp_1'));
      const batches = [2, 5, 9].map((lastSequence) => ({ lastSequence, text: `to ${lastSequence}\n\n` }));
      for (const batch of batches) await background.appendEvents('resp_1', batch);
      for (const [after, place] of [
        [-1, 0],
        [1, 0],
        [2, 1],
        [4, 1],
        [8, 2],
      ] as const)
        expect(await background.eventsAfter('resp_1', after)).toEqual(batches[place]);
      expect(await background.eventsAfter('resp_1', 9)).toBeUndefined();
      expect(await background.eventsAfter('resp_2', -1)).toBeUndefined();
    });

    test('accept no events once they are deleted, together with their events', async () => {
      const { background, responses } = await open();
      await background.start(aRun('resp_1'));
      await background.appendEvents('resp_1', { lastSequence: 1, text: 'x\n\n' });
      expect(await responses.remove('ws_2', 'resp_1')).toBe(false);
      expect(await responses.remove('ws_1', 'resp_1')).toBe(true);
      expect(await background.byId('ws_1', 'resp_1', morning)).toBeUndefined();
      expect(await background.eventsAfter('resp_1', -1)).toBeUndefined();
      expect(await background.finish(end('resp_1'))).toBe(false);
      await expect(background.appendEvents('resp_1', { lastSequence: 2, text: 'y\n\n' })).rejects.toThrow();
    });

    test('are deleted in parts once expired, unless they are running', async () => {
      const { background } = await open();
      for (const id of ['resp_1', 'resp_2', 'resp_3']) await background.start(aRun(id));
      await background.start(aRun('resp_4', { expiresAt: morning + 2 * dayMs }));
      for (let batch = 0; batch < 70; batch += 1)
        await background.appendEvents('resp_1', { lastSequence: batch, text: 'x\n\n' });
      for (const id of ['resp_1', 'resp_2', 'resp_4']) await background.finish(end(id));
      let turns = 0;
      while ((await background.removeExpired(morning + dayMs, 10)) > 0) turns += 1;
      expect(turns).toBeGreaterThan(2);
      const left = await Promise.all(
        ['resp_1', 'resp_2', 'resp_3', 'resp_4'].map((id) => background.byId('ws_1', id, morning)),
      );
      expect(left.map((row) => row?.id)).toEqual([undefined, undefined, 'resp_3', 'resp_4']);
      expect(await background.eventsAfter('resp_1', -1)).toBeUndefined();
    });
  });
}
