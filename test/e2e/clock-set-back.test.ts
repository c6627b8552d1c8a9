import { afterAll, beforeAll, expect, test } from 'vitest';
import { givePlayMoney } from '../support/play-money.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { askDaemon } from '../support/users.ts';

let daemon: RunningDaemon;
beforeAll(async () => {
  daemon = await startDaemon({ config: 'vault: {keychain: false, insecure_plain_file: true}\n' });
});
afterAll(async () => {
  await daemon.stop();
});

const hourMs = 3_600_000;

/** All times are ahead of the machine's clock, as the daemon's is. */
let aheadMs = 0;
const advance = (hours: number): void => {
  aheadMs += hours * hourMs;
  daemon.advance(hours * hourMs);
};
const setWallClock = (hours: number): void => {
  aheadMs += hours * hourMs;
  daemon.setWallClock(hours * hourMs);
};
const inHours = (hours: number) => new Date(Date.now() + aheadMs + hours * hourMs).toISOString();

const ask = (method: string, path: string, json?: unknown, as = daemon.login) =>
  askDaemon(daemon, method, path, { as, json });

interface Credential {
  name: string;
  secret: string;
  path: string;
}

/** Of each kind that expires, one that does so in an hour. */
async function issue(hours = 1): Promise<Credential[]> {
  const limits = { expires_at: inHours(hours) };
  const key = await ask('POST', '/v1/workspaces/me/keys', {
    name: 'short',
    limits,
    scopes: ['keys'],
  });
  const child = await ask('POST', '/v1/workspaces/me/keys', { name: 'child' }, key.body.secret);
  const token = await ask('POST', '/api/tokens', { name: 'short', expires_at: inHours(hours) });
  const ofToken = await ask('POST', '/api/tokens', { name: 'child' }, token.body.data.token);
  return [
    { name: 'key', secret: key.body.secret, path: '/v1/key' },
    { name: 'key of that key', secret: child.body.secret, path: '/v1/key' },
    { name: 'token', secret: token.body.data.token, path: '/api/me' },
    { name: 'token of that token', secret: ofToken.body.data.token, path: '/api/me' },
  ];
}

const accepted = async (credentials: Credential[]) => {
  const answers = await Promise.all(
    credentials.map(async ({ name, path, secret }) => ({
      name,
      ...(await ask('GET', path, undefined, secret)),
    })),
  );
  return answers.filter(({ status }) => status === 200).map(({ name }) => name);
};
const all = ['key', 'key of that key', 'token', 'token of that token'];

const statusOf = async (login: string) => (await ask('GET', '/v1/sessions/current', undefined, login)).status;
const newLink = async () => (await ask('POST', '/v1/sessions/links', {})).body.code;
const logIn = (code: string) =>
  askDaemon(daemon, 'POST', '/v1/sessions', { json: { code, kind: 'browser' } });

test('what expired while the daemon ran stays expired when the clock goes back, used before or not', async () => {
  const [used, unused] = [await issue(), await issue()];
  const login = (await logIn(await newLink())).body.secret;
  const [link, typed] = [await newLink(), (await ask('POST', '/v1/admin/users/me/login-codes')).body.code];
  const invitation = (await ask('POST', '/v1/workspaces/me/invitations')).body;
  expect(await accepted(used)).toEqual(all);
  advance(13);
  expect(await accepted(used)).toEqual([]);
  advance(-13);
  expect((await ask('GET', '/v1/sessions/current', undefined, login)).status).toBe(401);
  for (const code of [link, typed]) expect((await logIn(code)).status).toBe(401);
  for (const credentials of [used, unused]) expect(await accepted(credentials)).toEqual([]);
  const list = (await ask('GET', '/v1/workspaces/me/invitations')).body.data;
  expect(list).toMatchObject([{ id: invitation.invitation.id, status: 'open' }]);
});

test('new credentials are valid then, and so is a key with a new expiry', async () => {
  const limits = { expires_at: inHours(1) };
  const made = (await ask('POST', '/v1/workspaces/me/keys', { name: 'mended', limits })).body;
  const mended = [{ name: 'mended', secret: made.secret, path: '/v1/key' }];
  advance(13);
  expect(await accepted(mended)).toEqual([]);
  advance(-13);
  const fresh = await issue();
  expect(await accepted(fresh)).toEqual(all);
  expect((await logIn(await newLink())).status).toBe(200);
  expect(await accepted(mended)).toEqual([]);
  await ask('PUT', `/v1/workspaces/me/keys/${made.key.id}/limits`, { expires_at: inHours(1) });
  expect(await accepted(mended)).toEqual(['mended']);
});

test('a clock that is decades ahead for a moment locks nothing out', async () => {
  const before = await issue(24);
  const login = (await logIn(await newLink())).body.secret;
  const decades = 30 * 366 * 24;
  setWallClock(decades);
  expect(await accepted(before)).toEqual([]);
  expect(await statusOf(login)).toBe(401);
  setWallClock(-decades);
  expect(await accepted(before)).toEqual(all);
  expect(await statusOf(login)).toBe(200);
  expect((await logIn(await newLink())).status).toBe(200);
});

test('one that is 30 days ahead for a moment ends what it refused, and nothing else', async () => {
  const [used, unused] = [await issue(24), await issue(25)];
  const logins = await Promise.all([1, 2].map(async () => (await logIn(await newLink())).body.secret));
  const [usedLogin, unusedLogin] = logins;
  const code = (await ask('POST', '/v1/admin/users/me/login-codes')).body.code;
  expect(await Promise.all(logins.map(statusOf))).toEqual([200, 200]);
  setWallClock(30 * 24);
  expect(await accepted(used)).toEqual([]);
  expect(await statusOf(usedLogin)).toBe(401);
  // Stored after what was refused.
  await newLink();
  setWallClock(-30 * 24);
  expect(await accepted(used)).toEqual([]);
  expect(await statusOf(usedLogin)).toBe(401);
  expect(await accepted(unused)).toEqual(all);
  expect(await statusOf(unusedLogin)).toBe(200);
  expect((await logIn(code)).status).toBe(200);
});

test('one that stays 30 days ahead ends what has expired', async () => {
  const unused = await issue(24);
  setWallClock(30 * 24);
  expect((await ask('GET', '/healthz')).status).toBe(200);
  expect(await accepted(await issue())).toEqual(all);
  advance(11 / 60);
  expect(await accepted(await issue())).toEqual(all);
  setWallClock(-30 * 24);
  expect(await accepted(unused)).toEqual([]);
});

test('an open invoice keeps its expiry when the clock goes back', async () => {
  await givePlayMoney(daemon, daemon.login, 1000);
  const { invoice } = (await ask('POST', '/api/payments/invoice', { amountSats: 10 })).body.data;
  advance(13);
  expect(await statusOf(daemon.login)).toBe(200);
  advance(-13);
  expect(await statusOf(daemon.login)).toBe(200);
  expect((await ask('GET', `/api/payments/invoices/${invoice.id}`)).body.data).toEqual({ invoice });
});

test('a stream of a login that was idle for too long ends, also without another call', async () => {
  const { secret } = (await logIn(await newLink())).body;
  const events = await daemon.fetch('/v1/events', { headers: { authorization: `Bearer ${secret}` } });
  expect(events.status).toBe(200);
  advance(12);
  await events.text();
  expect((await ask('GET', '/v1/sessions/current', undefined, secret)).status).toBe(401);
});
