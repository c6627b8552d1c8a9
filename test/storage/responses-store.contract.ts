import { describe, expect, test } from 'vitest';
import { aResponse, morning, type OpenStorage } from './records.ts';

/** What every engine promises about stored responses. */
export function responsesStoreContract(open: OpenStorage): void {
  describe('stored responses', () => {
    test('come back as they were, to their own workspace, until they expire', async () => {
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

      const chain = await responses.chain('ws_1', 'resp_3', morning);
      expect(chain?.map(({ id }) => id)).toEqual(['resp_1', 'resp_2', 'resp_3']);
      expect(await responses.chain('ws_2', 'resp_3', morning)).toBeUndefined();
    });

    test.each([
      ['is missing', { previousId: 'resp_0' }],
      ['has expired', { expiresAt: morning }],
      ['belongs to another workspace', { workspaceId: 'ws_2' }],
    ])('form no chain when one of them %s', async (_what, changes) => {
      const { responses } = await open();
      await responses.insert(aResponse('resp_1', changes));
      await responses.insert(aResponse('resp_2', { previousId: 'resp_1' }));
      expect(await responses.chain('ws_1', 'resp_2', morning)).toBeUndefined();
    });

    test('give their items by id', async () => {
      const { responses } = await open();
      await responses.insert(aResponse('resp_1'));
      await responses.insert(aResponse('resp_2', { workspaceId: 'ws_2' }));

      const ids = ['msg_out_resp_1', 'msg_in_resp_1', 'msg_in_resp_2', 'msg_none'];
      const items = await responses.items('ws_1', ids, morning);
      expect([...items.keys()].sort()).toEqual(['msg_in_resp_1', 'msg_out_resp_1']);
      expect(JSON.parse(items.get('msg_in_resp_1') ?? '')).toEqual({
        type: 'message',
        id: 'msg_in_resp_1',
        role: 'user',
        content: 'hello',
      });
    });

    test('give the newest item of an id that came several times', async () => {
      const { responses } = await open();
      const output = (text: string) => `[{"id":"msg_1","content":"${text}"}]`;
      const input = '[{"id":"msg_1","content":"repeated"}]';
      await responses.insert(aResponse('resp_1', { output: output('first') }));
      await responses.insert(aResponse('resp_2', { input, output: '[]', createdAt: morning + 1 }));
      const items = await responses.items('ws_1', ['msg_1'], morning);
      expect(items.get('msg_1')).toContain('repeated');
    });

    test('are removed once, with their items', async () => {
      const { responses } = await open();
      await responses.insert(aResponse('resp_1'));

      expect(await responses.remove('ws_2', 'resp_1')).toBe(false);
      expect(await responses.remove('ws_1', 'resp_1')).toBe(true);
      expect(await responses.remove('ws_1', 'resp_1')).toBe(false);
      expect(await responses.byId('ws_1', 'resp_1', morning)).toBeUndefined();
      expect((await responses.items('ws_1', ['msg_out_resp_1'], morning)).size).toBe(0);
    });

    test('that expired are removed a few at a time', async () => {
      const { responses } = await open();
      for (const [index, id] of ['resp_1', 'resp_2', 'resp_3', 'resp_4'].entries()) {
        await responses.insert(aResponse(id, { expiresAt: morning + index }));
      }
      expect(await responses.removeExpired(morning + 2, 2)).toBe(2);
      expect(await responses.removeExpired(morning + 2, 2)).toBe(1);
      expect(await responses.removeExpired(morning + 2, 2)).toBe(0);
      expect(await responses.byId('ws_1', 'resp_4', morning)).toBeDefined();
    });
  });
}
