import { describe, expect, test } from 'vitest';
import type { ResponsesStore } from '../../src/daemon/features/inference/index.ts';
import { aResponse, morning, type OpenStorage } from './records.ts';

const reading = { at: morning, bytesMax: 1_000_000 };

export function responsesStoreContract(open: OpenStorage): void {
  describe('stored responses', () => {
    test('are read unchanged, by their own workspace, until they expire', async () => {
      const { responses } = await open();
      const record = aResponse('resp_1', { expiresAt: morning + 10 });
      await responses.insert(record);

      expect(await responses.byId('ws_1', 'resp_1', morning + 9)).toEqual(record);
      expect(await responses.byId('ws_1', 'resp_1', morning + 10)).toBeUndefined();
      expect(await responses.byId('ws_2', 'resp_1', morning)).toBeUndefined();
      expect(await responses.byId('ws_1', 'resp_2', morning)).toBeUndefined();
    });

    test('may be large', async () => {
      const { responses } = await open();
      const record = aResponse('resp_1', { body: JSON.stringify({ text: 'ü'.repeat(2_000_000) }) });
      await responses.insert(record);
      expect((await responses.byId('ws_1', 'resp_1', morning))?.body === record.body).toBe(true);
    });

    test('form chains, oldest first', async () => {
      const { responses } = await open();
      await responses.insert(aResponse('resp_1'));
      await responses.insert(aResponse('resp_2', { previousId: 'resp_1' }));
      await responses.insert(aResponse('resp_3', { previousId: 'resp_2' }));

      const turn = (id: string) => {
        const { input, output } = aResponse(id);
        return { id, input, output };
      };
      const chain = await responses.chain('ws_1', 'resp_3', reading);
      expect(chain).toEqual([turn('resp_1'), turn('resp_2'), turn('resp_3')]);
      expect(await responses.chain('ws_2', 'resp_3', reading)).toBeUndefined();
    });

    test.each([
      ['is missing', { previousId: 'resp_0' }],
      ['has expired', { expiresAt: morning }],
      ['belongs to another workspace', { workspaceId: 'ws_2' }],
    ])('form no chain if one of them %s', async (_what, changes) => {
      const { responses } = await open();
      await responses.insert(aResponse('resp_1', changes));
      await responses.insert(aResponse('resp_2', { previousId: 'resp_1' }));
      expect(await responses.chain('ws_1', 'resp_2', reading)).toBeUndefined();
    });

    test('cannot be continued beyond a maximum size of their items, whatever else they contain', async () => {
      const { responses } = await open();
      const body = JSON.stringify({ text: 'x'.repeat(100_000) });
      const output = JSON.stringify([{ id: 'msg_1', text: 'ü'.repeat(500) }]);
      await responses.insert(aResponse('resp_1', { body, output, input: '[]' }));
      await responses.insert(aResponse('resp_2', { body, output, input: '[]', previousId: 'resp_1' }));
      const bytes = 2 * Buffer.byteLength(`${output}[]`);
      const chain = (bytesMax: number) => responses.chain('ws_1', 'resp_2', { at: morning, bytesMax });
      expect(await chain(bytes)).toHaveLength(2);
      expect(await chain(bytes - 1)).toBe('too-long');
      expect(await responses.items('ws_1', ['msg_1'], { at: morning, bytesMax: 100 })).toBe('too-long');
    });

    test('let the event loop run while many are read', async () => {
      const { responses } = await open();
      const input = JSON.stringify([{ id: 'msg_long', text: 'x'.repeat(2_000_000) }]);
      await responses.insert(aResponse('resp_1', { input }));
      await responses.insert(aResponse('resp_2', { input, previousId: 'resp_1' }));
      const generous = { at: morning, bytesMax: 10_000_000 };
      for (const read of [
        () => responses.chain('ws_1', 'resp_2', generous),
        () => responses.items('ws_1', ['msg_long'], generous),
        () => responses.items('ws_1', new Set(Array.from({ length: 2_000 }, (_, i) => `msg_${i}`)), generous),
      ]) {
        let turns = 0;
        const count = () => {
          turns += 1;
          next = setImmediate(count);
        };
        let next = setImmediate(count);
        await read();
        clearImmediate(next);
        expect(turns).toBeGreaterThan(0);
      }
    });

    test('return their items by id', async () => {
      const { responses } = await open();
      await responses.insert(aResponse('resp_1'));
      await responses.insert(aResponse('resp_2', { workspaceId: 'ws_2' }));

      const ids = ['msg_out_resp_1', 'msg_in_resp_1', 'msg_in_resp_2', 'msg_none'];
      const items = await readItems(responses, ids);
      expect([...items.keys()].sort()).toEqual(['msg_in_resp_1', 'msg_out_resp_1']);
      expect(JSON.parse(items.get('msg_in_resp_1') ?? '')).toEqual({
        type: 'message',
        id: 'msg_in_resp_1',
        role: 'user',
        content: 'hello',
      });
    });

    test('return the newest of several items with the same id', async () => {
      const { responses } = await open();
      const output = (text: string) => `[{"id":"msg_1","content":"${text}"}]`;
      const input = '[{"id":"msg_1","content":"repeated"}]';
      await responses.insert(aResponse('resp_1', { output: output('first') }));
      await responses.insert(aResponse('resp_2', { input, output: '[]', createdAt: morning + 1 }));
      const items = await readItems(responses, ['msg_1']);
      expect(items.get('msg_1')).toContain('repeated');
    });

    test('return several items of one list', async () => {
      const { responses } = await open();
      const output = JSON.stringify(['a', 'b', 'c'].map((text) => ({ id: `msg_${text}`, text })));
      await responses.insert(aResponse('resp_1', { output }));
      const items = await readItems(responses, ['msg_c', 'msg_a']);
      expect([...items.values()].sort()).toEqual(['{"id":"msg_a","text":"a"}', '{"id":"msg_c","text":"c"}']);
    });

    test('are removed once, with their items', async () => {
      const { responses } = await open();
      await responses.insert(aResponse('resp_1'));

      expect(await responses.remove('ws_2', 'resp_1')).toBe(false);
      expect(await responses.remove('ws_1', 'resp_1')).toBe(true);
      expect(await responses.remove('ws_1', 'resp_1')).toBe(false);
      expect(await responses.byId('ws_1', 'resp_1', morning)).toBeUndefined();
      expect((await readItems(responses, ['msg_out_resp_1'])).size).toBe(0);
    });

    test('are removed in parts once expired', async () => {
      const { responses } = await open();
      for (const [index, id] of ['resp_1', 'resp_2', 'resp_3', 'resp_4'].entries()) {
        await responses.insert(aResponse(id, { expiresAt: morning + index }));
      }
      expect(await responses.removeExpired(morning + 2, 2)).toBe(2);
      expect(await responses.removeExpired(morning + 2, 2)).toBe(1);
      expect(await responses.removeExpired(morning + 2, 2)).toBe(0);
      expect(await responses.byId('ws_1', 'resp_4', morning)).toBeDefined();
    });

    test('are removed one by one if expired and large, so that calls need not wait', async () => {
      const { responses } = await open();
      const body = JSON.stringify({ text: 'x'.repeat(3_000_000) });
      for (const id of ['resp_1', 'resp_2', 'resp_3']) {
        await responses.insert(aResponse(id, { body, expiresAt: morning }));
      }
      const removed = [];
      for (let i = 0; i < 4; i += 1) removed.push(await responses.removeExpired(morning, 100));
      expect(removed).toEqual([1, 1, 1, 0]);
    });
  });
}

async function readItems(responses: ResponsesStore, ids: string[]): Promise<Map<string, string>> {
  const items = await responses.items('ws_1', ids, reading);
  if (items === 'too-long') throw new Error('the items are short');
  return items;
}
