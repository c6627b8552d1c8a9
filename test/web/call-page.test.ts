import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseQuery } from '../../src/shared/calls/query.ts';
import type { TraceView } from '../../src/shared/contract/traces.ts';
import { foldedPassages, requestConversation } from '../../src/view/conversation.ts';
import { callsQuery, groupValue, inRange, selects, toggled } from '../../src/web/data/calls-query.ts';
import { groupedByConversation } from '../../src/web/screens/calls/conversations.ts';
import { copyForms } from '../../src/web/screens/calls/copy-as.ts';
import { SaidPassages } from '../../src/web/screens/calls/new-passages.ts';
import { turnsIn, withoutTurn, withText, withTurns } from '../../src/web/screens/playground/turns.ts';

/** What the page of a call computes, without a browser. */

test('a copied request has its body, and no key', () => {
  const body = JSON.stringify({ model: 'sim/echo', input: "It's $(here) `now`" });
  const call = {
    baseUrl: 'http://127.0.0.1:4100',
    requestId: 'req_1',
    endpoint: '/v1/responses',
    headers: [
      { name: 'Anthropic-Beta', value: 'b' },
      { name: 'user-agent', value: 'u' },
    ],
    body,
  };
  const { curl, cli, javascript, python, json } = copyForms;
  expect(curl.textOf(call)).toContain(`-d '{"model":"sim/echo","input":"It'\\''s $(here) \`now\`"}'`);
  expect(curl.textOf(call)).toContain('$(gateway keys default)');
  expect(curl.textOf(call)).toContain("-H 'anthropic-beta: b'");
  expect(curl.textOf(call)).not.toContain('user-agent');
  expect(cli.textOf(call)).toBe(
    `gateway respond --model 'sim/echo' --no-stdin -- 'It'\\''s $(here) \`now\`'`,
  );
  expect(
    cli.textOf({ ...call, body: '{"model":"m","tools":[{"type":"function","name":"f"}],"input":"x"}' }),
  ).toBe('gateway calls replay req_1');
  expect(javascript.textOf(call)).toContain('client.responses.create({');
  expect(python.textOf(call)).toContain('client.responses.create(');
  expect(json.textOf(call)).toBe(body);
});

