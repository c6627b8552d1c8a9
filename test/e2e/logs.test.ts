import { afterEach, expect, test } from 'vitest';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';

let daemon: ChildDaemon;

afterEach(() => daemon.remove());

const said = 'Said in confidence.';

async function ask(stream: boolean): Promise<string> {
  const answer = await fetch(`${daemon.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim/echo', input: said, stream }),
  });
  await answer.text();
  return answer.headers.get('x-request-id') as string;
}

/** The lines of the log, once the daemon has ended. */
async function lines(): Promise<Record<string, unknown>[]> {
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(0);
  return daemon
    .printed()
    .stderr.split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('at level info each answer is one line with its request id and no content', async () => {
  daemon = await startChildDaemon({ config: 'log: {level: info}\n' });
  const request = await ask(true);
  const reported = await lines();
  expect(reported.filter(({ request_id }) => request_id === request)).toMatchObject([
    {
      endpoint: '/v1/responses',
      key_name: 'default',
      model: 'sim/echo',
      provider: 'simulator',
      status: 'completed',
      cost_usd: '0',
      msg: 'call finished',
    },
  ]);
  expect(JSON.stringify(reported)).not.toContain('in confidence');
  expect(JSON.stringify(reported)).not.toContain(daemon.key.slice(12, -6));
});

test('a rejected call is a line with its reason and no content, as long as warnings are logged', async () => {
  daemon = await startChildDaemon({ config: '' });
  const answer = await fetch(`${daemon.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-nosuch', input: said }),
  });
  expect(answer.status).toBe(404);
  const reported = await lines();
  expect(reported).toMatchObject([
    {
      msg: 'call rejected',
      level: 40,
      request_id: answer.headers.get('x-request-id'),
      key_name: 'default',
      model: 'gpt-nosuch',
      http_status: 404,
      error_code: 'model_not_found',
      param: 'model',
    },
  ]);
  expect(JSON.stringify(reported)).not.toContain('in confidence');
});
