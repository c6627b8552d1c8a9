import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostName, noIncidents, openPage } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { addPerson } from '../../support/users.ts';

/** Links that sign a browser in, from `gateway open`. */

const screenNames = [
  ...readFileSync(new URL('../../../src/web/screens/index.ts', import.meta.url), 'utf8').matchAll(
    /name: '(\w+)'/g,
  ),
].map(([, name]) => name);

/** What another site may open: each screen, and what a query can ask for. */
const foreignAddresses = [
  ...screenNames.map((name) => `#/${name}`),
  '#/calls?q=since:1960-01-01',
  '#/calls?q=since:0000-01-01 until:9999-12-31',
  '#/calls?q=until:1960-01-01&group=conversation',
  '#/calls/req_1?tab=diff&with=req_2',
  '#/playground?replay=req_1&model=sim/echo',
  '#/playground?model=sim/echo&input=Hello&run=true',
  '#/usage?range=9999d&per=15m&rows=time',
  '#/keys?issue=true',
];

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

const asLogin = (secret: string) => ({ authorization: `Bearer ${secret}` });

async function makeLink(
  keep = false,
  { of = daemon, as = of.login }: { of?: RunningDaemon; as?: string } = {},
): Promise<{ code: string; path: string }> {
  const answer = await of.fetch('/v1/sessions/links', { json: { keep }, headers: asLogin(as) });
  expect(answer.headers.get('cache-control')).toBe('no-store, no-transform');
  return (await answer.json()) as { code: string; path: string };
}

interface Redeemed {
  secret: string;
  session: Record<string, string>;
  error?: unknown;
}

async function redeem(code: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${daemon.url}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ code, name: 'browser' }),
  });
  return { status: answer.status, body: (await answer.json()) as Redeemed };
}

