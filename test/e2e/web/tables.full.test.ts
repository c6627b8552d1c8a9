import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { listScreens, openScreen } from '../../support/web-screens.ts';

/** Tables that sort by any column, as `npm run build` has written the pages. */

describe.skipIf(chromium === undefined)('tables (skipped without Chromium)', () => {
  let daemon: RunningDaemon;

  beforeAll(async () => {
    daemon = await startDaemon();
    const inputs = { 'sim/assistant': 'One two three.', 'sim/echo': 'One.', 'sim/refuses': 'One two.' };
    for (const [model, input] of Object.entries(inputs))
      await (await daemon.fetch('/v1/responses', { json: { model, input } })).text();
    const headers = { authorization: `Bearer ${daemon.login}` };
    for (const name of ['search', 'app 10', 'App 9'])
      await daemon.fetch('/v1/workspaces/me/keys', { json: { name }, headers });
    for (const [id, usd] of [
      ['big', '30'],
      ['small', '5'],
    ] as const)
      await daemon.fetch(`/v1/workspaces/me/budgets/${id}`, {
        method: 'PUT',
        json: { usd, period: 'month' },
        headers,
      });
  });

  afterAll(async () => {
    await daemon?.stop();
  });

  const titles = (page: Page, region: string) =>
    page.getByRole('region', { name: region, exact: true }).locator('tbody tr > :first-child');
  const models = async (page: Page) =>
    (await titles(page, 'Rows').allInnerTexts()).map((text) => text.split(/\s/)[0]);
  const head = (page: Page, name: string) =>
    page.getByRole('region', { name: 'Rows' }).getByRole('columnheader', { name, exact: true });
  const inputs = async (page: Page) => {
    const cells = await page.getByRole('region', { name: 'Rows' }).locator('tbody tr').all();
    return await Promise.all(
      cells.map(async (row) => Number(await row.locator('td.number').nth(3).innerText())),
    );
  };

  test('sort by tokens, the most first, and keep the order over a reload and a way back', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/usage?range=24h`);
    const button = head(page, 'Input').getByRole('button');
    await button.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => head(page, 'Input').getAttribute('aria-sort')).toBe('descending');
    const most = (await inputs(page)).toSorted((a, b) => b - a);
    await expect.poll(() => inputs(page)).toEqual(most);
    expect(new Set(most).size).toBe(3);
    await button.click();
    await expect.poll(() => inputs(page)).toEqual(most.toReversed());
    await page.reload();
    await expect.poll(() => head(page, 'Input').getAttribute('aria-sort')).toBe('ascending');
    await expect.poll(() => inputs(page)).toEqual(most.toReversed());
    await page
      .getByRole('region', { name: 'Rows' })
      .getByRole('link', { name: 'sim/echo model, 1 call' })
      .click();
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
    await page.goBack();
    await expect.poll(() => inputs(page)).toEqual(most.toReversed());
    await head(page, 'Model').getByRole('button').click();
    await expect.poll(() => models(page)).toEqual(['sim/assistant', 'sim/echo', 'sim/refuses']);
    await head(page, 'Model').getByRole('button').click();
    await expect.poll(() => models(page)).toEqual(['sim/refuses', 'sim/echo', 'sim/assistant']);
    // The third click gives the table its own order back.
    await head(page, 'Model').getByRole('button').click();
    await expect.poll(() => new URL(page.url()).hash).toBe('#/usage?range=24h');
    expect(incidents).toEqual(noIncidents);
  });

  test('names with numbers are in the order of these, and phones choose from a list', async () => {
    const { page } = await openScreen(daemon, { width: 390 });
    await page.goto(`${daemon.url}/#/keys`);
    const keys = page.getByRole('region', { name: 'Keys', exact: true });
    const names = async () => (await titles(page, 'Keys').allInnerTexts()).map((text) => text.split('\n')[0]);
    await keys.getByRole('combobox', { name: 'Sort by' }).selectOption('Key ▲');
    await expect.poll(names).toEqual(['App 9', 'app 10', 'default', 'search']);
    await keys.getByRole('combobox', { name: 'Sort by' }).selectOption('Key ▼');
    await expect.poll(names).toEqual(['search', 'default', 'app 10', 'App 9']);
    // Each table of a screen has an order of its own.
    const budgets = page.getByRole('region', { name: 'Budgets', exact: true });
    await budgets.getByRole('combobox', { name: 'Sort by' }).selectOption('Budget ▼');
    await expect.poll(() => new URL(page.url()).hash).toBe('#/keys?sort-keys=-key&sort-budgets=-budget');
  });

  test('all tables of all screens have heads that sort', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/overview`);
    const counted = new Map<string, number>();
    for (const { name } of await listScreens(page)) {
      await page.goto(`${daemon.url}/#/${name}`);
      await page.locator('h1').first().waitFor();
      await page.locator('.loading, [aria-busy="true"]').first().waitFor({ state: 'detached' });
      const tables = await page.locator('table.data').all();
      counted.set(name, tables.length);
      for (const table of tables) {
        const heads = await table.locator('thead button.sort').all();
        expect.soft(heads.length, name).toBeGreaterThan(0);
        for (const one of heads) {
          await one.click();
          await expect.poll(() => one.locator('..').getAttribute('aria-sort')).toMatch(/^(a|de)scending$/);
        }
      }
    }
    for (const [name, tables] of Object.entries({ usage: 2, keys: 2, models: 2, setup: 3, settings: 2 }))
      expect.soft(counted.get(name), name).toBeGreaterThanOrEqual(tables);
    expect(incidents).toEqual(noIncidents);
  });
});
