import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, holdCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** The first screen of the dashboard, as `npm run build` has written it. */

describe.skipIf(chromium === undefined)('the Overview (skipped without Chromium)', () => {
  let daemon: RunningDaemon;
  let empty: RunningDaemon;

  beforeAll(async () => {
    [daemon, empty] = await Promise.all([startDaemon(), startDaemon()]);
    for (const model of ['sim/assistant', 'sim/assistant', 'sim/echo'])
      await (await daemon.fetch('/v1/responses', { json: { model, input: 'Hello!' } })).text();
    await (await daemon.fetch('/v1/responses', { json: { model: 'sim/broken', input: 'Hello!' } })).text();
  });

  afterAll(async () => {
    await Promise.all([daemon?.stop(), empty?.stop()]);
  });

  test('with calls, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/overview',
      views: inAllLooks,
      async until(page) {
        await page.getByRole('region', { name: 'Calls by model' }).locator('canvas').waitFor();
        await page.getByRole('link', { name: 'sim/echo' }).waitFor();
        await page.getByRole('link', { name: 'default' }).waitFor();
        const figures = page.getByRole('region', { name: 'The last 24 hours' });
        await expect.poll(() => figures.innerText()).toMatch(/Calls\s+4\s/);
        await expect.poll(() => figures.innerText()).toMatch(/Errors\s+25\.0 %/);
      },
    });
  });

  test('before the first call, in all looks', async () => {
    await checkScreen(empty, {
      address: '/overview',
      views: inAllLooks,
      async until(page) {
        const card = page.getByRole('region', { name: 'Make the first call' });
        await card.getByText(`${empty.url}/v1`, { exact: true }).waitFor();
        await card.getByText('gateway keys default', { exact: true }).waitFor();
        await card.getByRole('button', { name: 'Anthropic SDK' }).click();
        await card.getByText('client.messages.create').waitFor();
      },
    });
  });

  test('while it loads, and when a part of it fails', async () => {
    await checkScreen(daemon, {
      address: '/overview',
      prepare: (page) => holdCalls(page, '/v1/usage'),
      until: (page) => page.getByText('Loading…').first().waitFor(),
    });
    await checkScreen(daemon, {
      address: '/overview',
      prepare: (page) => failCalls(page, '/v1/usage/latency'),
      async until(page) {
        const latency = page.getByRole('region', { name: /First token/ });
        await latency.getByText('Out of order.').waitFor();
        await latency.getByRole('button', { name: 'Try again' }).waitFor();
        await page.getByRole('region', { name: 'Calls by model' }).locator('canvas').waitFor();
      },
    });
  });

  test('budgets are shown with what is spent of them', async () => {
    const put = await daemon.fetch('/v1/workspaces/me/budgets/everything', {
      method: 'PUT',
      json: { usd: '30', period: 'month' },
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    expect(put.status, await put.text()).toBe(200);
    await checkScreen(daemon, {
      address: '/overview',
      until: (page) => page.getByRole('region', { name: 'Budgets' }).getByText('of $30.00 a month').waitFor(),
    });
  });

  test('alerts that fire are above the figures, as text', async () => {
    const message = {
      kind: 'rejections',
      window_minutes: 15,
      threshold: '1',
      model: '<img src=x onerror=alert(1)>',
    };
    await (await daemon.fetch('/v1/responses', { json: { model: message.model, input: 'Hello!' } })).text();
    const path = '/v1/workspaces/me/alerts/hostile';
    const headers = { authorization: `Bearer ${daemon.login}` };
    await daemon.fetch(path, { method: 'PUT', json: message, headers });
    await checkScreen(daemon, {
      address: '/overview',
      async until(page) {
        const alerts = page.getByRole('region', { name: 'Alerts' });
        await alerts.getByText(`1 of the calls of ${message.model} was rejected`).waitFor();
      },
    });
    await daemon.fetch(path, { method: 'DELETE', headers });
  });

  test('numbers of a chart are a table, what is chosen is in the address, and rows lead to their calls', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/overview`);
    // Simulated models cost nothing.
    const calls = page.getByRole('region', { name: 'Calls by model' });
    await calls.getByRole('button', { name: 'Cost' }).click();
    await page.getByRole('region', { name: 'Cost by model' }).getByRole('button', { name: 'Calls' }).click();
    await calls.getByText('Numbers').click();
    await calls.getByRole('columnheader', { name: 'sim/assistant' }).waitFor();
    const cells = async () => (await calls.getByRole('cell').allInnerTexts()).map(Number);
    await expect.poll(async () => (await cells()).reduce((sum, value) => sum + value, 0)).toBe(4);
    await page.getByRole('button', { name: '7d' }).click();
    await page.getByRole('region', { name: 'The last 7 days' }).waitFor();
    await expect.poll(() => new URL(page.url()).hash).toBe('#/overview?by=calls&range=7d');
    await page.reload();
    await page.getByRole('region', { name: 'The last 7 days' }).waitFor();
    await page.getByRole('link', { name: 'sim/echo' }).press('Enter');
    await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
    await expect
      .poll(() => new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('q'))
      .toMatch(/^model:sim\/echo since:\S+ until:\S+$/);
    expect(incidents).toEqual(noIncidents);
  });

  test('the first screen makes few requests for files, and loads the library of charts once one is drawn', async () => {
    const { page } = await openScreen(empty, { isPrivate: true });
    const files = new Set<string>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/v1/')) files.add(pathname);
    });
    await page.goto(`${empty.url}/`);
    await page.getByRole('region', { name: 'Make the first call' }).waitFor();
    expect(files.size).toBeLessThanOrEqual(6);
    expect([...files].join()).not.toContain('plot');
  });

  test('with charts, it needs one file more', async () => {
    const { page } = await openScreen(daemon, { isPrivate: true });
    const files = new Set<string>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/v1/')) files.add(pathname);
    });
    await page.goto(`${daemon.url}/`);
    await page.locator('canvas').first().waitFor();
    expect([...files].join()).toContain('plot');
    expect(files.size).toBeLessThanOrEqual(6);
  });
});