describe('a query', () => {
  test('of any values finds these', () => {
    const text = fc.string({ minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(text, text, (model, client) => {
        const query = callsQuery({ model, client, since: '2026-11-21T09:00:00.000Z' });
        // Neither as a pattern, nor in other versions.
        const term = (word: string, value: string, isExact: boolean) => ({
          word,
          values: [value],
          isExcluded: false,
          ...(isExact && { isExact }),
        });
        expect(parseQuery(query)).toEqual({
          terms: [
            term('model', model, model.includes('*')),
            term('client', client, client.includes('*') || !client.includes('/')),
          ],
          since: '2026-11-21T09:00:00.000Z',
        });
        expect(selects(query, 'model', model)).toBe(true);
        expect(toggled(toggled(query, 'model', model), 'client', client)).toBe(
          'since:2026-11-21T09:00:00.000Z',
        );
      }),
    );
  });

  test('finds calls without a value, and those of no group that is shown', () => {
    expect(callsQuery({ user: null, model: 'a' })).toBe('-user:* model:a');
    const groups = [
      { group: 'a', is_other: false },
      { group: 'b c', is_other: false },
      { group: null, is_other: false },
      { group: null, is_other: true },
    ];
    const queries = groups.map((group) => callsQuery({ model: groupValue(group, groups) }));
    expect(queries).toEqual(['model:a', 'model:"b c"', '-model:*', 'model:* -model:a,"b c"']);
  });

  test('keeps its other filters while one of them changes', () => {
    const query = '-model:x model:a,b >4s "some text" since:2h';
    expect(selects(query, 'model', 'a')).toBe(false);
    expect(toggled(query, 'model', 'c')).toBe('-model:x model:c >4s since:2h "some text"');
    expect(inRange(query, '2026-11-21T09:00:00Z', undefined)).toBe(
      '-model:x model:a,b >4s since:2026-11-21T09:00:00Z "some text"',
    );
    expect(inRange(query, undefined, undefined)).not.toContain('since');
  });
});

test('calls of a conversation are one row with their sums', () => {
  const call = (id: string, conversation: string | null, usd: string | null) =>
    ({
      request_id: id,
      conversation,
      tokens: { input: 2, cached_input: 1, cache_write: 0, output: 3, reasoning: 0 },
      timings: { first_token_ms: 5, total_ms: 10 },
      cost: usd === null ? null : { total_usd: usd },
    }) as TraceView;
  const rows = groupedByConversation([
    call('r5', 'a', '0.1'),
    call('r4', null, '1'),
    call('r3', 'b', null),
    call('r2', 'a', '0.2'),
    call('r1', 'b', '1'),
  ]);
  expect(rows.map(({ request_id, calls }) => [request_id, calls])).toEqual([
    ['r5', 2],
    ['r4', 1],
    ['r3', 2],
  ]);
  expect(rows[0]).toMatchObject({
    cost: { total_usd: '0.3' },
    tokens: { input: 4, output: 6 },
    timings: { first_token_ms: null, total_ms: 20 },
  });
  expect(rows[2]?.cost).toBeNull();
});

describe('a conversation', () => {
  const say = (role: string, content: unknown) => ({ role, content });
  const calls = [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }];
  const turn = [
    say('user', 'Second?'),
    ...Array.from({ length: 4 }, () => [
      { ...say('assistant', null), tool_calls: calls },
      say('tool', 'A file.'),
    ]).flat(),
  ];
  const messages = [say('system', 'Be brief.'), say('user', 'First?'), say('assistant', 'Yes.'), ...turn];

  test('is read from its end: instructions, earlier turns and the middle of a long one are folded', () => {
    const groups = foldedPassages(requestConversation({ messages }).passages);
    expect(groups.map(({ title, passages }) => [title, passages.length])).toEqual([
      ['Instructions, 9 B', 1],
      ['2 messages before', 2],
      [undefined, 1],
      ['5 messages more of this turn', 5],
      [undefined, 3],
    ]);
    expect(groups.flatMap(({ passages }) => passages)).toHaveLength(messages.length);
    expect(foldedPassages(requestConversation({ input: 'Hi' }).passages)).toMatchObject([
      { title: undefined },
    ]);
    expect(foldedPassages([])).toEqual([{ title: undefined, passages: [] }]);
  });

  test('says what each of its calls added', () => {
    const said = new SaidPassages();
    const added = (from: number, to: number) =>
      said
        .newIn(requestConversation({ messages: messages.slice(from, to) }).passages)
        .map(({ role }) => role);
    expect(added(0, 2)).toEqual(['system', 'user']);
    said.add(requestConversation({ messages: [say('assistant', 'Yes. ')] }).passages);
    expect(added(0, 4)).toEqual(['user']);
    // One that sends only what is new.
    expect(added(4, 6)).toEqual(['assistant', 'tool']);
  });

  test('is edited in the format of its request, and what is no text stays as it is', () => {
    const chat = {
      model: 'm',
      messages: [...messages.slice(0, 2), say('user', [{ type: 'text', text: 'Hm?' }]), turn[1]],
    };
    const path = '/v1/chat/completions';
    expect(turnsIn(path, chat)).toEqual([
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'First?' },
      { role: 'user', text: 'Hm?' },
      { role: 'assistant', text: undefined },
    ]);
    expect(withText(path, chat, 2, 'Ha?').messages).toEqual(
      chat.messages.with(2, say('user', [{ type: 'text', text: 'Ha?' }])),
    );
    expect(withoutTurn(path, chat, 0).messages).toEqual(chat.messages.slice(1));
    expect(turnsIn('/v1/responses', { input: 'Hi' })).toBeUndefined();
    expect(withTurns('/v1/responses', { input: 'Hi' }, [{ role: 'assistant', text: 'Ho' }])).toEqual({
      input: [say('user', 'Hi'), say('assistant', 'Ho')],
    });
  });
});
