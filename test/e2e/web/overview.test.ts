import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, holdCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** The first screen of the dashboard, as `npm run build` has written it. */

const hostile = '<img src=x onerror=alert(1)>';

describe.skipIf(chromium === undefined)('the Overview (skipped without Chromium)', () => {
  let daemon: RunningDaemon;
  let empty: RunningDaemon;

  beforeAll(async () => {
    [daemon, empty] = await Promise.all([startDaemon(), startDaemon({ env: { npm_command: 'exec' } })]);
    for (const model of ['sim/assistant', 'sim/assistant', 'sim/echo'])
      await (await daemon.fetch('/v1/responses', { json: { model, input: 'Hello!' } })).text();
    for (const model of ['sim/broken', hostile])
      await (await daemon.fetch('/v1/responses', { json: { model, input: 'Hello!' } })).text();
    await put('budgets/everything', { usd: '30', period: 'month' });
    await put('alerts/hostile', { kind: 'rejections', window_minutes: 15, threshold: '1', model: hostile });
  });

  async function put(path: string, json: object): Promise<void> {
    const answer = await daemon.fetch(`/v1/workspaces/me/${path}`, {
      method: 'PUT',
      json,
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    expect(answer.status, await answer.text()).toBe(200);
  }

  afterAll(async () => {
    await Promise.all([daemon?.stop(), empty?.stop()]);
  });

  test('with calls, a budget and an alert that fires, as text, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/overview',
      views: inAllLooks,
      async until(page) {
        await page.getByRole('region', { name: 'Calls by model' }).locator('canvas').waitFor();
        await page.getByRole('link', { name: 'sim/echo' }).waitFor();
        await page.getByRole('link', { name: 'default' }).waitFor();
        const figures = page.getByRole('region', { name: 'The last hour' });
        await expect.poll(() => figures.innerText()).toMatch(/Calls\s+5\s/);
        await expect.poll(() => figures.innerText()).toMatch(/Errors\s+25 %/);
        await expect.poll(() => figures.innerText()).toMatch(/Rejected\s+1\s/);
        await page.getByRole('region', { name: 'Budgets' }).getByText('of $30 per month').waitFor();
        const alerts = page.getByRole('region', { name: 'Firing now' });
        await alerts.getByText(`1 of the calls of ${hostile} was rejected`).waitFor();
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
        // npx started it, so that there is no other way to type it.
        await card.getByText('npx gateway keys default', { exact: true }).waitFor();
        await card.getByRole('button', { name: 'Anthropic SDK' }).click();
        await card.getByText('client.messages.create').waitFor();
      },
    });
  });

  test('another workspace makes its first call with a key of its own', async () => {
    const headers = { authorization: `Bearer ${empty.login}` };
    const made = await empty.fetch('/v1/workspaces', { json: { name: 'Lab' }, headers });
    const { id } = (await made.json()) as { id: string };
    const { page, incidents } = await openScreen(empty);
    await page.goto(`${empty.url}/#/overview`);
    await page.getByRole('combobox', { name: 'Workspace' }).selectOption('Lab');
    const card = page.getByRole('region', { name: 'Make the first call' });
    await card.getByRole('button', { name: 'Issue a key' }).click();
    const sample = card.locator('pre');
    await expect.poll(() => sample.innerText()).toMatch(/Bearer gwk_/);
    const secret = /gwk_\w+/.exec((await sample.textContent()) ?? '')?.[0];
    const answer = await empty.fetch('/v1/responses', {
      json: { model: 'sim/assistant', input: 'Hello!' },
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(answer.status, await answer.text()).toBe(200);
    await card.waitFor({ state: 'detached' });
    const traces = await empty.fetch('/v1/traces', { headers: { ...headers, 'x-workspace-id': id } });
    expect(((await traces.json()) as { data: unknown[] }).data).toHaveLength(1);
    expect(incidents).toEqual(noIncidents);
  });

  test('the last hour is shown until there are older calls', async () => {
    const { page } = await openScreen(daemon);
    await page.route('**/v1/traces*', async (route) => {
      const url = new URL(route.request().url());
      // As if the first calls were two hours old.
      if (!url.searchParams.has('until')) return await route.continue();
      url.searchParams.delete('until');
      await route.fulfill({ response: await route.fetch({ url: url.href }) });
    });
    await page.goto(`${daemon.url}/#/overview`);
    await page.getByRole('region', { name: 'The last 24 hours' }).waitFor();
    await page
      .getByRole('group', { name: 'Period' })
      .getByRole('button', { name: '1h', exact: true })
      .click();
    await page.getByRole('region', { name: 'The last hour' }).waitFor();
    await expect.poll(() => new URL(page.url()).hash).toBe('#/overview?range=1h');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('while a part of it loads, and another one has failed', async () => {
    await checkScreen(daemon, {
      address: '/overview',
      async prepare(page) {
        await holdCalls(page, '/v1/usage');
        await failCalls(page, '/v1/usage/latency');
      },
      async until(page) {
        await page.getByText('Loading…').first().waitFor();
        const latency = page.getByRole('region', { name: /First token/ });
        await latency.getByText('Out of order.').waitFor();
        await latency.getByRole('button', { name: 'Try again' }).waitFor();
        await page.getByRole('region', { name: 'Calls by model' }).locator('canvas').waitFor();
      },
    });
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
    await expect.poll(async () => (await cells()).reduce((sum, value) => sum + value, 0)).toBe(5);
    await page.getByRole('button', { name: '7d', exact: true }).click();
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
