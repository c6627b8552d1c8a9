import { expect, onTestFinished, test } from 'vitest';
import { appendCaveats } from '../support/append-caveats.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { startPaywalledServer } from '../support/paywalled-server.ts';
import { givePlayMoney } from '../support/play-money.ts';

const hourMs = 3_600_000;
/** The daemon after it was killed, with its clock ahead. */
async function restarted(daemon: ChildDaemon, aheadHours: number): Promise<ChildDaemon> {
  daemon.signal('SIGKILL');
  await daemon.ended;
  const env = { CLOCK_AHEAD_MS: String(aheadHours * hourMs) };
  return await startChildDaemon({ home: daemon.home, env });
}

/** A clock that is ahead of the stored time is believed after ten minutes. */
async function believed(daemon: ChildDaemon): Promise<void> {
  for (const minutes of [0, 11]) {
    await daemon.advance(minutes * 60_000);
    // Stored after the time that is believed now.
    await post(daemon, '/v1/sessions/links', {});
  }
}

const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();

test('what has expired stays expired when the daemon is killed and the clock set back', async () => {
  let daemon = await startChildDaemon({ config: '' });
  onTestFinished(() => daemon.remove());
  const restart = async (aheadHours: number): Promise<void> => {
    daemon = await restarted(daemon, aheadHours);
  };
  const [short, long] = [await issueKey(daemon, inHours(1)), await issueKey(daemon, inHours(3))];
  const token = await createToken(daemon, inHours(1));
  const statuses = () => statusOfEach(daemon, [short, long, token]);

  expect(await statuses()).toEqual([200, 200, 200]);
  await restart(2);
  expect(await statuses()).toEqual([403, 200, 401]);
  // Stored after what was refused.
  await post(daemon, '/v1/sessions/links', {});
  await restart(0);
  expect(await statuses()).toEqual([403, 200, 401]);
});

test('so does what no call has used while it expired', async () => {
  let daemon = await startChildDaemon({ config: '' });
  onTestFinished(() => daemon.remove());
  const key = await issueKey(daemon, inHours(1));
  const login = await logInBrowser(daemon);
  const status = async (path: string, secret: string) => {
    const answer = await fetch(daemon.url + path, { headers: { authorization: `Bearer ${secret}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  expect(await status('/v1/sessions/current', login)).toBe(200);
  daemon = await restarted(daemon, 13);
  await believed(daemon);
  daemon = await restarted(daemon, 1.5);
  expect(await status('/v1/key', key)).toBe(403);
  expect(await status('/v1/sessions/current', login)).toBe(401);
  expect(await status('/v1/key', await issueKey(daemon, inHours(3)))).toBe(200);
  expect(await status('/v1/sessions/current', await logInBrowser(daemon))).toBe(200);
});

test('so does what a paywall sold, and what its holder limited further', async () => {
  const server = await startPaywalledServer();
  onTestFinished(() => server.close());
  let daemon = await startChildDaemon({ config: 'vault: {keychain: false, insecure_plain_file: true}\n' });
  onTestFinished(() => daemon.remove());
  const restart = async (aheadHours: number): Promise<void> => {
    daemon = await restarted(daemon, aheadHours);
  };
  await givePlayMoney(daemon, daemon.login, 1000);
  const token = { timeoutSeconds: 3 * 3600, maxUses: null };
  await post(daemon, '/api/l402/paywalls', {
    name: 'books',
    match: { pathPrefix: '/books' },
    priceSats: 10,
    upstream: { url: server.url },
    token,
  });
  const urlOf = async () => {
    const headers = { authorization: `Bearer ${daemon.login}` };
    const answer = await fetch(`${daemon.url}/api/l402/paywalls/books`, { headers });
    return ((await answer.json()) as { data: { url: string } }).data.url;
  };
  const buy = async () => {
    const { error } = (await (await fetch(await urlOf())).json()) as {
      error: { pay: { invoice: string; macaroon: string } };
    };
    const paid = { invoice: error.pay.invoice };
    const { data } = await post<{ data: { payment: { preimage: string } } }>(
      daemon,
      '/api/payments/pay',
      paid,
    );
    return { token: error.pay.macaroon, preimage: data.payment.preimage };
  };
  const status = async ({ token, preimage }: Awaited<ReturnType<typeof buy>>) => {
    const headers = { authorization: `L402 ${token}:${preimage}` };
    const answer = await fetch(await urlOf(), { headers });
    await answer.arrayBuffer();
    return answer.status;
  };
  const limitedTo = ({ token, preimage }: Awaited<ReturnType<typeof buy>>, hours: number) => ({
    token: appendCaveats(token, [`books_valid_until=${Math.floor((Date.now() + hours * hourMs) / 1000)}`]),
    preimage,
  });

  const [sold, delegated, unseen] = [await buy(), await buy(), await buy()];
  const [shown, hidden, long] = [limitedTo(delegated, 1), limitedTo(unseen, 1), limitedTo(sold, 2.5)];
  const statuses = (tokens: (typeof sold)[]) => Promise.all(tokens.map(status));
  expect(await statuses([sold, shown, long])).toEqual([200, 200, 200]);
  await restart(2);
  expect(await statuses([sold, shown, long])).toEqual([200, 402, 200]);
  await believed(daemon);
  await restart(0);
  expect(await statuses([sold, shown, hidden, long])).toEqual([200, 402, 402, 200]);
  await restart(4);
  await believed(daemon);
  await restart(0);
  expect(await statuses([sold, shown, hidden, long])).toEqual([402, 402, 402, 402]);
  expect(await status(await buy())).toBe(200);
});

async function issueKey(daemon: ChildDaemon, expiry: string): Promise<string> {
  const body = { name: expiry, limits: { expires_at: expiry } };
  return (await post<{ secret: string }>(daemon, '/v1/workspaces/me/keys', body)).secret;
}

async function logInBrowser(daemon: ChildDaemon): Promise<string> {
  const { code } = await post<{ code: string }>(daemon, '/v1/sessions/links', {});
  const answer = await fetch(`${daemon.url}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  return ((await answer.json()) as { secret: string }).secret;
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
