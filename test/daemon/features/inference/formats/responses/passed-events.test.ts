import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createOutput } from '../../../../../../src/daemon/features/calls/output-items.ts';
import { PassedEvents } from '../../../../../../src/daemon/features/inference/formats/responses/passed-events.ts';

/** Passes on events of two messages, `a` and `b`, whose ids with us are `msg_1` and `msg_2`. */
function passing() {
  let [made, sequence] = [0, 100];
  const output = createOutput(
    (prefix) => `${prefix}_${++made}`,
    () => '',
  );
  for (const [index, id] of ['a', 'b'].entries())
    output.apply({ type: 'item-started', index, item: { kind: 'message', id } });
  const events = new PassedEvents({
    output,
    sealed: false,
    strictEvents: false,
    nextSequence: () => sequence++,
  });
  return (raw: string) => events.pass([{ raw, json: JSON.parse(raw) }]);
}

const delta = (members: object) => JSON.stringify({ type: 'response.output_text.delta', ...members });

test('deltas get our number and item id, and keep the bytes of the rest', () => {
  const pass = passing();
  const rest = '"delta": "1\\u00e9", "logprobs":[], "big": 12345678901234567890}';
  const raw = (number: number) =>
    `{"type":"response.output_text.delta","sequence_number":${number},"item_id":"a","output_index":0,${rest}`;
  expect(pass(raw(9))).toContain('"sequence_number":100,"item_id":"msg_1"');
  for (const [number, ours] of [
    [10, 101],
    [11, 102],
  ] as const) {
    const data = `{"type":"response.output_text.delta","sequence_number":${ours},"item_id":"msg_1","output_index":0,${rest}`;
    expect(pass(raw(number))).toBe(`event: response.output_text.delta\ndata: ${data}\n\n`);
  }
});

test.each([
  ['a number after the delta', { item_id: 'a', delta: 'x', sequence_number: 1 }],
  ['no number', { item_id: 'a', delta: 'x' }],
  ['a number that is none', { sequence_number: '1', item_id: 'a', delta: 'x' }],
  [
    'a number within another member',
    { more: { sequence_number: 1 }, sequence_number: 1, item_id: 'a', delta: 'x' },
  ],
  ['no item', { sequence_number: 1, delta: 'x' }],
  ['an unknown item', { sequence_number: 1, item_id: 'c', delta: 'x' }],
  [
    'another member that looks like the delta',
    { sequence_number: 1, item_id: 'a', more: { delta: 'y' }, delta: 'x' },
  ],
  [
    'text that looks like a number',
    { sequence_number: 1, item_id: 'a', more: '"sequence_number":1', delta: 'x' },
  ],
])('deltas with %s get our number, too', (_what, members) => {
  const pass = passing();
  for (let number = 100; number < 104; number += 1) {
    const [type, data = ''] = pass(delta(members)).split('\n');
    expect(type).toBe('event: response.output_text.delta');
    const item_id = { a: 'msg_1' }[String('item_id' in members && members.item_id)] ?? 'c';
    const expected = { ...members, ...('item_id' in members && { item_id }), sequence_number: number };
    expect(JSON.parse(data.slice(6))).toEqual({ type: 'response.output_text.delta', ...expected });
  }
});

test('events mean the same, whatever the order of their members and of the events', () => {
  const names = {
    type: fc.constantFrom(
      'response.output_text.delta',
      'response.reasoning_text.delta',
      'response.output_text.done',
    ),
    item_id: fc.constantFrom('a', 'b', 'c', '"', null),
    output_index: fc.nat(2),
    content_index: fc.nat(2),
  };
  const members: fc.Arbitrary<Record<string, unknown>> = fc.record(
    {
      ...names,
      sequence_number: fc.oneof(fc.nat(200), fc.constantFrom(-1, 1.5, 1e21, null)),
      delta: fc.oneof(fc.string(), fc.constantFrom('"delta":', '"sequence_number":1', null)),
      more: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: ['type'] },
  );
  const ranks = fc.oneof(fc.constant([]), fc.array(fc.nat(9), { minLength: 7, maxLength: 7 }));
  const ordered = fc.tuple(members, ranks).map(([record, rankAt]) => {
    const { type, sequence_number, item_id, ...rest } = record;
    const entries = Object.entries({ type, sequence_number, item_id, ...rest })
      .filter(([name]) => name in record)
      .map((entry, at) => ({ entry, rank: rankAt[at] ?? 0 }));
    return Object.fromEntries(entries.sort((one, other) => one.rank - other.rank).map(({ entry }) => entry));
  });
  // Most events of a stream differ from the last in little more than their number and delta.
  const change = fc.record(
    { ...names, sequence_number: fc.nat(200), delta: fc.string(), space: fc.nat(1) },
    { requiredKeys: ['sequence_number', 'delta', 'space'] },
  );
  const stream = fc
    .tuple(ordered, fc.array(change, { minLength: 1, maxLength: 12 }))
    .map(([first, changes]) =>
      changes.map(({ space, ...changed }) => {
        const known = Object.entries(changed).filter(([name, value]) => typeof first[name] === typeof value);
        return JSON.stringify({ ...first, ...Object.fromEntries(known) }, null, space).replaceAll('\n', '');
      }),
    );
  fc.assert(
    fc.property(stream, (raws) => {
      const pass = passing();
      for (const [index, raw] of raws.entries()) {
        const theirs = JSON.parse(raw);
        const ids: Record<string, string> = { a: 'msg_1', b: 'msg_2' };
        const byIndex = ['msg_1', 'msg_2'][theirs.output_index];
        const item_id =
          typeof theirs.item_id === 'string'
            ? (ids[theirs.item_id] ?? byIndex ?? theirs.item_id)
            : theirs.item_id;
        const [type, data = '', ...rest] = pass(raw).split('\n');
        expect(type).toBe(`event: ${theirs.type}`);
        expect(rest).toEqual(['', '']);
        const expected = {
          ...theirs,
          ...(item_id !== undefined && { item_id }),
          sequence_number: 100 + index,
        };
        expect(JSON.parse(data.slice(6))).toEqual(expected);
      }
    }),
    { numRuns: 500 },
  );
});
