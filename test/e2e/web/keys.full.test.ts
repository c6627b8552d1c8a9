import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noIncidents } from '../../support/browser.ts';
import { chromium } from '../../support/page-in-chromium.ts';
import { type RunningDaemon, startDaemon } from '../../support/start-daemon.ts';
import { checkScreen, failCalls, holdCalls, inAllLooks, openScreen } from '../../support/web-screens.ts';

/** Keys, their limits and budgets, as `npm run build` has written them. */

describe.skipIf(chromium === undefined)('Keys & limits (skipped without Chromium)', () => {
  let provider: RunningDaemon;
  let daemon: RunningDaemon;

  beforeAll(async () => {
    provider = await startDaemon();
    daemon = await startDaemon({
      config: `upstreams:
  - {name: dear, base_url: "${provider.url}/v1", key_env: PROVIDER_KEY, wire: chat, models: ["*"], prices: {input: "1000", output: "1000"}}
`,
      env: { PROVIDER_KEY: provider.key },
    });
    await (await daemon.fetch('/v1/responses', { json: { model: 'dear/sim/echo', input: 'Hello!' } })).text();
    const { data } = (await api('GET', '/keys')) as { data: { id: string }[] };
    await api('PUT', `/keys/${data[0]?.id}/limits`, { spend_cap: { usd: '0.001', period: 'total' } });
    await api('PUT', '/budgets/everything', { usd: '1000', period: 'month' });
  });

  afterAll(async () => {
    await daemon?.stop();
    await provider?.stop();
  });

  async function api(method: string, path: string, json?: unknown): Promise<unknown> {
    const answer = await daemon.fetch(`/v1/workspaces/me${path}`, {
      ...(json !== undefined && { json }),
      method,
      headers: { authorization: `Bearer ${daemon.login}` },
    });
    return await answer.json();
  }

  const keyRow = (page: Page, name: string) =>
    page.getByRole('region', { name: 'Keys', exact: true }).getByRole('row').filter({ hasText: name });

  test('with keys and budgets, and its forms, in all looks', async () => {
    await checkScreen(daemon, {
      address: '/keys',
      views: inAllLooks,
      until: [
        async (page) => {
          await keyRow(page, 'default').getByText('used up').waitFor();
          await page.getByRole('region', { name: 'Budgets' }).getByText('of $1,000 per month').waitFor();
        },
        async (page) => {
          await page.getByRole('button', { name: 'Issue a key' }).click();
          await page.getByRole('dialog', { name: 'Issue a key' }).getByLabel('Spend cap').waitFor();
        },
      ],
    });
  });

  test('while a part of it loads, and another one has failed', async () => {
    await checkScreen(daemon, {
      address: '/keys',
      async prepare(page) {
        await holdCalls(page, '/v1/workspaces/me/keys');
        await failCalls(page, '/v1/workspaces/me/budgets');
      },
      async until(page) {
        await page.getByText('Loading…').first().waitFor();
        await page.getByRole('region', { name: 'Budgets' }).getByText('Out of order.').waitFor();
        await page.getByRole('region', { name: 'Alerts' }).getByText('No alerts.').waitFor();
      },
    });
  });

  test('a key is issued by keyboard, its secret shown once and works; its limits are changed, it is revoked', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/keys`);
    await page.getByRole('button', { name: 'Issue a key' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('ci');
    await page.getByLabel('Spend cap').fill('five');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await expect.poll(() => page.getByLabel('Spend cap').getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => page.getByLabel('Spend cap').evaluate('document.activeElement.name')).toBe('cap');
    await page.getByLabel('Spend cap').fill('5');
    await page.keyboard.press('Enter');
    const secret = await page.getByRole('dialog', { name: 'The new key' }).locator('code').innerText();
    // It is not discarded unasked, however often.
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Escape');
    await page.getByText('The secret cannot be shown again.').waitFor();
    await page.getByRole('dialog', { name: 'The new key' }).getByText(secret).waitFor();
    const headers = { authorization: `Bearer ${secret}` };
    const known = (await (await daemon.fetch('/v1/key', { headers })).json()) as { limits: unknown };
    expect(known.limits).toMatchObject({
      spend_cap: { usd: '5', period: 'month' },
      requests_per_minute: null,
    });
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Issue a key');
    expect(await page.content()).not.toContain(secret);

    await page.getByRole('button', { name: 'Change the limits of ci' }).click();
    const limits = page.getByRole('dialog', { name: 'Limits of ci' });
    await expect.poll(() => limits.getByLabel('Spend cap').inputValue()).toBe('5');
    await limits.getByLabel('Spend cap').fill('');
    await limits.getByLabel('Calls per minute').fill('30');
    await limits.getByLabel('Models').fill('sim/*\nopenai/gpt-5');
    await limits.getByRole('button', { name: 'Save', exact: true }).click();
    // First, as it disappears after some seconds.
    await page.getByRole('status').getByText('The limits of ci were changed.').waitFor();
    await keyRow(page, 'ci').getByText('models sim/* openai/gpt-5 · 30 calls per minute').waitFor();
    await keyRow(page, 'ci').getByText('no cap').waitFor();

    await page.getByRole('button', { name: 'Rotate ci' }).click();
    const rotation = page.getByRole('dialog', { name: 'Rotate ci' });
    await rotation.getByLabel('The old secret').selectOption('works for an hour');
    await rotation.getByRole('button', { name: 'Rotate' }).click();
    const renewed = await page
      .getByRole('dialog', { name: 'The new secret of ci' })
      .locator('code')
      .innerText();
    const byRenewed = { authorization: `Bearer ${renewed}` };
    expect((await daemon.fetch('/v1/key', { headers })).headers.get('x-service-key-expires')).not.toBeNull();
    expect((await daemon.fetch('/v1/key', { headers: byRenewed })).status).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(renewed);
    await page.getByRole('button', { name: 'Pause ci' }).click();
    await keyRow(page, 'ci').getByText('paused').waitFor();
    expect((await daemon.fetch('/v1/key', { headers: byRenewed })).status).toBe(403);
    await page.getByRole('button', { name: 'Resume ci' }).click();
    await keyRow(page, 'ci').getByText('paused').waitFor({ state: 'detached' });
    expect((await daemon.fetch('/v1/key', { headers: byRenewed })).status).toBe(200);

    await page.getByRole('button', { name: 'Revoke ci' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Revoke ci' }).click();
    await page.getByRole('dialog', { name: 'Revoke ci?' }).getByRole('button', { name: 'Revoke' }).click();
    await keyRow(page, 'ci').waitFor({ state: 'detached' });
    expect((await daemon.fetch('/v1/key', { headers })).status).toBe(401);
    await page.getByRole('button', { name: 'Revoked and expired (1)' }).click();
    await keyRow(page, 'ci').getByText('revoked').waitFor();
    expect(incidents).toEqual(noIncidents);
  });

  test('a budget is added, changed and deleted; a fault is shown at its field', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/keys`);
    await page.getByRole('button', { name: 'Add a budget' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Team A');
    await page.getByLabel('Amount').fill('2.5');
    await page.getByLabel('Counts').selectOption('A tag');
    await page.getByLabel('Tag', { exact: true }).fill('team=a');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await expect
      .poll(() => page.getByLabel('Name', { exact: true }).getAttribute('aria-invalid'))
      .toBe('true');
    await page.getByLabel('Name', { exact: true }).fill('team-a');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'team=a' });
    await row.getByText('of $2.50 per month').waitFor();
    await page.getByRole('button', { name: 'Change the budget team-a' }).click();
    const dialog = page.getByRole('dialog', { name: 'Budget team-a' });
    await expect.poll(() => dialog.getByLabel('Tag', { exact: true }).inputValue()).toBe('team=a');
    await dialog.getByLabel('Reject calls that could exceed it').check();
    await dialog.getByLabel('per', { exact: true }).selectOption('day');
    await dialog.getByLabel('Time zone').selectOption('Europe/Berlin');
    await dialog.getByLabel('Days begin at').fill('06:00');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await row.getByText('rejects calls').waitFor();
    await row.getByText('of $2.50 per day in Europe/Berlin from 06:00').waitFor();
    expect(await api('GET', '/budgets/team-a')).toMatchObject({
      usd: '2.5',
      period: 'day',
      time_zone: 'Europe/Berlin',
      day_starts: '06:00',
      scope: 'tag',
      value: 'team=a',
      hard: true,
      thresholds: [50, 80, 100],
    });
    await page.getByRole('button', { name: 'Delete the budget team-a' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect(incidents).toEqual(noIncidents);
  });

  test('an alert is tried, added with a web hook whose secret is shown once, changed and deleted', async () => {
    const { page, incidents } = await openScreen(daemon);
    await page.goto(`${daemon.url}/#/keys`);
    const alerts = page.getByRole('region', { name: 'Alerts' });
    await alerts.getByText('No alerts.').waitFor();
    await page.getByRole('button', { name: 'Add an alert' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('slow');
    await page.getByLabel('Watches').selectOption('Duration of answers, p95');
    await page.getByLabel('Fires from (milliseconds)').fill('8000');
    await page.getByLabel('With at least so many calls').fill('5');
    await page.getByRole('button', { name: 'Try on 7 days' }).click();
    await page.getByText('It would not have fired in the last 7 days.').waitFor();
    await page.getByLabel('Web hook').fill('http://127.0.0.1:9/hook');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const shown = page.getByRole('dialog', { name: 'The secret that signs messages' });
    await expect.poll(() => shown.locator('code').innerText()).toMatch(/^whsec_/);
    await shown.getByRole('button', { name: 'Done' }).click();
    const row = alerts.getByRole('row').filter({ hasText: 'slow' });
    await row.getByText('8 s in 1 h').waitFor();
    await row.getByText('http://127.0.0.1:9', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Test the alert slow' }).click();
    await page.getByRole('status').getByText('Not delivered').waitFor();
    await page.getByRole('button', { name: 'Change the alert slow' }).click();
    const dialog = page.getByRole('dialog', { name: 'Alert slow' });
    await expect.poll(() => dialog.getByLabel('With at least so many calls').inputValue()).toBe('5');
    await dialog.getByLabel('Watches').selectOption('No calls');
    await dialog.getByLabel('Within the last').selectOption('6 h');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await row.getByText('in 6 h').waitFor();
    expect(await api('GET', '/alerts/slow')).toMatchObject({
      kind: 'silence',
      window_minutes: 360,
      threshold: null,
      webhook: { origin: 'http://127.0.0.1:9' },
    });
    await page.getByRole('button', { name: 'Delete the alert slow' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect(incidents).toEqual(noIncidents);
  });
});
