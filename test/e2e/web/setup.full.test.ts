import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { type FakeChatServer, startFakeChatServer } from '../../support/fake-chat-server.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { addMember, addPerson, type Person } from '../../support/users.ts';
import { checkScreen, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** Setup, as `npm run build` has written it. */

describe.skipIf(chromium === undefined)('Setup (skipped without Chromium)', () => {
  let daemon: RunningDaemon;
  let server: FakeChatServer;
  let ann: Person;
  const file = () => readFile(join(daemon.home, 'config.yaml'), 'utf8');
  const secret = 'secret-of-acme-4711';

  beforeAll(async () => {
    server = await startFakeChatServer();
    daemon = await startDaemon({ config: 'vault: {keychain: false, insecure_plain_file: true}\n# mine\n' });
    ann = await addPerson(daemon, 'ann');
  });

  afterAll(async () => {
    await daemon?.stop();
    server?.close();
  });

  /** Opens a dialog, fills in its fields, and looks at what would be written. */
  const fill = async (page: Page, button: string, fields: Record<string, string>) => {
    await page.getByRole('button', { name: button, exact: true }).click();
    const dialog = page.getByRole('dialog');
    for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value);
    return dialog;
  };
  const preview = async (page: Page, button: string, fields: Record<string, string>) => {
    const dialog = await fill(page, button, fields);
    await dialog.getByRole('button', { name: 'Preview the change' }).click();
    await dialog.getByRole('button', { name: /Write it|Save/ }).waitFor();
    return dialog;
  };

  test('an upstream, a key and an alias are added by mouse, and called', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/setup`);
    const dialog = await preview(page, 'Add an upstream', {
      Name: 'acme',
      Address: server.url,
      Key: secret,
    });
    const lines = dialog.getByRole('region', { name: 'Lines that change' });
    for (const line of ['- name: acme', `base_url: ${server.url}`]) await lines.getByText(line).waitFor();
    await dialog.getByText('Seals the key of acme in the vault.').waitFor();
    await expect.poll(() => dialog.innerText()).not.toContain(secret);
    expect(await file()).not.toContain('acme');
    await dialog.getByRole('button', { name: 'Write it' }).click();
    await page.getByRole('row', { name: /^acme .* in the vault/ }).waitFor();
    const text = (await file()).split('\n');
    for (const line of ['# mine', '  - name: acme', `    base_url: ${server.url}`])
      expect(text).toContain(line);

    const alias = await preview(page, 'Add an alias', { Name: 'fast', Models: 'acme/m' });
    await alias.getByRole('button', { name: 'Write it' }).click();
    await page.getByRole('row', { name: /^fast acme\/m/ }).waitFor();

    const key = await preview(page, 'Set key of openai', { Key: 'sk-0123456789abcdefghij' });
    await key.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('row', { name: /^openai available in the vault/ }).waitFor();

    const answer = await daemon.fetch('/v1/responses', { json: { model: 'fast', input: 'Hi.' } });
    expect(answer.status).toBe(200);
    expect(server.sent.at(-1)).toBe(`Bearer ${secret}`);

    // Another address needs the key again.
    await page.getByRole('button', { name: 'Change the upstream acme' }).click();
    const change = page.getByRole('dialog');
    await change.getByLabel('Address').fill('https://elsewhere.example/v1');
    await change.getByRole('button', { name: 'Preview the change' }).click();
    await change.getByText(/type the key for https:\/\/elsewhere.example\/v1 again/).waitFor();
    await change.getByRole('button', { name: 'Cancel' }).click();
    expect(incidents).toEqual(noIncidents);
  });

  test('a setting is changed, and goes back to its default', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/settings`);
    await page.getByRole('button', { name: 'Change cache.default' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Value').selectOption('read-write');
    await dialog.getByRole('button', { name: 'Preview the change' }).click();
    await dialog.getByText('default: read-write').waitFor();
    await dialog.getByRole('button', { name: 'Write it' }).click();
    await page.getByRole('row', { name: /cache\.default read-write file/ }).waitFor();
    expect(await file()).toContain('default: read-write');
    await page.getByRole('button', { name: 'Change cache.default' }).click();
    await dialog.getByRole('button', { name: 'Back to the default' }).click();
    await dialog.getByRole('button', { name: 'Write it' }).click();
    await page.getByRole('row', { name: /cache\.default off default/ }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Change listen.host' }).count()).toBe(0);
    expect(incidents).toEqual(noIncidents);
  });

  test('a user is added and invited, joins by mouse, and becomes an admin', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/setup`);
    const added = await fill(page, 'Add a user', { Handle: 'ben', Name: 'Ben Day' });
    await added.getByRole('button', { name: 'Add the user' }).click();
    await added.getByText(/#\/sign-in\//).waitFor();
    await added.getByRole('button', { name: 'Done' }).click();
    await page
      .getByRole('region', { name: 'Users of the host' })
      .getByRole('rowheader', { name: /^ben/ })
      .waitFor();
    const invited = await fill(page, 'Invite', { 'For whom': 'Ann' });
    await invited.getByRole('button', { name: 'Invite' }).click();
    const shown = invited.locator('.secret code');
    await shown.waitFor();
    const code = (await shown.textContent()) ?? '';
    await invited.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('rowheader', { name: 'Ann is invited' }).waitFor();

    const { page: hers } = await openScreen({ ...daemon, login: ann.login });
    await hers.goto(`${daemon.url}/#/setup`);
    const joined = await fill(hers, 'Join with a code', { 'Code of the invitation': code });
    // She is not the owner of the host.
    await expect.poll(() => hers.getByRole('region', { name: 'Upstreams' }).count()).toBe(0);
    await joined.getByRole('button', { name: 'Join', exact: true }).click();
    await hers.getByText(/You joined/).waitFor();

    await page.reload();
    await page.getByRole('combobox', { name: 'Role of ann' }).selectOption('admin');
    await page.getByText('ann is admin now.').waitFor();
    const created = await fill(page, 'Create a workspace', { Name: 'Research' });
    await created.getByRole('button', { name: 'Create it' }).click();
    await page.getByRole('rowheader', { name: /^Research/ }).waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('in all looks', async () => {
    await checkScreen(daemon, {
      address: '/setup',
      views: inAllLooks,
      until: async (page) => {
        await page.getByRole('region', { name: 'Users of the host' }).getByRole('row').nth(1).waitFor();
        await page.getByRole('region', { name: 'Providers' }).getByText('api.anthropic.com').waitFor();
      },
    });
  });

  test('for a member, without what only others may do', async () => {
    const key = await daemon.fetch('/v1/key', { headers: { authorization: `Bearer ${daemon.login}` } });
    const { workspace } = (await key.json()) as { workspace: string };
    const eve = await addPerson(daemon, 'eve');
    await addMember(daemon, workspace, eve, 'member');
    const { page } = await openScreen({ ...daemon, login: eve.login });
    const known = JSON.stringify(JSON.stringify({ secret: eve.login, isOwn: false, workspace }));
    await page.addInitScript({ content: `sessionStorage.setItem('gateway.login', ${known})` });
    await page.goto(`${daemon.url}/#/setup`);
    await page.getByRole('rowheader', { name: 'eve', exact: true }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Invite' }).count()).toBe(0);
    await expect.poll(() => page.getByRole('button', { name: /^Remove/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Leave the workspace' }).waitFor();
  });
});
