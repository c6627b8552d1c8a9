import { expect, test } from 'vitest';
import { readLabels } from '../../../../src/daemon/features/calls/index.ts';
import { noLabels } from '../../../../src/shared/constants/call-labels.ts';

test.each([
  [{}, noLabels],
  [{ 'user-agent': 'claude-cli/2.1.4 (external, cli)' }, { client: 'claude-cli/2.1.4' }],
  [{ 'user-agent': 'OpenAI/Python' }, { client: 'OpenAI/Python' }],
  [{ 'user-agent': 'x'.repeat(100) }, { client: 'x'.repeat(64) }],
  [{ 'user-agent': '' }, { client: null }],
  [{ 'user-agent': '\u00ff\u0085evil' }, { client: 'ÿ evil' }],
  [
    { 'x-service-user': 'ann', 'x-service-conversation': 'c 1' },
    { user: 'ann', conversation: 'c 1' },
  ],
  [{ 'x-service-tags': 'team=a b,job=7=8' }, { tags: { team: 'a b', job: '7=8' } }],
  [{ 'x-service-replay-of': 'req_1' }, { replayOf: 'req_1' }],
])('headers %j label a call', (headers, labels) => {
  expect(readLabels(headers)).toEqual({ ...noLabels, ...labels });
});

test.each([
  [{ service: { user: 'ann', tags: { team: 'a' } } }, { user: 'ann', tags: { team: 'a' } }],
  [{ user: 'ann', safety_identifier: 'bob' }, { user: 'bob' }],
  [{ user: '  two\nlines\u2028 ' }, { user: 'two lines' }],
  [{ user: ' ' }, { user: null }],
  [{ user: 7 }, { user: null }],
  [{ user: '😀'.repeat(300) }, { user: '😀'.repeat(128) }],
  [{ user: '\ud800' }, { user: '\ufffd' }],
  [{ metadata: { user_id: 'ann' } }, { user: 'ann' }],
  [{ metadata: { user_id: 'user_1_session_2' } }, { user: 'user_1', conversation: '2' }],
  [{ metadata: null }, {}],
  [{ metadata: { user_id: 3 } }, {}],
  [{ conversation: 'conv_1' }, { conversation: 'conv_1' }],
  [{ conversation: { id: 'conv_2' } }, { conversation: 'conv_2' }],
  [{ service: { thread: 'conv_3' } }, { conversation: 'conv_3' }],
  [{ service: null }, {}],
])('the body %j labels a call', (body, labels) => {
  expect(readLabels({}, body)).toEqual({ ...noLabels, ...labels });
});

test('what is meant for the gateway comes before what is meant for the provider', () => {
  const headers = { 'x-service-user': 'header' };
  const body = { service: { user: 'service', conversation: 'c' }, user: 'body', conversation: 'd' };
  expect(readLabels(headers, body)).toMatchObject({ user: 'header', conversation: 'c' });
});
