import { expect, test } from 'vitest';
import { isQueryFault, parseQuery, queryWords } from '../../../src/shared/text/query.ts';

const now = Date.parse('2026-11-21T08:00:00Z');

test.each([
  ['', {}],
  ['status:failed', { status: 'failed' }],
  ['  status:failed,canceled   model:openai/gpt-5 ', { status: 'failed,canceled', model: 'openai/gpt-5' }],
  ['tag:team=a key:ci', { tag: 'team=a', key: 'ci' }],
  ['user:"ann lee" conversation:7f', { user: 'ann lee', conversation: '7f' }],
  ['>4s', { min_total_ms: 4_000 }],
  ['>1.5m >$0.05', { min_total_ms: 90_000, min_cost_usd: '0.05' }],
  ['error:no_route client:claude-cli', { error_code: 'no_route', client: 'claude-cli' }],
  ['since:2h', { since: '2026-11-21T06:00:00.000Z' }],
  ['since:2026-11-20 until:2026-11-21T07:00:00Z', { since: '2026-11-20', until: '2026-11-21T07:00:00Z' }],
  ['replay:req_1', { replay_of: 'req_1' }],
])('%j filters calls', (text, filters) => {
  expect(parseQuery(text, now)).toEqual(filters);
});

test.each([
  ['hello', 'hello'],
  ['status:failed nonsense:1', 'nonsense:1'],
  ['status:', 'status:'],
  ['model:a model:b', 'model:b'],
  ['>4', '>4'],
  ['>$', '>$'],
  ['>$1.2.3', '>$1.2.3'],
  ['>4s >5s', '>5s'],
  ['since:yesterday', 'since:yesterday'],
  ['since:2026-02-31', 'since:2026-02-31'],
  ['constructor:1', 'constructor:1'],
  [':x', ':x'],
])('%j is refused, and names what is wrong', (text, part) => {
  const parsed = parseQuery(text, now);
  expect(isQueryFault(parsed) && parsed.part).toBe(part);
  expect(isQueryFault(parsed) && parsed.message).toMatch(/\.$/);
});

test('a word without a filter names those that there are', () => {
  const parsed = parseQuery('hello', now);
  for (const word of queryWords) expect(isQueryFault(parsed) && parsed.message).toContain(word);
});