async function preview(code: string) {
  const answer = await fetch(`${daemon.url}/v1/sessions/preview`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  return { status: answer.status, body: await answer.json() };
}

async function loginsOf(secret = daemon.login): Promise<string[]> {
  const answer = await daemon.fetch('/v1/sessions?limit=100', { headers: asLogin(secret) });
  return ((await answer.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
}

const isAccepted = async (secret: string): Promise<boolean> =>
  (await daemon.fetch('/v1/sessions/current', { headers: asLogin(secret) })).ok;

describe('the code of a link', () => {
  test('makes a login of a browser, which ends after 12 hours without use, or 30 days', async () => {
    for (const [keep, hours] of [
      [false, 12],
      [true, 30 * 24],
    ] as const) {
      const { code, path } = await makeLink(keep);
      expect(path).toBe(`/#/sign-in/${code}`);
      expect(code).toMatch(/^[0-9A-Z]{35}$/);
      const { status, body } = await redeem(code);
      expect(status).toBe(200);
      const { kind, created_at, expires_at } = body.session;
      expect(kind).toBe('browser');
      expect(Date.parse(expires_at ?? '') - Date.parse(created_at ?? '')).toBe(hours * 3_600_000);
      expect(await isAccepted(body.secret)).toBe(true);
    }
  });

  test('used twice ends the login that it made, also its running streams, and is logged', async () => {
    const { code } = await makeLink();
    const { body } = await redeem(code);
    const secret = body.secret;
    const events = await daemon.fetch('/v1/events', { headers: asLogin(secret) });
    const again = await redeem(code);
    expect(again.status).toBe(401);
    expect(again.body).toMatchObject({ error: { message: expect.stringContaining('was used before') } });
    expect(await isAccepted(secret)).toBe(false);
    // The stream ends.
    await events.text();
  });

  test('used by 20 browsers at once leaves no login', async () => {
    const before = await loginsOf();
    const { code } = await makeLink();
    const all = await Promise.all(Array.from({ length: 20 }, () => redeem(code)));
    const made = all.filter(({ status }) => status === 200);
    expect(made).toHaveLength(1);
    // A use that is refused for its number would not end the login.
    expect(all.map(({ status }) => status).filter((status) => status !== 401)).toEqual([200]);
    for (const { body } of made) expect(await isAccepted(body.secret)).toBe(false);
    expect(await loginsOf()).toEqual(before);
  });

  test('used twice ends what the first one signed in with links of its own', async () => {
    const before = await loginsOf();
    const { code } = await makeLink();
    const { body: thief } = await redeem(code);
    const { body: other } = await redeem((await makeLink(false, { as: thief.secret })).code);
    const { code: unused } = await makeLink(false, { as: other.secret });
    expect(await isAccepted(other.secret)).toBe(true);
    expect((await redeem(code)).status).toBe(401);
    expect(await isAccepted(other.secret)).toBe(false);
    expect((await redeem(unused)).status).toBe(401);
    expect(await loginsOf()).toEqual(before);
  });

  test('ends with the login that made it, as do login codes', async () => {
    const { body } = await redeem((await makeLink()).code);
    const { code } = await makeLink(false, { as: body.secret });
    const typed = await daemon.fetch('/v1/admin/users/me/login-codes', {
      method: 'POST',
      headers: asLogin(body.secret),
    });
    const { code: loginCode } = (await typed.json()) as { code: string };
    const ended = await daemon.fetch(`/v1/sessions/${body.session.id}`, {
      method: 'DELETE',
      headers: asLogin(daemon.login),
    });
    expect(ended.status).toBe(200);
    for (const each of [code, loginCode]) {
      expect((await preview(each)).status).toBe(401);
      expect((await redeem(each)).status).toBe(401);
    }
  });

  test('tells whom it signs in, and is not used up by that', async () => {
    const { code } = await makeLink();
    // More often than wrong codes may be tried.
    for (let time = 0; time < 12; time += 1)
      expect(await preview(code)).toMatchObject({ status: 200, body: { user: { handle: 'owner' } } });
    expect((await redeem(code)).status).toBe(200);
    expect((await preview(code)).status).toBe(401);
    expect((await preview('A'.repeat(35))).status).toBe(401);
  });

  test.each([
    ['another site', { origin: 'https://evil.example' }, 403],
    ['a program on another port', { origin: 'http://127.0.0.1:1' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
  ])('cannot be used by %s', async (_name, headers, status) => {
    const { code } = await makeLink();
    expect((await redeem(code, headers)).status).toBe(status);
    // It was not used up.
    expect((await redeem(code)).status).toBe(200);
  });

  test('is made for logins alone', async () => {
    const answer = await daemon.fetch('/v1/sessions/links', { json: {} });
    expect(answer.status).toBe(401);
  });
});

describe('gateway open', () => {
  const env = () => ({ GATEWAY_HOME: daemon.home });

  test('prints an address that works once, also of a request', async () => {
    const { stdout } = await runCli(['open', 'req_1', '--print'], { env: env() });
    const [, code = ''] = /#\/sign-in\/(\w+)\/calls\/req_1\n$/.exec(stdout) ?? [];
    expect((await redeem(code)).status).toBe(200);
  });

  test('starts the browser with a file that only its owner can read, and no code in its arguments', async () => {
    const browser = join(daemon.home, 'open.html');
    const { stderr, stdout } = await runCli(['open', 'calls'], {
      env: { ...env(), BROWSER: 'true' },
      tty: true,
    });
    expect(stdout).toBe('');
    expect(stderr).toContain('Opened the dashboard');
    expect((await stat(browser)).mode & 0o777).toBe(0o600);
    const page = await readFile(browser, 'utf8');
    const [, code = ''] = /url=http[^"]*#\/sign-in\/(\w+)\/calls"/.exec(page) ?? [];
    expect((await redeem(code)).status).toBe(200);
  });

  test('does not sign in over plain HTTP, in words', async () => {
    const { stderr, code } = await runCli(['--host', 'http://gateway.example:4100', 'open'], {
      env: { ...env(), GATEWAY_KEY: daemon.login },
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain('ssh -L 4100:127.0.0.1:4100');
  });
});

describe.skipIf(chromium === undefined)('in Chromium (skipped where it is not installed)', () => {
  test('a link signs in, leaves no code in the address, and another tab shares the login', async () => {
    const { page, incidents } = await openPage(daemon.url);
    const { code, path } = await makeLink();
    await page.goto(`${daemon.url}${path}/calls`);
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    await expect.poll(() => page.url()).toBe(`${daemon.url}/#/calls`);
    await expect.poll(() => page.evaluate('history.length')).toBeLessThanOrEqual(2);
    const other = await page.context().newPage();
    await other.goto(`${daemon.url}/`);
    await other.getByRole('heading', { name: 'Overview' }).waitFor();
    // A link that was used says so.
    const { page: third } = await openPage(daemon.url, { isPrivate: true });
    await third.goto(`${daemon.url}/#/sign-in/${code}`);
    await third.getByText('was used before').waitFor();
    // The login of both tabs has ended: their stream of events shows that.
    for (const tab of [page, other]) await tab.getByText('Your login has ended').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('signing out ends the login and signs out the other tabs', async () => {
    const { page } = await openPage(daemon.url);
    const { path } = await makeLink();
    await page.goto(`${daemon.url}${path}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const login = await page.evaluate('sessionStorage.getItem("gateway.login")');
    const { secret } = JSON.parse(String(login));
    const other = await page.context().newPage();
    await other.goto(`${daemon.url}/`);
    await other.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: /Sign out/ }).click();
    await other.getByText('You signed out in another tab').waitFor();
    await expect.poll(() => isAccepted(secret)).toBe(false);
  });

  test('a link that stays signed in is kept for new windows', async () => {
    const { page } = await openPage(daemon.url);
    const { path } = await makeLink(true);
    await page.goto(`${daemon.url}${path}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await expect.poll(() => page.evaluate('[localStorage.length, sessionStorage.length]')).toEqual([2, 0]);
  });

  test('a link of another user asks first, and one of the same user does not', async () => {
    const shared = await startDaemon();
    const ann = await addPerson(shared, 'ann');
    const { page, incidents } = await openPage(shared.url);
    const linkOf = async (as: string) => shared.url + (await makeLink(false, { of: shared, as })).path;
    const storedLogin = () => page.evaluate('sessionStorage.getItem("gateway.login")');
    const signedInAs = (handle: string) =>
      page.getByRole('button', { name: `Sign out (${handle})` }).waitFor();

    // A browser that no one has signed in yet.
    await page.goto(await linkOf(shared.login));
    await page.getByRole('heading', { name: 'Sign in as owner?' }).waitFor();
    await expect.poll(() => page.url()).not.toContain('sign-in');
    await expect.poll(storedLogin).toBeNull();
    await page.getByRole('button', { name: 'Sign in as owner' }).click();
    await signedInAs('owner');

    const before = await storedLogin();
    await page.goto(await linkOf(ann.login));
    await page.getByRole('heading', { name: 'Sign in as ann?' }).waitFor();
    await expect.poll(storedLogin).toBe(before);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await signedInAs('owner');
    await expect.poll(storedLogin).toBe(before);

    await page.goto(`${await linkOf(shared.login)}/calls`);
    await page.getByRole('heading', { name: 'Calls' }).waitFor();
    await expect.poll(storedLogin).not.toBe(before);

    await page.goto(await linkOf(ann.login));
    await page.getByRole('button', { name: 'Sign in as ann' }).click();
    await signedInAs('ann');
    // Also after signing out.
    await page.getByRole('button', { name: /Sign out/ }).click();
    await page.goto(await linkOf(ann.login));
    await signedInAs('ann');
    expect(incidents).toEqual(noIncidents);
    await page.close();
    await shared.stop();
  });

  test('a link never takes a key', async () => {
    const { page } = await openPage(daemon.url);
    for (const secret of [daemon.key, daemon.login]) {
      await page.goto(`${daemon.url}/#/sign-in/${secret}`);
      await page.getByText('not with a key').waitFor();
      await expect.poll(() => page.url()).not.toContain(secret);
      await expect.poll(() => page.evaluate('sessionStorage.length + localStorage.length')).toBe(0);
      await page.goto('about:blank');
    }
  });

  test('no address of the page makes it write', async () => {
    const { page } = await openPage(daemon.url);
    await page.goto(daemon.url + (await makeLink()).path);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') sent.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    for (const address of foreignAddresses) {
      const answered = page.waitForResponse((response) => response.url().includes('/v1/'));
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
      await page.reload();
      await answered;
      await page.waitForLoadState('load');
      await page.locator('#main *').first().waitFor();
    }
    expect(sent).toEqual([]);
  });

  test('over plain HTTP from another name, the page refuses to sign in', async () => {
    const hosted = await startDaemon({ config: `listen: {allowed_hosts: [${hostName}]}\n` });
    const origin = hosted.url.replace('127.0.0.1', hostName);
    const { page } = await openPage(origin);
    await page.goto(`${origin}/#/sign-in/AAAA`);
    await page.getByText('without encryption').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Sign in' }).count()).toBe(0);
    // A name that is not allowed, as of a page whose address was rebound, gets nothing.
    await page.goto(origin.replace(hostName, 'localhost.example')).catch(() => undefined);
    await expect.poll(() => page.getByText('without encryption').count()).toBe(0);
    await page.close();
    await hosted.stop();
  });
});
