import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, holdCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** Settings, as `npm run build` has written them. */

describe.skipIf(chromium === undefined)('Settings (skipped without Chromium)', () => {
  let daemon: RunningDaemon;

  beforeAll(async () => {
    daemon = await startDaemon({ config: 'capture: {redact: [email]}\n' });
    await (await daemon.fetch('/v1/responses', { json: { model: 'sim/assistant', input: 'Hello!' } })).text();
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  test('of a host, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/settings',
      views: inAllLooks,
      async until(page) {
        await page.getByText('1 call of this workspace').waitFor();
        await page
          .getByRole('region', { name: 'Effective settings' })
          .getByText('capture.redact', { exact: true })
          .waitFor();
        await page.getByText('this one').waitFor();
      },
    });
  });

  test('while a part of it loads, and another one has failed', async () => {
    await checkScreen(daemon, {
      address: '/settings',
      async prepare(page) {
        await holdCalls(page, '/v1/capture');
        await failCalls(page, '/v1/sessions');
      },
      async until(page) {
        await page.getByText('Loading…').first().waitFor();
        await page.getByRole('region', { name: 'Logins' }).getByText('Out of order.').waitFor();
        await page
          .getByRole('region', { name: 'Effective settings' })
          .getByText('capture.redact', { exact: true })
          .waitFor();
      },
    });
  });

  test('redaction shows what is kept of a text, as configured and otherwise', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/settings`);
    await page.getByText('(configured)').waitFor();
    await page
      .getByLabel('Try it on a text')
      .fill('ada@example.com +49 30 1234567 <b>x</b> sk-aB3dE5fG7hJ9kL1mN3');
    const kept = page.getByRole('region', { name: 'What is kept' });
    await kept.getByText('[email removed] +49 30 1234567 <b>x</b> [removed]').waitFor();
    await page.getByLabel('Telephone numbers').check();
    await kept.getByText('[email removed] [phone removed] <b>x</b> [removed]').waitFor();
    await page.getByText('Removed: credential, email, phone.').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('what the workspace keeps is changed, and the content of calls deleted', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/settings`);
    const level = page.getByRole('group', { name: 'What the workspace keeps' });
    await level.getByRole('button', { name: 'off' }).press('Enter');
    await page.getByText('What calls ask and are answered is not kept. Decided by the workspace.').waitFor();
    await level.getByRole('button', { name: 'default' }).click();
    await page.getByText('Decided by the configuration of the host.').waitFor();
    await page.getByRole('button', { name: 'Clear…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click();
    await page.getByText('Deleted: content of calls (1)').waitFor();
    await page.getByText('0 calls of this workspace').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('another login is ended, and times are shown in another zone', async () => {
    const headers = { authorization: `Bearer ${daemon.login}` };
    const link = await daemon.fetch('/v1/sessions/links', { json: {}, headers });
    const { code } = (await link.json()) as { code: string };
    const made = await fetch(`${daemon.url}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code, name: 'other browser', kind: 'browser' }),
    });
    const { secret } = (await made.json()) as { secret: string };
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/settings`);
    await page.getByRole('button', { name: 'End the login other browser' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End the login' }).click();
    await page.getByRole('rowheader', { name: 'other browser' }).waitFor({ state: 'detached' });
    const ended = await daemon.fetch('/v1/sessions', { headers: { authorization: `Bearer ${secret}` } });
    expect(ended.status).toBe(401);
    await page.getByRole('combobox', { name: 'in the zone' }).selectOption('Asia/Tokyo');
    await page.getByText(/where it is .* GMT\+9/).waitFor();
    await page
      .getByRole('group', { name: 'Theme', exact: true })
      .getByRole('button', { name: 'Dark', exact: true })
      .click();
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    expect(incidents).toEqual(noIncidents);
  });

  test('the configuration is found by words, with the source of each setting', async () => {
    const { page } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/settings`);
    await page.getByLabel('Filter settings').fill('capture.redact');
    const rows = page.getByRole('region', { name: 'Effective settings' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    const row = rows.filter({ hasText: '["email"]' });
    await expect.poll(() => row.innerText()).toMatch(/file\s+config\.yaml:\d+|file\s+.*\d+/);
    await page.getByRole('button', { name: 'Without defaults' }).click();
    await expect.poll(() => rows.count()).toBe(2);
  });
});
