import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hostName, noIncidents, openPage } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { runCli } from '../../support/run-cli.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';

/** Links that sign a browser in, from `gateway open`. */

let daemon: RunningDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(async () => {
  await daemon.stop();
});

const asLogin = (secret: string) => ({ authorization: `Bearer ${secret}` });

async function makeLink(keep = false): Promise<{ code: string; path: string }> {
  const answer = await daemon.fetch('/v1/sessions/links', { json: { keep }, headers: asLogin(daemon.login) });
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

  test('used many times at once makes one login, which is ended', async () => {
    const { code } = await makeLink();
    const all = await Promise.all(Array.from({ length: 5 }, () => redeem(code)));
    const made = all.filter(({ status }) => status === 200);
    expect(made.length).toBeLessThanOrEqual(1);
    for (const { body } of made) expect(await isAccepted(body.secret)).toBe(false);
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
    await expect.poll(() => page.evaluate('[localStorage.length, sessionStorage.length]')).toEqual([1, 0]);
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
