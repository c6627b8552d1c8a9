import { expect, test } from 'vitest';
import type { ResponsesStore } from '../../../../../src/daemon/features/inference/index.ts';
import { resolveInput, withIds } from '../../../../../src/daemon/features/inference/stored/history.ts';
import type { StoredTurn } from '../../../../../src/daemon/features/inference/stored/responses-store.ts';
import { modelCallBodyLimit } from '../../../../../src/shared/contract/model-call.ts';

/** A store with one item, and with chains that may be too long. */
function storeOf(text: string, chain: 'too-long' | StoredTurn[] | undefined = undefined) {
  const asked: string[] = [];
  const store: Pick<ResponsesStore, 'chain' | 'items'> = {
    chain: async () => chain,
    items: async (_workspaceId, ids) => {
      asked.push(...ids);
      return new Map([['msg_1', JSON.stringify({ id: 'msg_1', role: 'user', content: text })]]);
    },
  };
  const resolve = (body: { input?: unknown; previous_response_id?: string }) =>
    resolveInput(body, {
      store: store as ResponsesStore,
      workspaceId: 'ws_1',
      now: 0,
      open: () => undefined,
    });
  return { asked, resolve };
}

const reference = (id: string) => ({ type: 'item_reference', id });

test('an item referenced many times is looked up once', async () => {
  const { asked, resolve } = storeOf('hello');
  const { items, ownItems } = await resolve({ input: Array.from({ length: 50 }, () => reference('msg_1')) });
  expect(asked).toEqual(['msg_1']);
  expect(items).toHaveLength(50);
  expect(new Set(items.map((item) => JSON.stringify(item))).size).toBe(1);
  expect(ownItems[49]).toEqual({ id: 'msg_1', role: 'user', content: 'hello' });
});

test('referenced items cannot exceed the maximum size of a request', async () => {
  const { resolve } = storeOf('x'.repeat(modelCallBodyLimit / 8));
  const times = (count: number) => ({ input: Array.from({ length: count }, () => reference('msg_1')) });
  await expect(resolve(times(7))).resolves.toMatchObject({ ownItems: { length: 7 } });
  await expect(resolve(times(8))).rejects.toMatchObject({ code: 'context_length_exceeded', param: 'input' });
});

test('referenced items, and arguments of calls, cannot have more objects than a request', async () => {
  const { resolve } = storeOf('hello');
  const many = JSON.stringify({ list: Array(60_000).fill({}) });
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: many });
  await expect(resolve({ input: [call('1')] })).resolves.toMatchObject({ items: { length: 1 } });
  await expect(resolve({ input: [call('1'), call('2')] })).rejects.toMatchObject({
    code: 'invalid_request',
    param: 'input',
    message: 'The arguments of the function calls have more than 100000 objects and arrays in all.',
  });
  const store = storeOf('hello', [{ id: 'resp_1', input: `[${many}]`, output: `[${many}]` }]);
  await expect(store.resolve({ previous_response_id: 'resp_1' })).rejects.toMatchObject({
    code: 'context_length_exceeded',
    param: 'previous_response_id',
  });
});

test('at most 10,000 items can be referenced', async () => {
  const { asked, resolve } = storeOf('hello');
  const input = Array.from({ length: 10_001 }, (_, index) => reference(`msg_${index}`));
  await expect(resolve({ input })).rejects.toMatchObject({ code: 'invalid_request', param: 'input' });
  expect(asked).toEqual([]);
});

test('a conversation that is too long is rejected', async () => {
  const { resolve } = storeOf('hello', 'too-long');
  await expect(resolve({ previous_response_id: 'resp_1', input: 'And?' })).rejects.toMatchObject({
    code: 'context_length_exceeded',
    param: 'previous_response_id',
  });
});

test('every item gets an id, including one whose id is null', () => {
  const items = withIds([{ id: null, role: 'user' }, { role: 'user' }, { id: 'msg_7' }], () => 'msg_new');
  expect(items).toEqual([{ id: 'msg_new', role: 'user' }, { id: 'msg_new', role: 'user' }, { id: 'msg_7' }]);
});
