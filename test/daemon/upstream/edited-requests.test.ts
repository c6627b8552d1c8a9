import { expect, test } from 'vitest';
import type { BodyEdits } from '../../../src/daemon/features/providers/index.ts';
import type { UpstreamCall } from '../../../src/daemon/features/upstreams/upstream.ts';
import type { Adapter } from '../../../src/daemon/upstream/adapter.ts';
import { withEdits } from '../../../src/daemon/upstream/edited-requests.ts';

function sent(body: string, edits: BodyEdits) {
  const adapter = { request: () => ({ url: '', headers: {}, body }) } as unknown as Adapter;
  const { body: changed, dropped = [] } = withEdits(adapter, edits).request({} as UpstreamCall);
  return { body: changed, dropped: dropped.map(({ param }) => param) };
}

test.each<[string, object, BodyEdits, object, string[]]>([
  ['a member', { model: 'm', seed: 1 }, { drop: ['seed', 'top_k'] }, { model: 'm' }, ['seed']],
  ['a nested one', { a: { b: 1, c: 2 }, b: 3 }, { drop: ['a.b'] }, { a: { c: 2 }, b: 3 }, ['a.b']],
  [
    'one of each element',
    { tools: [{ function: { strict: true, name: 'f' } }, {}, 'x', { function: { name: 'g' } }] },
    { drop: ['tools.function.strict'] },
    { tools: [{ function: { name: 'f' } }, {}, 'x', { function: { name: 'g' } }] },
    ['tools.function.strict'],
  ],
  ['no inherited one', { a: {} }, { drop: ['toString', 'a.constructor'] }, { a: {} }, []],
  ['another name', { max_tokens: 5 }, { rename: { max_tokens: 'limit' } }, { limit: 5 }, []],
  [
    'another place',
    { effort: 'low' },
    { rename: { effort: 'reasoning.effort' } },
    { reasoning: { effort: 'low' } },
    [],
  ],
  ['out of an object', { a: { b: null }, c: 1 }, { rename: { 'a.b': 'c' } }, { a: {}, c: null }, []],
  ['nothing that is absent', { a: 1 }, { rename: { 'a.b': 'c', d: 'e' } }, { a: 1 }, []],
  ['both', { a: 1, b: 2 }, { drop: ['a'], rename: { b: 'a' } }, { a: 2 }, ['a']],
])('%s', (_what, body, edits, expected, dropped) => {
  const result = sent(JSON.stringify(body), edits);
  expect(JSON.parse(result.body)).toEqual(expected);
  expect(result.dropped).toEqual(dropped);
});

test('numbers keep their digits', () => {
  expect(sent('{"seed":1,"max":12345678901234567890,"t":1.0}', { drop: ['seed'] }).body).toBe(
    '{"max":12345678901234567890,"t":1.0}',
  );
});

test('without edits the adapter stays as it is', () => {
  const adapter = {} as Adapter;
  expect(withEdits(adapter, { drop: [], rename: {} })).toBe(adapter);
});
