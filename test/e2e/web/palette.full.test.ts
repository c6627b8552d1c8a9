import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accessibilityFaults, noIncidents, openPage } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { addPerson, askDaemon, type Person } from '../../support/users.ts';
import { looks, openScreen, pressAfterG, rowsMax } from '../../support/web-screens.ts';

/** What is reached from every screen, as `npm run build` has written it. */

describe.skipIf(chromium === undefined)('on every screen (skipped without Chromium)', () => {
  let daemon: RunningDaemon;
  /** Owns a workspace that the owner of the host belongs to. */
  let colleague: Person;

  beforeAll(async () => {
    daemon = await startDaemon();
    colleague = await addPerson(daemon, 'grace');
    const invited = await askDaemon(daemon, 'POST', '/v1/workspaces/me/invitations', {
      as: colleague.login,
      json: { role: 'admin' },
    });
    const { code } = invited.body as { code: string };
    const accepted = await askDaemon(daemon, 'POST', '/v1/invitations/accept', {
      as: daemon.login,
      json: { code },
    });
    expect(accepted.status, JSON.stringify(accepted.body)).toBe(200);
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  test.each(looks)('Ctrl-K and ? open without faults: %s, %i px', async (colorScheme, width) => {
    const { page, incidents } = await openScreen(daemon, { colorScheme, width });
    await page.goto(`${daemon.url}/#/settings`);
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Go to' }).waitFor();
    expect(await accessibilityFaults(page, { rowsMax })).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys', exact: true }).getByText('Models & providers').waitFor();
    expect(await accessibilityFaults(page, { rowsMax })).toEqual([]);
    // Keys of the page do nothing behind it.
    await pressAfterG(page, 'c');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('Ctrl-K goes to a screen, a request, and the calls with a text', async () => {
    const { page } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/calls`);
    const go = async (text: string, ...keys: string[]) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog', { name: 'Go to' }).waitFor();
      await page.keyboard.type(text);
      for (const key of [...keys, 'Enter']) await page.keyboard.press(key);
    };
    await page.getByLabel('Filter').focus();
    await go('keys');
    await page.getByRole('heading', { level: 1, name: 'Keys & limits' }).waitFor();
    await go('de', 'ArrowDown');
    await expect.poll(() => page.url()).toMatch(/#\/(models|decisions)$/);
    await go('req_01abc');
    await expect.poll(() => page.url()).toContain('#/calls/req_01abc');
    await go('say "hi"');
    await expect.poll(() => page.getByLabel('Filter').inputValue()).toBe('"say \\"hi\\""');
  });

  test('a member of two workspaces chooses which one is shown, until that ends', async () => {
    await (await daemon.fetch('/v1/responses', { json: { model: 'sim/echo', input: 'Mine.' } })).text();
    const { page, incidents } = await openPage(daemon.url);
    const link = await askDaemon(daemon, 'POST', '/v1/sessions/links', { as: daemon.login, json: {} });
    await page.goto(`${daemon.url}${link.body.path}/calls`);
    // A browser that was another user's last, or nobody's, asks first.
    const asked = page.getByRole('button', { name: /^Sign in as/ });
    const listed = page.getByRole('link', { name: 'sim/echo' });
    await listed.or(asked).first().waitFor();
    if (await asked.isVisible()) await asked.click();
    await listed.waitFor();
    await page.getByLabel('Workspace').selectOption({ value: colleague.workspace });
    await page.getByText('No calls yet').waitFor();
    await page.reload();
    await page.getByText('No calls yet').waitFor();
    await expect.poll(() => page.getByLabel('Workspace').inputValue()).toBe(colleague.workspace);
    const members = await askDaemon(daemon, 'GET', '/v1/workspaces/me/members', { as: colleague.login });
    const [own] = (members.body.data as { user: { id: string; handle: string } }[]).filter(
      ({ user }) => user.id !== colleague.id,
    );
    await askDaemon(daemon, 'DELETE', `/v1/workspaces/me/members/${own?.user.id}`, { as: colleague.login });
    await page.reload();
    await page.getByRole('link', { name: 'sim/echo' }).waitFor();
    await expect.poll(() => page.getByLabel('Workspace').count()).toBe(0);
    expect(incidents).toEqual(noIncidents);
  });
});
