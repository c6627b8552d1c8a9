import { expect, test } from 'vitest';
import { type AdmittedCall, isFiltered, parseBudgetFilter } from '../../../src/shared/calls/budget-filter.ts';
import { formatQuery, isQueryFault } from '../../../src/shared/calls/query.ts';

const call: AdmittedCall = {
  endpoint: '/v1/responses',
  keyId: 'key_1',
  labels: {
    client: 'curl/8.5',
    user: 'ann',
    conversation: null,
    tags: { team: 'a', job: '7' },
    replayOf: null,
  },
};
const route = { model: 'openai/gpt-5', provider: 'openai' };

test.each([
  ['model:openai/*', true],
  ['model:openai/gpt', false],
  ['-model:openai/*', false],
  ['provider:groq,openai', true],
  ['key:key_1', true],
  ['-key:key_2', true],
  ['client:curl', true],
  ['client:cur', false],
  ['client:curl/8.*', true],
  ['client:=curl', false],
  ['client:=curl/8.5', true],
  ['tag:=team=*', false],
  ['-user:=a*', true],
  ['user:ann tag:team=a,team=b', true],
  ['tag:job=*', true],
  ['-tag:team=*', false],
  ['conversation:*', false],
  ['-conversation:*', true],
  ['endpoint:responses', true],
  ['endpoint:/v1/chat/completions', false],
  ['user:ann provider:groq', false],
])('%s matches: %s', (text, matches) => {
  const query = parseBudgetFilter(text);
  if (isQueryFault(query)) throw new Error(query.message);
  expect(isFiltered(formatQuery(query), call, route)).toBe(matches);
});

test('an endpoint that is not known may be any', () => {
  const { endpoint: _, ...unknown } = call;
  expect(isFiltered('endpoint:/v1/embeddings', unknown, route)).toBe(true);
  expect(isFiltered('-endpoint:/v1/embeddings user:bob', unknown, route)).toBe(false);
});

test.each([
  ['status:failed', 'status is not known'],
  ['error:* http:500', 'error, http are not known'],
  ['>$0.05 since:2h "text"', 'the cost, since, the text of the answer are not known'],
  ['model:a until:today >4s', 'until, the duration are not known'],
  ['', 'Write a filter'],
  ['color:red', 'There is no filter "color"'],
])('%s is a fault', (text, message) => {
  expect(parseBudgetFilter(text)).toMatchObject({ message: expect.stringContaining(message) });
});
