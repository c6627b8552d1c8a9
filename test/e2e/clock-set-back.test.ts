import { expect, onTestFinished, test } from 'vitest';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';

const hourMs = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();

test('what has expired stays expired when the daemon is killed and the clock set back', async () => {
  let daemon = await startChildDaemon({ config: '' });
  onTestFinished(() => daemon.remove());
  const restart = async (aheadHours: number): Promise<void> => {
    daemon.signal('SIGKILL');
    await daemon.ended;
    const env = { CLOCK_AHEAD_MS: String(aheadHours * hourMs) };
    daemon = await startChildDaemon({ home: daemon.home, env });
  };
  const [short, long] = [await issueKey(daemon, inHours(1)), await issueKey(daemon, inHours(3))];
  const token = await createToken(daemon, inHours(1));
  const statuses = () => statusOfEach(daemon, [short, long, token]);

  expect(await statuses()).toEqual([200, 200, 200]);
  await restart(2);
  expect(await statuses()).toEqual([403, 200, 401]);
  await restart(0);
  expect(await statuses()).toEqual([403, 200, 401]);
});

async function issueKey(daemon: ChildDaemon, expiry: string): Promise<string> {
  const body = { name: expiry, limits: { expires_at: expiry } };
  return (await post<{ secret: string }>(daemon, '/v1/workspaces/me/keys', body)).secret;
}

async function createToken(daemon: ChildDaemon, expiry: string): Promise<string> {
  const body = { name: expiry, expires_at: expiry };
  return (await post<{ data: { token: string } }>(daemon, '/api/tokens', body)).data.token;
}

async function post<Answer>({ url, login }: ChildDaemon, path: string, body: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${login}`, 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as Answer;
}

async function statusOfEach({ url }: ChildDaemon, [short, long, token]: string[]): Promise<number[]> {
  const ask = async (path: string, secret = '') => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${secret}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  return Promise.all([ask('/v1/key', short), ask('/v1/key', long), ask('/api/me', token)]);
}
