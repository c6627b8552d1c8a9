import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type CallQuery,
  formatQuery,
  isQueryFault,
  parseQuery,
  queryTime,
  queryWords,
} from '../../../src/shared/calls/query.ts';
import { callEnds } from '../../../src/shared/constants/call-statuses.ts';
import { callStatuses } from '../../../src/shared/contract/usage.ts';

const is = (word: string, ...values: string[]) => ({ word, values, isExcluded: false });
const isExactly = (word: string, ...values: string[]) => ({ ...is(word, ...values), isExact: true });
const isNot = (word: string, ...values: string[]) => ({ word, values, isExcluded: true });

test.each([
  ['', { terms: [] }],
  ['status:failed', { terms: [is('status', 'failed')] }],
  [
    '  status:failed,canceled   model:openai/* ',
    { terms: [is('status', 'failed', 'canceled'), is('model', 'openai/*')] },
  ],
  ['tag:team=a -key:ci', { terms: [is('tag', 'team=a'), isNot('key', 'ci')] }],
  [
    '-client:curl -client:wget,OpenAI/*',
    { terms: [isNot('client', 'curl'), isNot('client', 'wget', 'OpenAI/*')] },
  ],
  ['user:"ann lee","a \\"b\\", c"', { terms: [is('user', 'ann lee', 'a "b", c')] }],
  ['client:=curl tag:="a*b",c', { terms: [isExactly('client', 'curl'), isExactly('tag', 'a*b', 'c')] }],
  ['user:"=x"', { terms: [is('user', '=x')] }],
  ['>4s', { terms: [], minTotalMs: 4_000 }],
  ['>1.5m >$0.05', { terms: [], minTotalMs: 90_000, minCostUsd: '0.05' }],
  ['since:2h until:2026-11-21', { terms: [], since: '2h', until: '2026-11-21' }],
  ['since:yesterday until:today', { terms: [], since: 'yesterday', until: 'today' }],
  ['"exact text"', { terms: [], text: 'exact text' }],
  ['"a, \\"b\\" \\\\ c:d" error:no_route', { terms: [is('error', 'no_route')], text: 'a, "b" \\ c:d' }],
  ['replay:req_1 endpoint:/v1/messages', { terms: [is('replay', 'req_1'), is('endpoint', '/v1/messages')] }],
])('%j selects calls', (text, query) => {
  expect(parseQuery(text)).toEqual(query);
});

test.each([
  ['hello', 'hello'],
  ['status:failed nonsense:1', 'nonsense:1'],
  ['-nonsense:1', '-nonsense:1'],
  ['status:', 'status:'],
  ['status:broken', 'status:broken'],
  ['status:=fail*', 'status:=fail*'],
  ['user:=', 'user:='],
  ['status:failed,', 'status:failed,'],
  ['model:a model:b', 'model:b'],
  ['>4', '>4'],
  ['>$', '>$'],
  ['>$1.2.3', '>$1.2.3'],
  ['>4s >5s', '>5s'],
  ['>99999w', '>99999w'],
  ['since:tomorrow', 'since:tomorrow'],
  ['since:2026-02-31', 'since:2026-02-31'],
  ['since:9999999999w', 'since:9999999999w'],
  ['-since:2h', '-since:2h'],
  ['user:"ann', 'user:"ann'],
  ['user:a"b"', 'user:a"b"'],
  ['"one" "two"', '"two"'],
  ['""', '""'],
  ['"one"two', '"one"two'],
  ['constructor:1', 'constructor:1'],
  [':x', ':x'],
  [`model:${Array.from({ length: 21 }, (_, index) => index).join(',')}`, undefined],
])('%j is refused, and names what is wrong', (text, part = text) => {
  const parsed = parseQuery(text);
  expect(isQueryFault(parsed) && parsed.part).toBe(part);
  expect(isQueryFault(parsed) && parsed.message).toMatch(/^[A-Z].*\.$/);
  // Both are shown together.
  if (isQueryFault(parsed)) expect(parsed.message).not.toMatch(/^-?\w+:/);
});

test('a word without a filter names those that there are', () => {
  const parsed = parseQuery('hello');
  for (const word of queryWords) expect(isQueryFault(parsed) && parsed.message).toContain(word);
});

test('statuses are those of calls', () => {
  expect(callEnds).toEqual([...callStatuses, 'rejected']);
});

test('a word takes up to 20 values', () => {
  const values = Array.from({ length: 20 }, (_, index) => `model-${index}`);
  expect(parseQuery(`model:${values.join(',')}`)).toEqual({ terms: [is('model', ...values)] });
});

test('times ago are counted from now, others stay', () => {
  const now = Date.parse('2026-11-21T08:00:00Z');
  expect(queryTime('2h', now)).toBe('2026-11-21T06:00:00.000Z');
  expect(queryTime('2026-11-20', now)).toBe('2026-11-20');
  expect(queryTime('today', now)).toBe('2026-11-21');
  expect(queryTime('yesterday', now)).toBe('2026-11-20');
});

const value = fc.string({ minLength: 1, maxLength: 30 });
const otherWords = queryWords.filter((word) => word !== 'status');
const terms = fc
  .uniqueArray(
    fc.record(
      {
        word: fc.constantFrom(...otherWords),
        values: fc.array(value, { minLength: 1, maxLength: 4 }),
        isExcluded: fc.boolean(),
        isExact: fc.constant(true),
      },
      { requiredKeys: ['word', 'values', 'isExcluded'], noNullPrototype: true },
    ),
    { selector: ({ word, isExcluded }) => `${word} ${isExcluded}`, maxLength: 8 },
  )
  .map((all): CallQuery['terms'] => all);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const queries = fc.record(
  {
    terms,
    minTotalMs: optional(fc.nat(1_000_000_000)),
    minCostUsd: optional(fc.constantFrom('0', '0.05', '12.000000001')),
    since: optional(
      fc.constantFrom('2h', '1.5d', 'yesterday', 'today', '2026-11-21', '2026-11-21T08:00:00Z'),
    ),
    until: optional(fc.constantFrom('5min', '2026-11-22')),
    text: optional(fc.string({ minLength: 1, maxLength: 200 })),
  },
  { noNullPrototype: true },
);

test('a query that is written reads as the same', () => {
  fc.assert(
    fc.property(queries, (query) => {
      const given = Object.fromEntries(Object.entries(query).filter(([, member]) => member !== undefined));
      expect(parseQuery(formatQuery(query as CallQuery))).toEqual(given);
    }),
  );
});

test('no text makes the parser fail', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const parsed = parseQuery(text);
      if (isQueryFault(parsed)) expect(text).toContain(parsed.part);
      else expect(parseQuery(formatQuery(parsed))).toEqual(parsed);
    }),
  );
});
